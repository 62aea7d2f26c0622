// docs/operations/metrics.md: every metric that is registered, with the alert that monitoring.md has for it.
import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { addGauges } from '../../src/app/gauges.ts';
import { openMetrics } from '../../src/platform/http/metrics.ts';
import { printedFrom, table } from './markdown.ts';

/** The library's types leave the labels out. */
type Registered = {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labelNames: readonly string[];
};

const monitoringPage = new URL('../../docs/operations/monitoring.md', import.meta.url);

export function metricsText(): string {
  const alerts = alertsIn(readFileSync(monitoringPage, 'utf8'));
  const rows = registeredMetrics().map(({ name, type, help, labelNames }) => [
    `\`${name}\``,
    type,
    labelNames.map((label) => `\`${label}\``).join(', '),
    `${help}.`,
    alerts.filter((alert) => metricsNamedIn(alert).includes(name)).join('<br>'),
  ]);
  return `# Metrics

${printedFrom('the registered metrics and monitoring.md')}

\`GET /metrics\` returns these in the Prometheus format. What to do about an alert is in [monitoring.md](monitoring.md).

${table(['Metric', 'Type', 'Labels', 'Meaning', 'Alert'], rows)}

A histogram has the series \`_bucket\`, \`_sum\` and \`_count\`. The metrics of the process itself (\`process_…\`, \`nodejs_…\`) are the defaults
of [prom-client](https://github.com/siimon/prom-client#default-metrics).
`;
}

/** Nothing is read: registering is enough. */
export function registeredMetrics(): Registered[] {
  const registry = new Registry();
  addGauges(openMetrics(undefined, registry), {} as Parameters<typeof addGauges>[1]);
  const all = registry.getMetricsAsArray() as unknown as Registered[];
  return all.filter(({ name }) => name.startsWith('mandate_'));
}

/** The first cells of the tables of alerts. */
function alertsIn(text: string): string[] {
  return [...text.matchAll(/^\| (`mandate_[^|]*?) +\|/gm)].map(([, cell = '']) => cell);
}

/** Without the ending of a histogram's series. */
export function metricsNamedIn(text: string): string[] {
  return [...text.matchAll(/\bmandate_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''));
}
