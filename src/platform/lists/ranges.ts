// Filters of lists by time and amount.
import { Type } from 'typebox';
import type { Values } from '../database/statement.ts';
import { DateTime, instantOf } from '../http/schemas.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { searchFilters } from './list-statement.ts';

export const Moments = {
  createdAtFrom: Type.Optional({ ...DateTime, description: 'Created at this time or later.' }),
  createdAtTo: Type.Optional({ ...DateTime, description: 'Created before this time.' }),
  amountFrom: Type.Optional(Type.Integer({ description: 'This amount or more, in minor units.' })),
  amountTo: Type.Optional(Type.Integer({ description: 'This amount or less, in minor units.' })),
};

type Asked = { createdAtFrom?: string; createdAtTo?: string; amountFrom?: number; amountTo?: number };
type Range = Values<typeof searchFilters>;

export function rangeOf(asked: Asked): Outcome<Range, 'invalidSearchRange'> {
  const { createdAtFrom, createdAtTo, amountFrom, amountTo } = asked;
  const from = createdAtFrom === undefined ? null : instantOf(createdAtFrom);
  const to = createdAtTo === undefined ? null : instantOf(createdAtTo);
  if (from !== null && to !== null && from > to) return refuse('invalidSearchRange');
  return accept({
    created_from: from,
    created_to: to,
    amount_from: amountFrom === undefined ? null : BigInt(amountFrom),
    amount_to: amountTo === undefined ? null : BigInt(amountTo),
  });
}
