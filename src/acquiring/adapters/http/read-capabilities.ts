// Reads what a bank says about itself and about past operations. What a bank leaves out is as in version 1 of the protocol.
import { Compile } from 'typebox/compile';
import { parseInstant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import { isKnownCurrency } from '../../../money.ts';
import {
  abilitiesOfVersion1,
  initiationAbilities,
  operationKinds,
  type Abilities,
} from '../../domain/abilities.ts';
import { updateKinds, type BankUpdate, type BankUpdates } from '../../domain/bank-updates.ts';
import { AbilitiesAnswer, UpdatePage, type Update } from './capabilities.ts';

const abilitiesAnswer = Compile(AbilitiesAnswer);
const updatePage = Compile(UpdatePage);
export const updatesOfPage = 100;

/** Undefined when the body does not match the protocol. */
export function abilitiesOf(body: unknown): Abilities | undefined {
  if (!abilitiesAnswer.Check(body)) return undefined;
  const usual = abilitiesOfVersion1;
  const { currencies, networks, capture, reverse, holdDays } = body;
  return {
    kinds: known(operationKinds, body.kinds) ?? usual.kinds,
    capture: { ...usual.capture, ...capture },
    reverse: { ...usual.reverse, ...reverse },
    authentication: known(['hosted', 'given'] as const, body.authentication) ?? usual.authentication,
    initiations: known(initiationAbilities, body.initiations) ?? usual.initiations,
    foreignNetworkIds: body.foreignNetworkIds ?? usual.foreignNetworkIds,
    repeatableMs: durationMs(body.repeatable) ?? usual.repeatableMs,
    refunds: body.refunds ?? usual.refunds,
    takesReturns: body.returns ?? usual.takesReturns,
    hasUpdates: body.updates ?? usual.hasUpdates,
    ...defined({ currencies, networks, holdDays }),
  };
}

function known<T extends string>(words: readonly T[], named?: readonly string[]): readonly T[] | undefined {
  return named && words.filter((word) => named.includes(word));
}

const duration = /^P(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?)?$/;

/** Undefined for words it does not know: then the bank promises what version 1 promised. */
function durationMs(text = 'always'): number | 'always' | undefined {
  if (text === 'always') return 'always';
  const [, days, hours, minutes] = duration.exec(text) ?? [];
  const inAll = (Number(days ?? 0) * 24 + Number(hours ?? 0)) * 60 + Number(minutes ?? 0);
  return inAll > 0 ? inAll * 60_000 : undefined;
}

/** Undefined when the body does not match the protocol, or its order. */
export function updatesOf(body: unknown, after: number): BankUpdates | undefined {
  if (!updatePage.Check(body)) return undefined;
  const sequences = [after, ...body.updates.map(({ sequence }) => sequence)];
  const isInOrder = sequences.every(
    (sequence, place) => place === 0 || sequence > (sequences[place - 1] ?? 0),
  );
  if (!isInOrder) return undefined;
  return {
    updates: body.updates.flatMap(updateOf),
    last: sequences.at(-1) ?? after,
    hasMore: body.updates.length >= updatesOfPage,
  };
}

/** None if Mandate does not know what happened. */
function updateOf(update: Update): BankUpdate[] {
  const { sequence, operationId, code, networkIds, references, amount } = update;
  const what = updateKinds.find((one) => one === update.what);
  const at = parseInstant(update.at);
  if (!what || !at) return [];
  const { currency = '' } = update;
  const money =
    amount === undefined || !isKnownCurrency(currency) ? undefined : { minor: BigInt(amount), currency };
  return [{ sequence, operationId, what, at, ...defined({ amount: money, code, networkIds, references }) }];
}
