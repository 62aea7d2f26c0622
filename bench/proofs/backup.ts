// npm run prove:backup: takes a base backup under load, loses the machine, and restores to a moment before the loss.
// Nothing confirmed before that moment is missing, and `mandate reconcile --restored-to` reports what the bank did after it.
import { execFileSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEnvironment, type Server } from '../harness/environment.ts';
import { openMerchantClient, type MerchantClient } from '../workloads/merchant-client.ts';
import { readOptions, wholeNumber } from '../../tools/script-options.ts';

const { options } = readOptions(
  `npm run prove:backup -- [--seconds 6]
Proves that a backup restores everything confirmed before a moment, and that reconcile reports what happened after it.
It takes two minutes and needs PostgreSQL from Debian's packages.
  --seconds N  how long the merchant sells before the moment, and again after it
Example: npm run prove:backup -- --seconds 20`,
  { seconds: { type: 'string', default: '6' } },
);
const loadMs = 1_000 * wholeNumber('--seconds', options.seconds);
const clients = 6;
/** Created before the moment, and paid or refunded after it: requests that a shop can repeat. */
const repeated = 4;
/** A lease, and time to run its job. */
const settleWithinMs = 120_000;

const environment = openEnvironment('backup');
try {
  await prove();
} finally {
  await environment.close();
}

async function prove(): Promise<void> {
  const archive = join(environment.data, 'archive');
  const primary = await environment.server('primary');
  const base = join(environment.data, 'base');
  await environment.initialise(primary, [
    'archive_mode = on',
    `archive_command = 'mkdir -p ${archive} && test ! -f ${archive}/%f && cp %p ${archive}/%f'`,
  ]);
  await environment.start(primary);
  await environment.sql(primary, 'create database mandate');
  await environment.startBank();
  const { api, stop } = await environment.startNode(urlOf(primary));
  const merchant = await openMerchantClient(api);

  let isOver = false;
  const load = Promise.all(Array.from({ length: clients }, () => merchant.sellUntil(() => isOver)));
  const where = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres'];
  await environment.asPostgres('pg_basebackup', [...where, '-D', base, '-c', 'fast']);
  const unpaid = await Promise.all(Array.from({ length: repeated }, () => merchant.prepare()));
  const sold = await Promise.all(Array.from({ length: repeated }, () => merchant.sell()));
  await sleep(loadMs);
  const moment = await environment.sql(
    primary,
    "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')",
  );
  const restoredTo = `${moment.replace(' ', 'T')}Z`;
  const confirmedBefore = [...merchant.confirmed];
  for (const one of unpaid) await merchant.pay(one);
  for (const one of sold) await merchant.refund(one);
  await sleep(loadMs);
  isOver = true;
  await load;
  await archiveAll(primary);
  await environment.stop(primary, 'immediate');
  await stop();
  const confirmedAfter = merchant.confirmed.slice(confirmedBefore.length);
  console.log(
    `confirmed before ${restoredTo}: ${confirmedBefore.length} operations; after it: ${confirmedAfter.length}`,
  );

  const restored = await restore(base, archive, `${moment}+00`);
  await mandate(restored, ['payout', 'restored']);
  const first = await reconcile(restored, restoredTo);
  const missed = (operations: readonly string[], { lost }: Reconciled) =>
    operations.filter((operation) => lost.has(operation));
  expectNone('confirmed before the moment and lost', missed(confirmedBefore, first));
  console.log(`before a node runs, reconcile finds ${first.text}`);

  await mandate(restored, ['party', 'block', merchant.partyId]);
  const node = await environment.startNode(urlOf(restored));
  const settled = await untilSettled(restored, restoredTo);
  await mandate(restored, ['ledger', 'check']);
  console.log('a node runs, and no operation is in progress any more; the ledger is in order');

  const restoredMerchant = merchant.on(node.api);
  const known = await restoredMerchant.knownOf(confirmedBefore);
  expectNone(
    'confirmed before the moment and unknown after the restore',
    confirmedBefore.filter((operation) => !known.has(operation)),
  );
  const knownAfter = await restoredMerchant.knownOf(confirmedAfter);
  const escaped = confirmedAfter.filter(
    (operation) => !knownAfter.has(operation) && !settled.lost.has(operation),
  );
  expectNone('done after the moment and not reported', escaped);
  console.log(
    `of the ${confirmedAfter.length} after it, ${missed(confirmedAfter, settled).length} are lost, and reconcile reports each`,
  );

  const payouts = [...settled.lost].filter((operation) => operation.endsWith('.p'));
  for (const operation of payouts) await recoverPayout(restored, operation, restoredMerchant.payout);
  await mandate(restored, ['party', 'unblock', merchant.partyId]);
  for (const one of unpaid) await restoredMerchant.pay(one);
  for (const one of sold) await restoredMerchant.refund(one);
  const last = await reconcile(restored, restoredTo);
  const again = [...unpaid.map((one) => `${one.id}.1.a`), ...sold.map((id) => `${id}.1.100`)];
  expectNone('repeated and still different', missed(again, last));
  expectNone('payouts recovered and still different', missed(payouts, last));
  expectNone('done twice by the bank', last.duplicates);
  await mandate(restored, ['ledger', 'check']);
  console.log(`${again.length} payments and refunds were repeated: known again, and done once`);
  console.log(`${payouts.length} payouts were recovered from the transaction report, one command each`);
  console.log(`left for an operator: ${last.text}`);
}

