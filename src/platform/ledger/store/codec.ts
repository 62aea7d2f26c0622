// Codecs of account codes, and of fees as they are stored with a shop and with agreed terms.
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
