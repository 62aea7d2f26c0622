// mandate shop fees: the fees on a shop's payments and refunds.
import type { Fees, FeeSchedule } from '../../platform/ledger/domain/fee.ts';
import { setShopFees, shopFromRow } from '../../merchants/store/parties.ts';
import { requireShop, withFoundation } from '../foundation.ts';

export async function shopFees(
  id: string,
  options: { party: string; payment?: string; refund?: string; json?: true },
): Promise<void> {
  const changes: Fees = {
    ...(options.payment === undefined ? {} : { processing: scheduleOf('--payment', options.payment) }),
    ...(options.refund === undefined ? {} : { refund: scheduleOf('--refund', options.refund) }),
  };
  await withFoundation(async ({ database }) => {
    const name = { party_id: options.party, shop_id: id };
    const fees = { ...shopFromRow(await requireShop(database, options.party, id)).fees, ...changes };
    if (Object.keys(changes).length > 0) await database.run(setShopFees, { ...name, fees });
    const [payment, refund] = [textOf(fees.processing), textOf(fees.refund)];
    if (options.json) console.log(JSON.stringify({ payment, refund }, null, 2));
    else console.log(`payments: ${payment}\nrefunds:  ${refund}`);
  });
}

/** Reads `2.5%+10,least=30,most=5000`, or a part of it. */
export function scheduleOf(option: string, text: string): FeeSchedule {
  const [, percent, fixed, fixedAlone, least, most] =
    /^(?:(\d{1,3}(?:\.\d{1,2})?)%(?:\+(\d{1,12}))?|(\d{1,12}))(?:,least=(\d{1,12}))?(?:,most=(\d{1,12}))?$/.exec(
      text,
    ) ?? [];
  const basisPoints = BigInt(Math.round(Number(percent ?? 0) * 100));
  const fixedMinor = BigInt(fixed ?? fixedAlone ?? 0);
  if ((percent ?? fixedAlone) === undefined || basisPoints > 10_000n) {
    throw new Error(
      `${option} "${text}" is not a schedule. Use 2.5%, 10, 2.5%+10 or 2.5%+10,least=30,most=5000.`,
    );
  }
  if (least !== undefined && most !== undefined && BigInt(least) > BigInt(most))
    throw new Error(`${option} "${text}" has a least above its most. Correct one of them.`);
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
