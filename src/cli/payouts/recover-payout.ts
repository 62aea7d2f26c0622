// mandate payout recover: record a payout that the bank made and a restored database lost.
import { payoutTerminals } from '../../acquiring/store/banks.ts';
import { parseInstant, type Instant } from '../../clock.ts';
import { buildService } from '../../app/compose.ts';
import type { Foundation } from '../../app/composition/foundation.ts';
import { cardHashOf } from '../../payouts/card-hash.ts';
import { findDestination } from '../../payouts/store/destinations.ts';
import { findGrant, findOpenGrants, useGrant } from '../../payouts/store/grants.ts';
import { paidLineOf, type PaidLine } from '../../payouts/domain/lost-withdrawal.ts';
import { recoverWithdrawal } from '../../payouts/recover-lost-withdrawal.ts';
import { countsCards } from '../../wallets/domain/payout-limits.ts';
import { findWallet } from '../../wallets/store/wallets.ts';
import type { Wallet } from '../../wallets/domain/wallet.ts';
import type { Route } from '../../payouts/domain/withdrawal.ts';
import { reportOf, type BankReport } from '../banks/bank-report.ts';
import { requireParty, sentence, withFoundation } from '../foundation.ts';
import { defined } from '../../defined.ts';

export type RecoverPayout = {
  readonly wallet: string;
  readonly destination: string;
  readonly reason: string;
  readonly externalId?: string;
  readonly party?: string;
  readonly walletGrant?: string;
  readonly destinationParty?: string;
  readonly bank?: string;
  readonly bankId?: string;
};

export async function recoverPayout(operationId: string, options: RecoverPayout): Promise<void> {
  const text = await withFoundation(async (foundation) => {
    const { database: db, ports } = foundation;
    const { banks, payouts, cards } = buildService(foundation);
    const wallet = await findWallet(db, null, options.wallet);
    if (!wallet)
      throw new Error(
        `Wallet ${options.wallet} not found. If the restore lost it, create a new wallet for the same identity, ` +
          'fund it with "mandate wallet deposit", and pass its ID with --wallet.',
      );
    const destination = (await findDestination(db, null, options.destination))?.destination;
    if (!destination)
      throw new Error(
        `Destination ${options.destination} not found. If the restore lost it, have the merchant create a destination ` +
          'with the same card, and pass its ID with --destination.',
      );
    const partyId = options.party ?? wallet.partyId;
    await requireParty(db, partyId);
    requireGrant(partyId, wallet, options.walletGrant);
    const walletGrant = options.walletGrant && (await findGrant(db, 'wallet', options.walletGrant));
    if (options.walletGrant !== undefined && options.walletGrant !== lostToo && !walletGrant)
      throw new Error(
        `The grant in --wallet-grant was not found. If the restore lost it, or it was purged, pass --wallet-grant ${lostToo}.`,
      );
    const book = await reportOf(foundation, banks, options);
    try {
      const paid = paidLineOf(operationId, await linesOf(book, operationId));
      if ('problem' in paid) throw new Error(paid.problem);
      const { minor, currency } = paid.line;
      const agreed = await payouts.termsOf(wallet.partyId);
      const { level } = wallet;
      const limits = agreed.limitsOf({ level, currency, network: destination.card.paymentSystem });
      const isCardCounted = limits !== undefined && countsCards(limits);
      const context = {
        partyId,
        wallet,
        destination,
        ...(walletGrant ? { walletGrant } : {}),
        ...defined({ destinationPartyId: options.destinationParty, externalId: options.externalId }),
        route: await routeOf(foundation, wallet.partyId, book.bankId),
        limits,
        ...(isCardCounted ? { cardHash: await cardHashOf({ db, cards }, destination) } : {}),
        feeMinor: agreed.feeMinorOf({ minor, currency }),
      };
      const { livemode } = payouts;
      const { reason } = options;
      const now = ports.clock.now();
      const recovered = await recoverWithdrawal(db, paid, context, {
        livemode,
        reason,
        now,
        ...defined({ walletGrant: options.walletGrant }),
      });
      if (typeof recovered === 'object' && !recovered.isKnown)
        throw new Error(`${sentence(recovered.problem)} Nothing was recorded.`);
      const open = grantsText(await findOpenGrants(db, wallet.id, { minor, currency }, now));
      if (typeof recovered === 'object')
        throw new Error(`${sentence(recovered.problem)} Nothing was recorded.${open}`);
      if (recovered === 'knownBefore')
        return `Withdrawal ${paid.withdrawalId} is recorded already. Nothing was changed.${open}`;
      const doubt =
        paid.line.cardMask === undefined
          ? ' The report of the bank has no card number: that the destination is right rests on your statement.'
          : '';
      return `Recorded withdrawal ${paid.withdrawalId}: ${minor} ${currency} from wallet ${wallet.id}.${doubt}${open}`;
    } finally {
      await book.stop();
    }
  });
  console.log(text);
}

