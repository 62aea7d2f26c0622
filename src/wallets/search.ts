// The filters that lists of withdrawals and of deposits share: when, and how much.
import { Type } from 'typebox';
import type { Instant } from '../clock.ts';
import { DateTime } from '../http/schemas.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import { instantOf } from './shapes.wire.ts';

export const Moments = {
  createdAtFrom: Type.Optional({ ...DateTime, description: 'This moment or later.' }),
  createdAtTo: Type.Optional({ ...DateTime, description: 'Before this moment.' }),
  amountFrom: Type.Optional(Type.Integer({ description: 'This amount or more.' })),
  amountTo: Type.Optional(Type.Integer({ description: 'This amount or less.' })),
};

type Asked = { createdAtFrom?: string; createdAtTo?: string; amountFrom?: number; amountTo?: number };
type Range = { from?: Instant; to?: Instant; amountFrom?: bigint; amountTo?: bigint };

export function rangeOf(asked: Asked): Outcome<Range, 'invalidSearchRange'> {
  const { createdAtFrom, createdAtTo, amountFrom, amountTo } = asked;
  const from = createdAtFrom === undefined ? undefined : instantOf(createdAtFrom);
  const to = createdAtTo === undefined ? undefined : instantOf(createdAtTo);
  if (from !== undefined && to !== undefined && from > to) return refuse('invalidSearchRange');
  return accept({
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(amountFrom === undefined ? {} : { amountFrom: BigInt(amountFrom) }),
    ...(amountTo === undefined ? {} : { amountTo: BigInt(amountTo) }),
  });
}
