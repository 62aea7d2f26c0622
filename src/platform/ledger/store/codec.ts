// What a shop is charged, as it is kept with the shop and with what was agreed.
import { minorUnits, object, optional, type Codec } from '../../database/codec.ts';
import type { Fees, FeeSchedule } from '../domain/fee.ts';

const schedule: Codec<FeeSchedule> = object({
  basisPoints: minorUnits,
  fixedMinor: minorUnits,
  leastMinor: optional(minorUnits),
  mostMinor: optional(minorUnits),
});
export const fees: Codec<Fees> = object({ processing: optional(schedule), refund: optional(schedule) });
