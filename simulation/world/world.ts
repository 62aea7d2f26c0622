// A world: nodes of the service, two banks, receivers, merchants and payers, with one seed that decides what happens.
// In each step something that waited happens, a client sends a request, time passes, or a node dies or starts.
import type { Asked, CheckWorld, Finding } from '../checks/world.ts';
import type { ShownLists } from '../checks/clients/lists.ts';
import { pageFiles } from '../../src/platform/http/pages/pages.ts';
import { waitingPayments } from '../../src/payments/store/job-overview.ts';
import { databaseOn } from '../../src/platform/database/database.ts';
import { instantAt } from '../../src/clock.ts';
import { openClients } from '../clients/clients.ts';
import { forgetAddresses } from '../clients/webhooks.ts';
import { themeOf } from '../clients/themes.ts';
import type { WorldBank } from './servers/bank.ts';
import { openWorldBanks } from './servers/banks.ts';
import { openCalls } from './calls.ts';
import { chanceOf } from './chance.ts';
import type { Cluster } from './postgres/cluster.ts';
import { openWorldDatabase, type WorldDatabase } from './postgres/database.ts';
import { openFaults, type Faults } from './faults.ts';
import { openMerchants, type Merchant } from './merchants.ts';
import { openPostOffice } from './servers/mail.ts';
import { startNode, type WorldNode } from './node.ts';
import { quiesce, runDry } from './quiesce.ts';
import { bankMemoryMs } from './servers/bank-memory.ts';
import { openReceivers } from './servers/receivers.ts';
import { openDepartures } from './servers/departures.ts';
import { openSilences } from './servers/silences.ts';
import { standingStill, stillness } from './stillness.ts';
import { listsShownTo } from './shown-lists.ts';
import { openScheduler, type Scheduler } from './scheduler.ts';
import { quiet } from './take-over.ts';
import { openTrace, type Trace } from './trace.ts';

export type WorldOptions = {
  readonly cluster: Cluster;
  readonly seed: number;
  /** Kinds of faults and requests to leave out. */
  readonly without: readonly string[];
};

export type World = {
  readonly trace: Trace;
  readonly checkWorld: CheckWorld;
  /** API calls that ended, and job runs. */
  operations(): number;
  /** What is wrong with the responses alone. */
  readonly findings: readonly Finding[];
  /** How many requests were answered 503. */
  unavailable(): number;
  /** How often each fault has happened, and what few payments do. */
  happened(): Readonly<Record<string, number>>;
  statements(): number;
  /** How many changes each write had that was sent together with others. */
  readonly batches: readonly number[];
  step(): Promise<void>;
  /** Stops the faults and runs until nothing is due. */
  settle(): Promise<void>;
  end(): Promise<void>;
};

const firstChargeUndone = 'first charge of a stepped-up payment undone';
const startMs = Date.UTC(2026, 0, 19, 10);
const maxCalls = 16;
/** How often a node that moves a clock goes first. A move is hundreds of steps, and its client waits for a minute. */
const clockFirst = 0.8;
const nodesUsual = 3;
/** Of a start that waits only for time. */
const idleRounds = 100;
/** Longer than anything that is waited for then. */
const mostIdleRounds = 120_000;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 3_600_000;
/** Longer than any lease of the service. */
const leaseMs = 61 * secondMs;

const askedAt = `select pg_current_snapshot()::text as snapshot,
  exists (select from exchange where aggregate_id || '.' || operation = $1) as is_logged`;

const readVersion = 'select version from payment where invoice_id = $1 and payment_id = $2';
const everyPayment = { partyId: undefined, shopId: undefined, limit: 10_000 };

