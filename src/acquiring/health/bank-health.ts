// Which banks are away, by what this node has heard of them: new operations avoid those.
// Kept in memory only: each node finds out for its own part, and a restart forgets it.
import type { BankResponse } from '../domain/bank-port.ts';
import type { Asked } from './observed-bank.ts';

export type BankHealth = {
  /** False while the bank is away. When it may be back, one caller at a time gets true and finds out. */
  mayTry(bankId: string): boolean;
  /** `startedMs`: when the request was begun. */
  hear(bankId: string, asked: Asked, answer: BankResponse, startedMs?: number): void;
  /** Those that are back, or may have a new operation to prove it, only after they have answered an inquiry. */
  toProbe(): readonly string[];
  away(): readonly AwayBank[];
};

export type AwayBank = {
  readonly bankId: string;
  readonly sinceMs: number;
  /** `refused`: the bank does not accept our signature. */
  readonly because: 'unreachable' | 'silent' | 'refused';
};

type BankCondition = {
  /** Requests in a row without an answer: new operations, and inquiries, captures and the like. */
  silent: { started: number; other: number };
  /** When the last requests went without an answer. */
  silentAtMs: number[];
  away?: {
    readonly sinceMs: number;
    readonly because: AwayBank['because'];
    nextTryMs: number;
    pauseMs: number;
    /** When the bank, silent or refusing, has answered an inquiry since. */
    answeredAtMs: number | undefined;
  };
};

const pauseMs = 10_000;
/** Longer than any wait for an answer. It holds the others back if the caller does not send after all. */
const trialMs = 60_000;
const longestPauseMs = 60 * 60_000;
const silencesInARow = 3;
const silencesInAMinute = 5;
const minuteMs = 60_000;

/** `onChange` is called once when a bank goes away, again if it then refuses the signature, and once when it is back. */
export function openBankHealth(
  nowMs: () => number,
  onChange: (bank: AwayBank, is: 'away' | 'back') => void = () => undefined,
): BankHealth {
  const conditions = new Map<string, BankCondition>();

  function conditionOf(bankId: string): BankCondition {
    const known = conditions.get(bankId) ?? { silent: { started: 0, other: 0 }, silentAtMs: [] };
    conditions.set(bankId, known);
    return known;
  }

  function note(bankId: string, asked: Asked, answer: BankResponse, startedMs: number): void {
    // It was not asked.
    if (answer.outcome === 'declined' && answer.noBytesSent) return;
    if ('isUnauthorised' in answer) {
      hearRefusal(conditionOf(bankId), asked, startedMs, nowMs());
    } else if (answer.outcome === 'unknown') {
      // Nonsense is no silence, and no proof that the bank is back.
      if (answer.isSilence) hearSilence(conditionOf(bankId), asked, startedMs, nowMs());
    } else if (answer.outcome === 'notSent') {
      if (answer.noBytesSent) hearUnreachable(conditionOf(bankId), nowMs());
    } else {
      const condition = conditions.get(bankId);
      if (condition && hearAnswer(condition, asked, nowMs())) conditions.delete(bankId);
    }
  }

  return {
    mayTry(bankId) {
      const away = conditions.get(bankId)?.away;
      if (!away) return true;
      if (awaitsInquiry(away) || nowMs() < away.nextTryMs) return false;
      away.nextTryMs = nowMs() + (away.because === 'unreachable' ? pauseMs : trialMs);
      return true;
    },
    hear(bankId, asked, answer, startedMs = nowMs()) {
      const before = conditions.get(bankId)?.away;
      note(bankId, asked, answer, startedMs);
      const after = conditions.get(bankId)?.away;
      const isWorse = after?.because === 'refused' && before?.because !== 'refused';
      if (after && (!before || isWorse)) onChange(awayBank(bankId, after), 'away');
      if (before && !after) onChange(awayBank(bankId, before), 'back');
    },
    toProbe: () =>
      [...conditions].flatMap(([bankId, { away }]) => (away && awaitsInquiry(away) ? [bankId] : [])),
    away: () => [...conditions].flatMap(([bankId, { away }]) => (away ? [awayBank(bankId, away)] : [])),
  };
}

function awayBank(bankId: string, { sinceMs, because }: Omit<AwayBank, 'bankId'>): AwayBank {
  return { bankId, sinceMs, because };
}

function hearSilence(condition: BankCondition, asked: Asked, startedMs: number, now: number): void {
  const { silent, away } = condition;
  silent[startsSomething(asked) ? 'started' : 'other'] += 1;
  condition.silentAtMs = [...condition.silentAtMs, now].slice(-silencesInAMinute);
  const [oldest = now] = condition.silentAtMs;
  const isOften = condition.silentAtMs.length === silencesInAMinute && now - oldest < minuteMs;
  if (away?.because === 'silent') {
    if (startsSomething(asked)) endTrial(away, startedMs, now);
  } else if (silent.started + silent.other >= silencesInARow || isOften) {
    hold(condition, 'silent', now);
  }
}

/** At once, because the bank says so. It may take inquiries and refuse everything else. */
function hearRefusal(condition: BankCondition, asked: Asked, startedMs: number, now: number): void {
  const { away } = condition;
  if (away?.because !== 'refused') hold(condition, 'refused', now);
  else if (asked === 'inquire') away.answeredAtMs = undefined;
  else endTrial(away, startedMs, now);
}

/** It answers inquiries, and still not what matters: each trial costs a payment, so they become rare. */
function endTrial(away: NonNullable<BankCondition['away']>, startedMs: number, now: number): void {
  // Those that were on their way before it answered say nothing new.
  if (away.answeredAtMs === undefined || startedMs < away.answeredAtMs) return;
  away.answeredAtMs = undefined;
  away.pauseMs = Math.min(away.pauseMs * 2, longestPauseMs);
  away.nextTryMs = now + away.pauseMs;
}

/** New operations avoid it until it has answered an inquiry. */
function hold(condition: BankCondition, because: 'silent' | 'refused', now: number): void {
  const known = { sinceMs: now, pauseMs, ...condition.away };
  condition.away = { ...known, because, nextTryMs: now, answeredAtMs: undefined };
}

function awaitsInquiry({ because, answeredAtMs }: NonNullable<BankCondition['away']>): boolean {
  return because !== 'unreachable' && answeredAtMs === undefined;
}

function hearUnreachable(condition: BankCondition, now: number): void {
  const { sinceMs = now, because = 'unreachable' } = condition.away ?? {};
  const nextTryMs = now + pauseMs;
  condition.away = { pauseMs, ...condition.away, sinceMs, because, nextTryMs, answeredAtMs: undefined };
}

/** What is asked about an operation may be answered by a bank that does nothing new. True if the bank was away and is back. */
function hearAnswer(condition: BankCondition, asked: Asked, now: number): boolean {
  const { silent, away } = condition;
  silent.other = 0;
  if (startsSomething(asked)) silent.started = 0;
  if (!away) return false;
  away.answeredAtMs ??= now;
  return startsSomething(asked) || away.because === 'unreachable';
}

function startsSomething(asked: Asked): boolean {
  return asked === 'authorise' || asked === 'payout' || asked === 'verify';
}
