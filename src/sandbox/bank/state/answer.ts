// What the simulated bank answers about an operation, in the words of the first version of the protocol or of today's.
import { laterBy } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import type { OperationAnswer } from '../../../acquiring/adapters/http/responses.ts';
import { declineTexts } from './decline-texts.ts';
import { specialAmount } from '../special-amounts.ts';
import { networkIdsOf, networkTransactionIdOf, type BookedOperation } from './state.ts';

/** A bank of the first version neither reads nor returns what came later. */
export type Speaks = 'first version' | 'today';

const availableAfterMs = 30 * 60_000;

export function answerTo(booked: BookedOperation, speaks: Speaks): OperationAnswer {
  const { operation, verdict, waiting } = booked;
  const { operationId } = operation;
  if (waiting) return { operationId, outcome: 'pending' };
  if (verdict.outcome === 'approved') {
    const later = speaks === 'today' ? laterMembersOf(booked) : {};
    return { operationId, ...firstMembersOf(booked), ...verdict, ...later };
  }
  const { outcome, network, code, advice } = verdict;
  if (speaks === 'today') return { operationId, ...verdict, ...wordsOf(booked, code) };
  // Its codes are those of networks, so a word of the acquirer is the one that says nothing more.
  const firstCode = verdict.class === undefined ? code : '05';
  return { operationId, outcome, network, code: firstCode, ...defined({ advice }) };
}

/** Only of what reached a network. */
function wordsOf(booked: BookedOperation, code: string) {
  const text = declineTexts[code];
  return text === undefined ? {} : { text, references: { rrn: referenceOf(booked) } };
}

function firstMembersOf(booked: BookedOperation) {
  const { operation, sequence, returnedAt } = booked;
  const reference = referenceOf(booked);
  const byIssuer = {
    approvalCode: String((sequence * 7_919) % 1_000_000).padStart(6, '0'),
    ...(namesNetworkLater(booked) ? {} : { networkTransactionId: networkTransactionIdOf(booked) }),
  };
  const more = operation.kind === 'refund' ? { arn: arnOf(reference) } : operation.card ? byIssuer : {};
  const returned = returnedAt && {
    at: returnedAt,
    code: 'account_closed',
    amount: operation.amount ?? 0,
  };
  return { reference, ...more, ...defined({ returned }) };
}

function laterMembersOf(booked: BookedOperation) {
  const { operation, challenge, sequence, verdict, receivedAt } = booked;
  const reference = referenceOf(booked);
  const isRefund = operation.kind === 'refund';
  const references = {
    rrn: reference,
    acquirer: `SIM.${sequence}`,
    ...(isRefund ? { arn: arnOf(reference) } : {}),
  };
  if (operation.kind === 'payout') return { references, availableBy: laterBy(receivedAt, availableAfterMs) };
  if (operation.kind !== 'authorise' || verdict.outcome !== 'approved') return { references };
  const isAuthenticated = verdict.eci !== undefined;
  const how = challenge ? 'challenge' : isAuthenticated ? 'frictionless' : 'none';
  const proof = { version: '2.2.0', status: 'Y', dsTransId: `ds-${sequence}` };
  return {
    references,
    ...(namesNetworkLater(booked) ? {} : { networkIds: networkIdsOf(booked) }),
    authenticated: { how, ...(isAuthenticated ? proof : {}) } as const,
    liabilityShift: isAuthenticated,
  };
}

function namesNetworkLater({ operation: { kind, amount } }: BookedOperation): boolean {
  return amount !== undefined && specialAmount(amount, kind)?.later === 'networkIds';
}

function referenceOf({ sequence }: BookedOperation): string {
  return String(900_000_000_000 + sequence);
}

function arnOf(reference: string): string {
  return `74000006${reference}000`;
}