function urlOf({ port }: Server): string {
  return `postgres://postgres@127.0.0.1:${port}/mandate`;
}

function expectNone(what: string, found: readonly string[]): void {
  if (found.length > 0) throw new Error(`${what}: ${found.slice(0, 5).join(', ')}, ${found.length} in all`);
  console.log(`${what}: 0`);
}

/** Resolves when the log up to now is in the archive. */
async function archiveAll(server: Server): Promise<void> {
  const last = await environment.sql(server, 'select pg_walfile_name(pg_switch_wal())');
  for (;;) {
    const archived = await environment.sql(server, 'select last_archived_wal from pg_stat_archiver');
    if (archived >= last) return;
    await sleep(100);
  }
}

/** Follows docs/operations/runbooks/restore.md. */
async function restore(base: string, archive: string, moment: string): Promise<Server> {
  const server = await environment.server('restored');
  execFileSync('cp', ['-a', base, server.folder]);
  appendFileSync(
    join(server.folder, 'postgresql.conf'),
    [
      'archive_mode = off',
      `restore_command = 'cp ${archive}/%f %p'`,
      `recovery_target_time = '${moment}'`,
      "recovery_target_action = 'promote'",
      '',
    ].join('\n'),
  );
  writeFileSync(join(server.folder, 'recovery.signal'), '', { mode: 0o644 });
  await environment.start(server);
  while ((await environment.sql(server, 'select pg_is_in_recovery()')) !== 'f') await sleep(100);
  return server;
}

type Reconciled = {
  readonly open: number;
  /** Operations the bank has done since the moment that the database lacks. */
  readonly lost: ReadonlySet<string>;
  readonly duplicates: readonly string[];
  readonly text: string;
};

async function reconcile(server: Server, restoredTo: string): Promise<Reconciled> {
  const reconciled = await environment.mandate(urlOf(server), [
    'reconcile',
    '--restored-to',
    restoredTo,
    '--json',
  ]);
  if (reconciled.code !== 0 && reconciled.code !== 1) throw new Error(reconciled.output);
  const { open, differences } = JSON.parse(reconciled.output) as {
    open: number;
    differences: { operationId: string; class: string; sinceRestore?: string }[];
  };
  const others = differences.filter((one) => !one.sinceRestore);
  expectNone(
    'differences older than the moment',
    others.map((one) => `${one.class} ${one.operationId}`),
  );
  const counts = new Map<string, number>();
  for (const { sinceRestore = '' } of differences)
    counts.set(sinceRestore, (counts.get(sinceRestore) ?? 0) + 1);
  return {
    open,
    lost: new Set(differences.map((one) => one.operationId)),
    duplicates: differences.filter((one) => one.class === 'duplicate').map((one) => one.operationId),
    text: [...counts].map(([name, count]) => `${count} ${name}`).join(', ') || 'nothing',
  };
}

async function recoverPayout(
  server: Server,
  operation: string,
  from: MerchantClient['payout'],
): Promise<void> {
  const options = [
    '--wallet',
    from.wallet,
    '--destination',
    from.destination,
    '--reason',
    'npm run prove:backup',
  ];
  await mandate(server, ['payout', 'recover', operation, ...options]);
}

async function mandate(server: Server, args: readonly string[]): Promise<string> {
  const { code, output } = await environment.mandate(urlOf(server), args);
  if (code !== 0) throw new Error(output);
  return output;
}

async function untilSettled(server: Server, restoredTo: string): Promise<Reconciled> {
  const deadline = performance.now() + settleWithinMs;
  for (;;) {
    const found = await reconcile(server, restoredTo);
    if (found.open === 0) return found;
    if (performance.now() > deadline)
      throw new Error(`${found.open} operations are in progress after ${settleWithinMs / 1_000} s`);
    await sleep(3_000);
  }
}
