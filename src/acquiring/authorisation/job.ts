// The job of a payment or a binding: it sends the next bank operation while it holds no connection, and writes what the response means.
// The bank knows each operation by its ID, and each write is guarded by the version.
import type { Clock, Instant } from '../../clock.ts';
import { retryOnConflict, type Database } from '../../platform/database/database.ts';
import type { Bank, BankOperation, BankResponse, Terminal } from '../domain/bank-port.ts';
import { isProvedUndone, mayReroute, rerouted, type Reroutable } from '../domain/routing/reroute.ts';
import { NoPlaceNow } from '../../platform/jobs/job-table.ts';
import { sendOrInquire, turnedAwayBy, unproved } from '../send-or-inquire.ts';
import { isNotFinal, type NotFinal } from './domain/authorisation.ts';

const stepsInARow = 5;
const writeTries = 10;

/** What a payment and a binding bring: their rows, and the meaning of a response. `Change` is what one write records. */
export type AuthorisationJob<Stored extends object, Change extends object> = {
  /** For an error. */
  readonly name: string;
  readonly load: () => Promise<Stored | undefined>;
  readonly nextStep: (
    stored: Stored,
    now: Instant,
  ) => NextStep<Stored, Change> | Promise<NextStep<Stored, Change>>;
  readonly bankOf: (stored: Stored) => Promise<Bank>;
  readonly interpret: (
    stored: Stored,
    heard: Heard<Stored>,
  ) => Change | NotFinal | Promise<Change | NotFinal>;
  /** Returns what there is more to do about immediately, if the change leads to that. */
  readonly write: (
    stored: Stored,
    change: Change,
    at: Instant,
    heard?: Heard<Stored>,
  ) => Promise<Stored | 'over' | 'versionConflict'>;
  /** After a version conflict: the current row, or undefined if the other writer continues with it. */
  readonly reread: (stored: Stored, heard?: Heard<Stored>) => Promise<Stored | undefined>;
  readonly reschedule: (stored: Stored, at: Instant | null) => Promise<void>;
  /** Another terminal of the shop whose bank is not known to be unavailable. */
  readonly alternateTerminal: (stored: Stored, now: Instant) => Promise<Terminal | undefined>;
  readonly storeReroute: (
    stored: Stored,
    to: { readonly terminal: Terminal; readonly why: string },
    at: Instant,
  ) => Promise<Stored | undefined>;
  /** Called once for each attempt to send an authorisation, after its response is written. It does not fail. */
  readonly hearSent?: (asked: Stored, answer: BankResponse, at: Instant) => Promise<void>;
};

export type NextStep<Stored, Change> =
  /** Null: nothing is due any more. */
  | { readonly do: 'wait'; readonly until: Instant | null }
  | { readonly do: 'write'; readonly change: Change }
  /** It needs no bank. */
  | { readonly do: 'run'; readonly run: () => Promise<Stored | undefined> }
  | AskingStep<Change>;

type AskingStep<Change> =
  | ({ readonly do: 'authorise' } & Authorising<Change>)
  | { readonly do: 'inquire' | 'followUp'; readonly operation: BankOperation };

type Authorising<Change> = {
  readonly charge: Reroutable;
  readonly operation: BankOperation;
  readonly sendUntil: Instant;
  /** It is only queried. */
  readonly isUnwanted?: boolean;
  /** Query the status even on attempt 1. */
  readonly inquiresFirst?: boolean;
  readonly beforeSending?: (attempt: number) => Promise<void>;
  /** What to write instead of sending what the bank never received; undefined to send it. */
  readonly refuse?: (now: Instant) => Promise<Change | undefined>;
};

/** What is written with a change, and how. */
export type ChangeOptions = {
  /** Runs first, because the journal must come last. */
  readonly alsoWrite?: ((tx: Database) => Promise<void>) | undefined;
  /** The caller continues with it immediately, so no other node should claim the job. */
  readonly keepClaim?: boolean;
  /** By the clock of the limits against card testing, which no test clock moves. */
  readonly decidedAt?: Instant;
  /** What the bank has said, if that is the reason. */
  readonly answer?: BankResponse | undefined;
};

export type Heard<Stored> = {
  readonly answer: BankResponse;
  /** A bank may be slow, so facts are dated when the response arrives. */
  readonly at: Instant;
  /** About this. */
  readonly asked: Stored;
  readonly attempt: number;
  /** Whatever this attempt sent is proved to have done nothing. */
  readonly isUndone: boolean;
};

type Run = { readonly db: Pick<Database, 'run'>; readonly clock: Clock; readonly attempt: number };

export async function runAuthorisationJob<Stored extends object, Change extends object>(
  job: AuthorisationJob<Stored, Change>,
  run: Run,
  preloaded?: Stored,
): Promise<void> {
  let stored = preloaded ?? (await job.load());
  // One step often makes the next one due, as when a hold ends and is reversed.
  for (let step = 0; stored && step < stepsInARow; step++) {
    stored = await takeStep(job, step === 0 ? run : { ...run, attempt: 1 }, stored);
  }
}

/** What there is more to do about immediately, else undefined. */
async function takeStep<Stored extends object, Change extends object>(
  job: AuthorisationJob<Stored, Change>,
  run: Run,
  stored: Stored,
): Promise<Stored | undefined> {
  const now = run.clock.now();
  const step = await job.nextStep(stored, now);
  switch (step.do) {
    case 'wait':
      await job.reschedule(stored, step.until);
      return undefined;
    case 'write':
      return write(job, stored, () => step.change, now);
    case 'run':
      return step.run();
    default:
      return askBank(job, run, stored, step);
  }
}

