// Metrics for monitoring at /metrics, in the Prometheus format. Only this file knows the library.
import type { JobOutcome } from '../jobs/job-table.ts';
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Shorter than the 5 s within which the library wants all workers to answer. */
const readWithinMs = 3_000;

export type Metrics = {
  observeRequest(operation: string, status: number, seconds: number): void;
  countJobRun(job: string, outcome: JobOutcome): void;
  observeBank(bank: string, operation: string, outcome: string, seconds: number): void;
  countMisconfigured(bank: string): void;
  countCharge(outcome: 'paid' | 'failed' | 'postponed', because: string): void;
  countDelivery(outcome: 'delivered' | 'failed' | 'parked'): void;
  /** A value that is read on each scrape. Of several workers the largest is shown, as all read the same database, or the sum. */
  gauge(name: string, help: string, read: () => number | Promise<number>, ofWorkers?: 'max' | 'sum'): void;
  /** The same by one label. What `read` does not return is left out. */
  gaugeBy(
    name: string,
    help: string,
    label: string,
    read: () => Promise<readonly (readonly [string, number])[]>,
    ofWorkers?: 'max' | 'sum',
  ): void;
  render(): Promise<{ contentType: string; text: string }>;
};

/** In the supervisor of workers. */
export function openClusterMetrics(): { render(): Promise<string> } {
  const all = new AggregatorRegistry();
  return { render: () => all.clusterMetrics() };
}

/** In a worker, before its metrics are asked for. */
export function answerClusterMetrics(): object {
  return new AggregatorRegistry();
}

type MetricsOptions = {
  readonly workers?: { renderMetrics(): Promise<string> };
  readonly longestGaugeReadMs?: number;
};

/**
 * Made with the first service of a process, and samples the event loop 100 times a second until the process ends. Each read starts its
 * percentiles again: of several services in a process, only one should be scraped.
 */
let processMetrics: Registry | undefined;

function metricsOfProcess(): Registry {
  if (!processMetrics) {
    processMetrics = new Registry();
    collectDefaultMetrics({ register: processMetrics });
  }
  return processMetrics;
}

export function openMetrics(
  { workers, longestGaugeReadMs: longestReadMs = readWithinMs }: MetricsOptions = {},
  registry = new Registry(),
): Metrics {
  const registries = [metricsOfProcess(), registry];
  AggregatorRegistry.setRegistries(registries);
  const requests = new Histogram({
    name: 'mandate_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  const jobRuns = new Counter({
    name: 'mandate_job_runs_total',
    help: 'Runs of jobs on this node, by kind and outcome',
    labelNames: ['job', 'outcome'],
    registers: [registry],
  });
  // Two metrics, because a histogram per outcome would be most of the scraped text.
  const bankOperations = new Counter({
    name: 'mandate_bank_operations_total',
    help: 'Requests sent to banks, by operation and outcome',
    labelNames: ['bank', 'operation', 'outcome'],
    registers: [registry],
  });
  const bankDurations = new Histogram({
    name: 'mandate_bank_operation_duration_seconds',
    help: 'Time from sending a request to a bank to its response or timeout',
    labelNames: ['bank', 'operation'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 45],
    registers: [registry],
  });

  const misconfigured = new Counter({
    name: 'mandate_configuration_declines_total',
    help: 'Authorisations that a bank declined because the set-up of the merchant or of the terminal is wrong',
    labelNames: ['bank'],
    registers: [registry],
  });
  const charges = new Counter({
    name: 'mandate_subscription_charges_total',
    help: 'Charges of subscriptions that ended on this node: paid, failed by the class of the decline, or postponed by their cause',
    labelNames: ['outcome', 'because'],
    registers: [registry],
  });
  const deliveries = new Counter({
    name: 'mandate_webhook_deliveries_total',
    help: 'Delivery attempts to webhooks on this node, by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });

  // Cached by operation and status, because the library would process the labels for each request.
  const requestsBy = new Map<string, { observe(seconds: number): void }>();
  const requestsOf = (operation: string, status: number) => {
    const name = `${operation} ${status}`;
    const known = requestsBy.get(name) ?? requests.labels(operation, String(status));
    requestsBy.set(name, known);
    return known;
  };

  return {
    observeBank(bank, operation, outcome, seconds) {
      bankOperations.labels(bank, operation, outcome).inc();
      bankDurations.labels(bank, operation).observe(seconds);
    },
    observeRequest: (operation, status, seconds) => requestsOf(operation, status).observe(seconds),
    countJobRun: (job, outcome) => jobRuns.labels(job, outcome).inc(),
    countMisconfigured: (bank) => misconfigured.labels(bank).inc(),
    countCharge: (outcome, because) => charges.labels(outcome, because).inc(),
    countDelivery: (outcome) => deliveries.labels(outcome).inc(),
    gauge(name, help, read, aggregator = 'max') {
      const gauge: Gauge = new Gauge({
        name,
        help,
        aggregator,
        registers: [registry],
        // A value that cannot be read is left out, so that the others are still shown.
        collect: async () => {
          try {
            gauge.set(await inTime(read(), longestReadMs));
          } catch {
            gauge.remove();
          }
        },
      });
    },
    gaugeBy(name, help, label, read, aggregator = 'max') {
      const gauge: Gauge = new Gauge({
        name,
        help,
        aggregator,
        labelNames: [label],
        registers: [registry],
        collect: async () => {
          const values = await inTime(read(), longestReadMs).catch(() => []);
          gauge.reset();
          for (const [of, value] of values) gauge.labels(of).set(value);
        },
      });
    },
    async render() {
      const text = await (workers?.renderMetrics() ??
        Promise.all(registries.map((one) => one.metrics())).then((texts) => texts.join('\n')));
      return { contentType: registry.contentType, text };
    },
  };
}

/** Rejects when it takes too long, as one slow value would keep back those of all workers. */
async function inTime<Value>(value: Value | Promise<Value>, longestReadMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('A gauge was not read in time.')), longestReadMs);
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}
