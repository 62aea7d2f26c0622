// The checks of a world, in three strengths; nothing may change in it while they run.
// They state each truth a second time, in another form than the service.
import { acknowledged } from './clients/acknowledged.ts';
import { balances, floorsHold, openSums, type OwnSums } from './money/balances.ts';
import { bank } from './money/bank.ts';
import { groupedBy, readBooks, type Books } from './rows.ts';
import { cardNumbersFound } from './card-numbers.ts';
import { findingsOf, type Check, type Problem, type Seen } from './check.ts';
import { aggregateOf, assurancesOf, type Assurance } from './clients/assurances.ts';
import { consent } from './states/consent.ts';
import { doubles } from './money/doubles.ts';
import { declines } from './states/declines.ts';
import { renewals } from './states/renewals.ts';
import { due } from './states/due.ts';
import { searchSums } from './money/search-sums.ts';
import { tooEarly } from './money/durable.ts';
import { openLeaving, type Leaving } from './money/sent.ts';
import { events } from './events/events.ts';
import { final } from './states/final.ts';
import { historyOf } from './events/history.ts';
import { invoices } from './states/invoices.ts';
import { periods } from './money/periods.ts';
import { payerEmails } from './clients/payer-emails.ts';
import { unlogged } from './money/logged.ts';
import { moves } from './events/moves.ts';
import { payoutLimits } from './money/payout-limits.ts';
import { postings } from './money/postings.ts';
import { listedWrongly } from './clients/lists.ts';
import { readObjects } from './clients/read-objects.ts';
import { openRepeats, type Repeats } from './clients/repeats.ts';
import { refundQueue } from './states/refund-queue.ts';
import { retries } from './states/retries.ts';
import { emailsOfSubscriptions } from './subscriptions/emails.ts';
import { misinformed } from './subscriptions/told.ts';
import { subscriptions } from './subscriptions/subscriptions.ts';
import { times } from './events/times.ts';
import { transfers } from './money/transfers.ts';
import { shownWrongly } from './states/waiting.ts';
import { writtenAnyway } from './clients/unavailable.ts';
import { openQueues, silence, redelivered, type Queues } from './clients/webhooks.ts';
import type { BankEntry, CheckWorld, Finding } from './world.ts';

export type { Acknowledged, BankEntry, CheckWorld, Delivery, Finding } from './world.ts';

const checks: readonly Check[] = [
  balances,
  floorsHold,
  transfers,
  postings,
  searchSums,
  invoices,
  periods,
  subscriptions,
  moves,
  events,
  times,
  bank,
  doubles,
  payoutLimits,
  acknowledged,
  refundQueue,
  retries,
  declines,
  consent,
  renewals,
  due,
  final,
];

/** What has been checked in a world. */
type Memory = {
  /** What was committed in this snapshot has been seen. */
  snapshot: string;
  bankLines: number;
  readonly bank: Map<string, BankEntry[]>;
  asked: number;
  left: number;
  readonly leaving: Leaving;
  answers: number;
  readonly repeats: Repeats;
  /** By aggregate, each assurance once. */
  readonly assurances: Map<string, Map<string, Assurance>>;
  deliveries: number;
  readonly queues: Queues;
  readonly sums: OwnSums;
};
const memories = new WeakMap<CheckWorld, Memory>();

function memoryOf(world: CheckWorld): Memory {
  const known = memories.get(world);
  if (known) return known;
  const memory: Memory = {
    snapshot: '1:1:',
    bankLines: 0,
    bank: new Map(),
    asked: 0,
    left: 0,
    leaving: openLeaving(),
    answers: 0,
    repeats: openRepeats(),
    assurances: new Map(),
    deliveries: 0,
    queues: openQueues(),
    sums: openSums(),
  };
  memories.set(world, memory);
  return memory;
}

const readTouched = `
  select pg_current_snapshot()::text as snapshot, coalesce(json_agg(id), '[]')::text as ids,
    coalesce(json_agg(distinct aggregate), '[]')::text as aggregates
  from (
    select distinct aggregate_id as id, aggregate from event
    where written_in >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(written_in, $1::pg_snapshot)
      or aggregate_id = any($2::text[]) and sequence = 1) as touched`;