/** Another process bundles them, and would finish at a random moment of the world. */
async function bundlePages(): Promise<void> {
  for (const name of ['checkout', 'consent', 'embed']) await pageFiles(name)();
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const { cluster, seed, without } = options;
  await bundlePages();
  const chance = chanceOf(seed, 'order');
  const trace = openTrace();
  const scheduler: Scheduler = openScheduler({ startMs, chance: chanceOf(seed, 'program'), trace });
  const faults: Faults = openFaults({ chance: chanceOf(seed, 'faults'), trace, without });
  const { place, drop } = await cluster.newDatabase();
  const database: WorldDatabase = await openWorldDatabase({ place, scheduler, faults, trace });
  const { observers } = database;
  const operator = databaseOn({ pool: observers, lookupPool: observers, probePool: observers });
  const clients = openClients({
    chance: chanceOf(seed, 'clients'),
    crowds: chanceOf(seed, 'crowds'),
    theme: themeOf(seed),
    without,
  });
  const addresses = new Map<string, string>();
  async function webhookAt(url: string): Promise<string> {
    const known = addresses.get(url);
    if (known !== undefined) return known;
    const [row] = await database.query('select webhook_id from webhook where url = $1', [url]);
    const id = (row?.['webhook_id'] as string | undefined) ?? url;
    addresses.set(url, id);
    return id;
  }
  const receivers = openReceivers({ scheduler, faults, chance: chanceOf(seed, 'receivers'), webhookAt });
  const postOffice = openPostOffice({ scheduler, faults });
  const calls = openCalls({ scheduler, faults, trace, clients });
  const nodes = new Map<string, WorldNode>();
  const merchants: Merchant[] = [];
  const lists: ShownLists[] = [];
  let born = 0;
  forgetAddresses();

  /** A node that does nothing, and the steps that are left of it. */
  let suspended: { readonly name: string; steps: number } | undefined;

  function anyNode(): WorldNode | undefined {
    const moving = [...nodes.values()].filter(({ name }) => canMove(name));
    return moving.length === 0 ? undefined : chance.oneOf(moving);
  }

  const silences = openSilences({
    nowMs: scheduler.nowMs,
    async versionOf(payment) {
      const [row] = await database.query(readVersion, payment.split('.'));
      return row && Number(row['version']);
    },
  });
  const asked: Asked[] = [];
  const departures = openDepartures();
  const bank: WorldBank = await openWorldBanks({
    scheduler,
    faults,
    chance: chanceOf(seed, 'banks'),
    async isSent(operationId) {
      const [row] = await database.query(askedAt, [operationId]);
      asked.push({
        operationId,
        snapshot: String(row?.['snapshot']),
        isLogged: row?.['is_logged'] === true,
      });
    },
    async asks(operationId) {
      const isHeard = await silences.asks(operationId);
      return (heard) => {
        isHeard(heard);
        departures.hears(operationId, heard);
      };
    },
    hasLeft: departures.hasLeft,
    callBack(what, path, headers, body) {
      const node = anyNode();
      if (!node) return;
      const run = () => void node.call({ method: 'POST', url: path, headers, body });
      scheduler.wait({ owner: node.name, what: `is called back ${what}`, run });
    },
  });

  /** Meanwhile only what this owner waits for happens, and its messages arrive: the start of a node is not tested here. */
  async function alone<T>(owner: string, work: () => Promise<T>): Promise<T> {
    let isOver = false;
    let idle = 0;
    const working = scheduler.as(owner, work).finally(() => (isOver = true));
    working.catch(() => undefined);
    while (!isOver) {
      const choices = scheduler.choices();
      const choice =
        choices.find((one) => one.owner === owner || one.owner === 'network') ??
        (database.waitsForLock(owner) ? choices.find(({ isPeriodic = false }) => !isPeriodic) : undefined);
      if (choice) await scheduler.letGo(choice);
      else await stillness(quiet);
      idle = choice ? 0 : idle + 1;
      // Nothing else can happen: a bank that limits requests is waited for.
      if (idle > idleRounds) scheduler.pass(1);
      if (idle > mostIdleRounds) throw standingStill(owner);
    }
    return working;
  }

  async function bringUp(): Promise<void> {
    const name = `node ${++born}`;
    const skewMs = faults.happens('clock of a node differs') ? chance.below(4_000) - 2_000 : 0;
    trace.add(`${name} starts, ${skewMs} ms off`);
    try {
      const node = await alone(name, () =>
        startNode({ name, skewMs, scheduler, database, bank, receivers, postOffice, trace }),
      );
      nodes.set(name, node);
      scheduler.as(name, () => {
        node.service.jobs.start();
        node.service.webhooks.start();
        node.service.search.start();
      });
    } catch (error) {
      trace.add(`${name} did not start: ${String(error)}`);
      await die(name);
    }
  }

  async function die(name: string): Promise<void> {
    trace.add(`${name} dies`);
    nodes.delete(name);
    scheduler.forget(name);
    await database.cutOff(name);
    calls.hangUp(name);
  }

  /** Challenges that a payer is about to decide. */
  const expected = new Set<string>();

  function payerDecides(): boolean {
    const open = bank.openChallenges().find(({ ticket }) => !expected.has(ticket));
    if (!open) return false;
    const ending = chance.oneOf(['confirm', 'confirm', 'confirm', 'refuse', 'cancel'] as const);
    const goesBack = chance.isTrue(0.8);
    expected.add(open.ticket);
    scheduler.wait({
      owner: 'payer',
      what: `decides to ${ending}`,
      async run() {
        await bank.decide(open.ticket, ending);
        const node = anyNode();
        if (!goesBack || !node || open.returnUrl === undefined) return;
        const url = new URL(open.returnUrl).pathname;
        scheduler.wait({
          owner: node.name,
          what: `sees the payer come back to ${url}`,
          run: () => void node.call({ method: 'GET', url }),
        });
      },
    });
    return true;
  }

  /** The node loses its leases to the others and later continues as if nothing had happened. */
  function standStill(name: string): void {
    suspended = { name, steps: 60 + chance.below(200) };
    scheduler.pass(leaseMs);
    trace.add(`${name} stands still, ${leaseMs} ms pass`);
  }

  const canMove = (name: string) => name !== suspended?.name;

  function timePasses(): void {
    const shortMs = chance.oneOf([50, 200, 200, secondMs, secondMs, 5 * secondMs]);
    const longMs = chance.oneOf([30 * secondMs, 61 * secondMs, 10 * 60 * secondMs, hourMs]);
    let ms = chance.isTrue(0.9) ? shortMs : longMs;
    if (faults.happens('clock jumps')) ms = chance.oneOf([hourMs, 24 * hourMs, 8 * 24 * hourMs]);
    scheduler.pass(ms);
    trace.add(`${ms} ms pass`);
  }

  async function step(): Promise<void> {
    scheduler.pass(chance.below(3));
    await database.endOverdue();
    if (nodes.size < nodesUsual && chance.isTrue(nodes.size === 0 ? 1 : 0.01)) return bringUp();
    if (nodes.size > 0 && faults.happens('node dies')) return die(chance.oneOf([...nodes.keys()]));
    if (suspended && --suspended.steps === 0) suspended = undefined;
    if (!suspended && nodes.size > 1 && faults.happens('node stands still'))
      return standStill(chance.oneOf([...nodes.keys()]));
    const wantsPeriodic = chance.isTrue(0.004);
    const choices = scheduler
      .choices()
      .filter(({ owner, isPeriodic = false }) => canMove(owner) && (wantsPeriodic || !isPeriodic));
    const ofMoves = choices.filter(({ owner }) => calls.movesClock(owner));
    if (ofMoves.length > 0 && chance.isTrue(clockFirst)) return scheduler.letGo(chance.oneOf(ofMoves));
    const at = chance.next();
    const node = calls.inProgress() < maxCalls ? anyNode() : undefined;
    if (node && at < 0.3) return calls.begin(node);
    if (at > 0.3 && at < 0.31 && payerDecides()) return;
    if (choices.length === 0 || at > 0.994) {
      if (choices.length === 0 && node && chance.isTrue(0.7)) return calls.begin(node);
      await bank.endOverdue();
      return timePasses();
    }
    return scheduler.letGo(chance.oneOf(choices));
  }

  async function settle(): Promise<void> {
    trace.add('nothing goes wrong any more');
    faults.stop();
    await bringUp();
    const last = `node ${born}`;
    for (const name of [...nodes.keys()].filter((other) => other !== last)) await die(name);
    const node = nodes.get(last);
    if (!node) throw new Error('the last node did not start');
    // What is open by then is older than the memory of any bank, so only inquiries may leave.
    scheduler.pass(bankMemoryMs + hourMs);
    await runDry(scheduler, false);
    bank.forgetNothing();
    await quiesce(node, { scheduler, database, bank, trace });
    await alone(last, () => node.service.search.whenIdle());
    for (const merchant of merchants) lists.push(...(await alone(last, () => listsShownTo(node, merchant))));
  }

  async function settleIn(): Promise<void> {
    await bringUp();
    const [node] = nodes.values();
    if (!node) throw new Error('the first node did not start');
    merchants.push(...(await alone(node.name, () => openMerchants(node))));
    for (const merchant of merchants) clients.join(merchant);
    await alone(node.name, () => calls.prepare(node));
    // Jobs run to their end, so that the world starts with held money and confirmed cards.
    await alone(node.name, () => node.service.jobs.whenIdle());
    // Checks allow for clocks that differ by seconds.
    scheduler.pass(minuteMs);
    faults.begin();
    while (nodes.size < nodesUsual) await bringUp();
  }

  await settleIn();
  return {
    trace,
    findings: calls.findings,
    unavailable: calls.unavailable,
    checkWorld: {
      query: database.query as CheckWorld['query'],
      bankBook: () => bank.book(),
      asked,
      left: departures.left,
      silences: silences.open,
      async shownAsWaiting() {
        const waiting = await waitingPayments(operator, everyPayment, instantAt(scheduler.nowMs()));
        return waiting.map(({ payment: { invoiceId, id } }) => `${invoiceId}.${id}`);
      },
      acknowledged: calls.acknowledged,
      lists: () => lists,
      unwritten: calls.unwritten,
      received: receivers.received,
      clockMoves: clients.clockMoves,
      mails: postOffice.taken,
    },
    operations: () => calls.ended() + database.steps(),
    happened: () => ({ ...faults.counts(), [firstChargeUndone]: departures.undone() }),
    statements: () => database.statements(),
    batches: database.batches,
    step,
    settle,
    async end() {
      scheduler.end();
      await database.end();
      await bank.close();
      await drop();
    },
  };
}