async function askBank<Stored extends object, Change extends object>(
  job: AuthorisationJob<Stored, Change>,
  run: Run,
  stored: Stored,
  step: AskingStep<Change>,
): Promise<Stored | undefined> {
  const { clock, attempt } = run;
  const bank = await job.bankOf(stored);
  const asked = await ask(run, bank, step);
  const { answer, isUndone = false } = asked;
  const at = clock.now();
  try {
    return await writeAnswer(job, step, asked, { answer, at, asked: stored, attempt, isUndone });
  } finally {
    // Also of a response that proves nothing, and of a charge that goes to another bank.
    if (asked.wasSent) await job.hearSent?.(stored, answer, at);
  }
}

async function writeAnswer<Stored extends object, Change extends object>(
  job: AuthorisationJob<Stored, Change>,
  step: AskingStep<Change>,
  { refusal }: Pick<Asked<Change>, 'refusal'>,
  heard: Heard<Stored>,
): Promise<Stored | undefined> {
  const { answer, at, asked: stored, attempt } = heard;
  if (refusal) return unlessOver(await job.write(stored, refusal, at, heard));
  if (
    step.do === 'authorise' &&
    mayReroute(step.charge, answer, attempt, { now: at, until: step.sendUntil })
  ) {
    const terminal = await job.alternateTerminal(stored, at);
    const moved = terminal && (await job.storeReroute(stored, rerouted(terminal, answer), at));
    if (moved) return moved;
  }
  return write(job, stored, (current) => job.interpret(current, heard), at, heard);
}

/** After a version conflict the response may mean something else. */
function write<Stored extends object, Change extends object>(
  job: AuthorisationJob<Stored, Change>,
  read: Stored,
  decide: (stored: Stored) => Change | NotFinal | Promise<Change | NotFinal>,
  at: Instant,
  heard?: Heard<Stored>,
): Promise<Stored | undefined> {
  let stored = read;
  const attempt = async () => {
    const meaning = await decide(stored);
    if (isNotFinal(meaning)) return tryAgain(job, stored, meaning, heard?.answer);
    const after = await job.write(stored, meaning, at, heard);
    if (after !== 'versionConflict') return unlessOver(after);
    const current = await job.reread(stored, heard);
    if (!current) return undefined;
    stored = current;
    return 'versionConflict';
  };
  return retryOnConflict(job.name, attempt, writeTries);
}

async function tryAgain<Stored extends object>(
  { reschedule }: Pick<AuthorisationJob<Stored, never>, 'reschedule'>,
  stored: Stored,
  meaning: NotFinal,
  answer: BankResponse | undefined,
): Promise<undefined> {
  if ('unknown' in meaning) throw unproved(meaning.unknown, answer);
  await reschedule(stored, meaning.again);
}

function unlessOver<Stored extends object>(after: Stored | 'over' | 'versionConflict'): Stored | undefined {
  return typeof after === 'string' ? undefined : after;
}

type Asked<Change> = {
  readonly answer: BankResponse;
  readonly isUndone?: boolean;
  /** It was to be sent as an authorisation. No byte may have reached the bank. */
  readonly wasSent?: boolean;
  readonly refusal?: Change;
};

async function ask<Change>(run: Run, bank: Bank, step: AskingStep<Change>): Promise<Asked<Change>> {
  const { operation } = step;
  const sending = { db: run.db, bank, attempt: run.attempt, clock: run.clock, operation };
  switch (step.do) {
    case 'inquire':
      return { answer: await bank.inquire(operation) };
    case 'followUp':
      return { answer: await sendOrInquire(sending) };
    case 'authorise':
      return authorise(run, sending, step);
  }
}

async function authorise<Change>(
  { clock, attempt }: Run,
  sending: Parameters<typeof sendOrInquire>[0],
  { sendUntil, isUnwanted = false, inquiresFirst = false, beforeSending, refuse }: Authorising<Change>,
): Promise<Asked<Change>> {
  const { bank, operation } = sending;
  const mustNotSend = () => isUnwanted || clock.now() >= sendUntil;
  let isUndone = true;
  let wasSent = false;
  let refusal: Change | undefined;
  let noPlace: NoPlaceNow | undefined;
  const mayStill = async () => {
    try {
      refusal = await refuse?.(clock.now());
    } catch (error) {
      if (error instanceof NoPlaceNow) noPlace = error;
      throw error;
    }
    return refusal === undefined;
  };
  const answer = await sendOrInquire<BankResponse | Asked<Change>>({
    ...sending,
    inquiresFirst: mustNotSend() || inquiresFirst,
    send: async (isTooLate) => {
      await beforeSending?.(attempt);
      wasSent = true;
      const answered = await bank.send(operation, mayStill, isTooLate);
      // The queue of a bank says only that it was not sent.
      const sent = noPlace ? turnedAwayBy(noPlace) : answered;
      isUndone = isProvedUndone(sent);
      return refusal ? { answer: sent, isUndone, refusal } : sent;
    },
    refuse: async (notFound) => {
      if (mustNotSend()) return notFound;
      const refused = await refuse?.(clock.now());
      return refused && { answer: notFound, refusal: refused };
    },
  });
  return { wasSent, ...('answer' in answer ? answer : { answer, isUndone }) };
}
