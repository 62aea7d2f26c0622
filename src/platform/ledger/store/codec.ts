// Accounts by their codes; and what a shop is charged, as it is kept with the shop and with what was agreed.
import { minorUnits, object, oneOf, optional, type Codec } from '../../database/codec.ts';
import { chart, type AccountCode } from '../domain/account.ts';
import type { Fees, FeeSchedule } from '../domain/fee.ts';

export const accountCode: Codec<AccountCode> = oneOf(...(Object.keys(chart) as AccountCode[]));

const schedule: Codec<FeeSchedule> = object({
  basisPoints: minorUnits,
  fixedMinor: minorUnits,
  leastMinor: optional(minorUnits),
  mostMinor: optional(minorUnits),
});
export const fees: Codec<Fees> = object({ processing: optional(schedule), refund: optional(schedule) });