/** Checks cheaply what has changed since the last call. */
export async function incremental(world: CheckWorld): Promise<Finding[]> {
  const memory = memoryOf(world);
  const { answered, problems: wrong } = await hear(world, memory);
  const booked = await readBank(world, memory);
  const [now] = await world.query(readTouched, [memory.snapshot, [...booked, ...answered]]);
  memory.snapshot = String(now?.['snapshot']);
  const aggregates = JSON.parse(String(now?.['aggregates'])) as string[];
  const touched = new Set([...(JSON.parse(String(now?.['ids'])) as string[]), ...booked, ...answered]);
  const heard = [...wrong, ...named('webhooks', memory.queues.hear(world.received.slice(memory.deliveries)))];
  memory.deliveries = world.received.length;
  if (touched.size === 0) return heard;
  const books = await readBooks(world.query, { ids: [...touched], aggregates });
  memory.sums.add(books.ledger);
  const seen: Seen = {
    ...seenIn(books, world),
    bank: new Map([...touched].map((id) => [id, memory.bank.get(id) ?? []])),
    assurances: [...touched].flatMap((id) => [...(memory.assurances.get(id)?.values() ?? [])]),
    sums: memory.sums,
    isSettled: false,
  };
  return [...judge(seen), ...heard];
}

/** Checks what must be true at any moment, of all objects. */
export function whole(world: CheckWorld): Promise<Finding[]> {
  return all(world, false);
}

/** Checks also what must be true once faults have stopped and nothing is due. */
export function settledFindings(world: CheckWorld): Promise<Finding[]> {
  return all(world, true);
}

async function all(world: CheckWorld, isSettled: boolean): Promise<Finding[]> {
  const memory = memoryOf(world);
  const { problems: heard } = await hear(world, memory);
  await readBank(world, memory);
  const books = await readBooks(world.query);
  const sums = openSums();
  sums.add(books.ledger);
  const seen: Seen = {
    ...seenIn(books, world),
    bank: memory.bank,
    assurances: [...memory.assurances.values()].flatMap((assurances) => [...assurances.values()]),
    sums,
    isSettled,
  };
  return [
    ...judge(seen),
    ...heard,
    ...named('webhooks', [
      ...openQueues().hear(world.received),
      ...(await redelivered(world.query, seen)),
      ...(isSettled ? await silence(world.query, seen) : []),
      ...(isSettled ? await misinformed(world.query, seen) : []),
    ]),
    ...(world.mails ? named('payer emails', payerEmails(seen, world.mails)) : []),
    ...named('payer emails', emailsOfSubscriptions(seen)),
    ...(isSettled ? named('lists', await listedWrongly(world)) : []),
    ...named('card numbers', await cardNumbersFound(world.query)),
  ];
}

function judge(seen: Seen): Finding[] {
  return checks.flatMap((check) => findingsOf(check, seen));
}

function named(check: string, problems: readonly Problem[]): Finding[] {
  return problems.map(([about, problem]) => ({ check, about, problem }));
}

function seenIn(books: Books, { received, clockMoves = () => [] }: CheckWorld) {
  const histories = new Map(
    [...groupedBy(books.events, ({ aggregate_id: id }) => id)].map(
      ([id, log]) => [id, historyOf(log)] as const,
    ),
  );
  return { books, histories, received, clockMoves: clockMoves() };
}

/** Answers the aggregates of new entries. */
async function readBank(world: CheckWorld, memory: Memory): Promise<string[]> {
  const book = await world.bankBook();
  const fresh = book.slice(memory.bankLines);
  memory.bankLines = book.length;
  return fresh.map((line) => {
    const [aggregate = ''] = line.operationId.split('.');
    memory.bank.set(aggregate, [...(memory.bank.get(aggregate) ?? []), line]);
    return aggregate;
  });
}

/** The aggregates of new responses, and what is wrong with the responses and bank requests alone. */
async function hear(
  world: CheckWorld,
  memory: Memory,
): Promise<{ readonly answered: readonly string[]; readonly problems: readonly Finding[] }> {
  const answers = world.acknowledged.slice(memory.answers);
  const asked = (world.asked ?? []).slice(memory.asked);
  memory.answers += answers.length;
  memory.asked += asked.length;
  const left = (world.left ?? []).slice(memory.left);
  memory.left += left.length;
  const { moved, mixed, late, unasked } = await memory.leaving.hear(world.query, left);
  const problems = [
    ...named('repeats', memory.repeats.hear(answers)),
    ...named('read objects', readObjects(answers)),
    ...named('durable', await tooEarly(world.query, asked)),
    ...named('one bank', moved),
    ...named('one kind', mixed),
    ...named('in time', late),
    ...named('proved', unasked),
    ...named('logged', unlogged(asked)),
    ...named('waiting', await shownWrongly(world)),
    ...named('unavailable', await writtenAnyway(world.query, world.unwritten?.() ?? [])),
  ];
  const fresh = answers.flatMap(assurancesOf);
  for (const assurance of fresh) {
    const aggregate = aggregateOf(assurance);
    const assurances = memory.assurances.get(aggregate) ?? new Map<string, Assurance>();
    memory.assurances.set(aggregate, assurances.set(JSON.stringify(assurance), assurance));
  }
  return { answered: fresh.map(aggregateOf), problems };
}