/** Grants that the payout may have used. */
function grantsText(grants: readonly { readonly id: string; readonly validUntil: Instant }[]): string {
  if (grants.length === 0) return '';
  const each = grants.map(({ id, validUntil }) => `${id} (until ${validUntil})`).join(', ');
  return (
    ` These grants still allow as much from the wallet: ${each}. If this payout used one of them, ` +
    'revoke it with "mandate payout revoke-grant".'
  );
}

export async function revokeGrant(id: string): Promise<void> {
  const isRevoked = await withFoundation(({ database }) => useGrant(database, id, 'operator'));
  if (!isRevoked)
    throw new Error(
      `Grant ${id} not found, or already used. Check the ID: it is the part between the dots of the token.`,
    );
  console.log(`Revoked grant ${id}.`);
}

/** Stands for a grant from after the time the database was restored to. */
const lostToo = 'lost';

/** A merchant other than the owner used a grant, which must not pay a second time. */
function requireGrant(partyId: string, wallet: Wallet, token: string | undefined): void {
  if (partyId !== wallet.partyId && token === undefined)
    throw new Error(
      `Wallet ${wallet.id} belongs to party ${wallet.partyId}. Pass the grant that party ${partyId} used with --wallet-grant, ` +
        'so that it is used up.',
    );
  if (partyId === wallet.partyId && token !== undefined)
    throw new Error(
      `The owner of wallet ${wallet.id} needs no grant. Remove --wallet-grant, or pass the merchant that used it with --party.`,
    );
}

async function linesOf(book: BankReport, operationId: string): Promise<PaidLine[]> {
  const lines: PaidLine[] = [];
  for await (const entries of book.entriesAfter(0)) {
    for (const entry of entries) {
      if (entry.operationId !== operationId) continue;
      const { kind, sign, amount, currency, cardMask } = entry;
      const at = parseInstant(entry.at);
      if (!at)
        throw new Error(
          `Line ${entry.sequence} of the report has an invalid time "${entry.at}". Correct the report.`,
        );
      const card = defined({ cardMask });
      lines.push({ operationId, kind, sign, minor: BigInt(amount), currency, at, ...card });
    }
  }
  return lines;
}

/** A removed terminal also counts: it only names the bank that paid. */
async function routeOf({ database }: Foundation, partyId: string, bankId: string): Promise<Route> {
  const rows = await database.run(payoutTerminals.read, { party_id: partyId });
  const there = rows.filter((row) => row.bank_id === bankId);
  const row = there.find(({ is_retired }) => !is_retired) ?? there[0];
  if (!row)
    throw new Error(
      `Party ${partyId} has no payout terminal at bank ${bankId}. Add the one it had with "mandate terminal add --payouts", ` +
        'and run the command again.',
    );
  return {
    bankId,
    terminal: { id: row.terminal_id, bankId, merchantId: row.merchant_id, descriptor: row.descriptor },
  };
}
