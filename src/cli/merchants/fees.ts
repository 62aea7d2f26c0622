// mandate shop fees: what we take of a shop's payments and refunds.
import type { Fees, FeeSchedule } from '../../platform/ledger/domain/fee.ts';
import { readShop, setShopFees, shopFromRow } from '../../merchants/store/parties.ts';
import { withFoundation } from '../foundation.ts';

export async function shopFees(
  id: string,
  options: { party: string; payment?: string; refund?: string },
): Promise<void> {
  const changes: Fees = {
    ...(options.payment === undefined ? {} : { processing: scheduleOf('--payment', options.payment) }),
    ...(options.refund === undefined ? {} : { refund: scheduleOf('--refund', options.refund) }),
  };
  await withFoundation(async ({ database }) => {
    const name = { party_id: options.party, shop_id: id };
    const [row] = await database.run(readShop, name);
    if (!row) throw new Error(`party ${options.party} has no shop ${id}; mandate shop list shows all`);
    const fees = { ...shopFromRow(row).fees, ...changes };
    if (Object.keys(changes).length > 0) await database.run(setShopFees, { ...name, fees });
    console.log(`payments: ${textOf(fees.processing)}\nrefunds:  ${textOf(fees.refund)}`);
  });
}

/** `2.5%+10,least=30,most=5000`, or a part of it. */
export function scheduleOf(option: string, text: string): FeeSchedule {
  const [, percent, fixed, fixedAlone, least, most] =
    /^(?:(\d{1,3}(?:\.\d{1,2})?)%(?:\+(\d{1,12}))?|(\d{1,12}))(?:,least=(\d{1,12}))?(?:,most=(\d{1,12}))?$/.exec(
      text,
    ) ?? [];
  const basisPoints = BigInt(Math.round(Number(percent ?? 0) * 100));
  const fixedMinor = BigInt(fixed ?? fixedAlone ?? 0);
  if ((percent ?? fixedAlone) === undefined || basisPoints > 10_000n) {
    throw new Error(
      `${option} ${text} is no schedule; write 2.5%, 10, 2.5%+10 or 2.5%+10,least=30,most=5000`,
    );
  }
  if (least !== undefined && most !== undefined && BigInt(least) > BigInt(most))
    throw new Error(`${option}: the least is more than the most`);
  return {
    basisPoints,
    fixedMinor,
    ...(least === undefined ? {} : { leastMinor: BigInt(least) }),
    ...(most === undefined ? {} : { mostMinor: BigInt(most) }),
  };
}

function textOf(schedule: FeeSchedule | undefined): string {
  if (!schedule) return 'free';
  const { basisPoints, fixedMinor, leastMinor, mostMinor } = schedule;
  const limits = [
    ...(leastMinor === undefined ? [] : [`at least ${leastMinor}`]),
    ...(mostMinor === undefined ? [] : [`at most ${mostMinor}`]),
  ];
  return [`${Number(basisPoints) / 100}% + ${fixedMinor}`, ...limits].join(', ');
}
