// npm run bench:year: measures how long the test clock takes for a year of subscriptions, and proves that each month was charged once.
import { startProcesses, type Contender } from '../harness/processes.ts';
import { costliestStatements, processorsSoFar } from '../harness/costs.ts';
import { heading, keepLatest, machine } from '../harness/report.ts';
import { openApi, readyCustomer, type Api } from '../workloads/scenarios.ts';
import { readOptions, wholeNumber } from '../../tools/script-options.ts';

const { options } = readOptions(
  `npm run bench:year -- [--subscriptions 1000] [--months 12] [--statements 0]
Moves the test clock of a merchant through a year of monthly subscriptions, and proves that each month was charged exactly once.
  --subscriptions N  of as many customers, all of one merchant
  --months N         how far the clock moves, a month at a time
  --statements N     print so many of the costliest statements
  --profile FOLDER   where to write a CPU profile of the service
Example: npm run bench:year -- --subscriptions 100 --months 3`,
  {
    subscriptions: { type: 'string', default: '1000' },
    months: { type: 'string', default: '12' },
    statements: { type: 'string', default: '0' },
    profile: { type: 'string' },
  },
);
const subscriptions = wholeNumber('--subscriptions', options.subscriptions);
const months = wholeNumber('--months', options.months);
const statements = wholeNumber('--statements', options.statements, 0);
const clients = 8;
const settings = statements > 0 ? { 'pg_stat_statements.track': 'all' } : {};
const profiling = options.profile ? { profileInto: options.profile } : {};

const processes = await startProcesses({ settings, ...profiling });
try {
  await measure(await processes.node('service'));
} finally {
  await processes.close();
}

async function measure(node: Contender): Promise<void> {
  const api = openApi(node);
  await subscribe(api);
  await processes.query('postgres', 'select pg_stat_statements_reset()');
  const before = processorsSoFar(processes, node);
  const began = performance.now();
  const start = new Date((await api.call('GET', '/sandbox/clock')).now);
  for (let month = 1; month <= months; month++) {
    // A day later than it started, so that the hours of charges are over, and earlier than the next month has to be.
    const to = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + month, 2, 12);
    await api.call('POST', '/sandbox/clock', { now: new Date(to).toISOString() });
  }
  const seconds = (performance.now() - began) / 1_000;
  const after = processorsSoFar(processes, node);
  const [moved] = await processes.query(
    'postgres',
    `select coalesce(sum(calls), 0)::text as stops from pg_stat_statements where query like '%insert into test_clock%' and toplevel`,
  );
  const charged = subscriptions * months;
  const wrong = await wrongPeriods(node.database);
  const each = (name: 'ownMs' | 'databaseMs') => ((after[name] - before[name]) / charged).toFixed(2);
  const lines = [
    heading('A year of subscriptions by the test clock'),
    '',
    `${machine()}; ${subscriptions} subscriptions, ${months} months: ${seconds.toFixed(1)} s, ${moved?.['stops']} stops, ` +
      `${charged} charges, each ${each('ownMs')} ms of Node and ${each('databaseMs')} ms of PostgreSQL.`,
    '',
  ];
  console.log(lines.join('\n'));
  if (statements > 0) {
    const limit = { done: charged, limit: statements };
    console.log((await costliestStatements(processes, node.database, limit)).join('\n'));
  }
  keepLatest('latest-year.md', lines);
  await api.close();
  if (wrong.length > 0) throw new Error(`The periods are wrong: ${wrong.join('; ')}`);
  console.log('Each month was charged exactly once.');
}

/** Their first period starts with the next month, and costs nothing before. */
async function subscribe(api: Api): Promise<void> {
  let left = subscriptions;
  const worker = async () => {
    while (left-- > 0) {
      const customerID = await readyCustomer(api);
      const items = [{ product: 'Tea', price: 6_000 }];
      const agreed = { every: 'P1M', timeZone: 'UTC', anchorDay: 1, firstPeriod: 'free', items };
      await api.call('POST', '/v2/processing/subscriptions', { customerID, ...agreed });
    }
  };
  await Promise.all(Array.from({ length: clients }, worker));
}

/** What is wrong, in sentences. */
async function wrongPeriods(database: string): Promise<string[]> {
  const [row] = await processes.query(
    database,
    `with regular as (
       select subscription_id, number, outcome,
         (select count(*) from payment where payment.invoice_id = period.invoice_id and status = 'captured') as captured
       from subscription_period as period where amount_minor > 0)
     select (select count(*) from subscription)::text as subscriptions,
       (select count(*) from regular where outcome = 'paid' and captured = 1)::text as paid,
       (select count(*) from regular where outcome <> 'paid' or captured <> 1)::text as others,
       (select count(*) from (
         select from regular group by subscription_id having count(*) = ${months}) as complete)::text as complete`,
  );
  const wanted = { subscriptions, paid: subscriptions * months, others: 0, complete: subscriptions };
  return Object.entries(wanted)
    .filter(([name, count]) => Number(row?.[name]) !== count)
    .map(([name, count]) => `${name}: ${row?.[name]} instead of ${count}`);
}
