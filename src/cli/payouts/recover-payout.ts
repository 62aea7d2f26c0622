// mandate payout recover: what a bank has paid and a restored database does not know, written down from the bank's own book.
import { payoutTerminals } from '../../acquiring/store/banks.ts';
import { parseInstant, type Instant } from '../../clock.ts';
import { buildService, type Foundation } from '../../app/compose.ts';
import { findDestination } from '../../payouts/store/destinations.ts';
import { findGrant, findOpenGrants, useGrant } from '../../payouts/store/grants.ts';
import { paidLineOf, type PaidLine } from '../../payouts/domain/recovered-withdrawal.ts';
import { recoverWithdrawal } from '../../payouts/recover-withdrawal.ts';
import { findWallet } from '../../wallets/store/wallets.ts';
import type { Wallet } from '../../wallets/domain/wallet.ts';
import type { Route } from '../../payouts/domain/withdrawal.ts';
import { reportOf, type BankReport } from '../banks/bank-report.ts';
import { requireParty, withFoundation } from '../foundation.ts';
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
  const said = await withFoundation(async (foundation) => {
    const { database: db, ports } = foundation;
    const { banks, payouts } = buildService(foundation);
    const wallet = await findWallet(db, null, options.wallet);
    if (!wallet)
      throw new Error(
        `there is no wallet ${options.wallet}. If it was lost too, let the merchant open one in the name he had, put on it what ` +
          'it lacks (mandate wallet deposit), and say that one',
      );
    const destination = (await findDestination(db, null, options.destination))?.destination;
    if (!destination)
      throw new Error(
        `there is no destination ${options.destination}. If it was lost too, let the merchant store the same card again, and say that one`,
      );
    const partyId = options.party ?? wallet.partyId;
    await requireParty(db, partyId);
    requireGrant(partyId, wallet, options.walletGrant);
    const walletGrant = options.walletGrant && (await findGrant(db, 'wallet', options.walletGrant));
    if (options.walletGrant !== undefined && options.walletGrant !== lostToo && !walletGrant)
      throw new Error(
        `that grant is not known here; if it was given after that moment, or swept since, say --wallet-grant ${lostToo}`,
      );
    const book = await reportOf(foundation, banks, options);
    try {
      const paid = paidLineOf(operationId, await linesOf(book, operationId));
      if ('problem' in paid) throw new Error(paid.problem);
      const { minor, currency } = paid.line;
      const agreed = await payouts.termsOf(wallet.partyId);
      const around = {
        partyId,
        wallet,
        destination,
        ...(walletGrant ? { walletGrant } : {}),
        ...defined({ destinationPartyId: options.destinationParty, externalId: options.externalId }),
        route: await routeOf(foundation, wallet.partyId, book.bankId),
        limits: agreed.limitsOf(wallet.level, currency),
        feeMinor: agreed.feeMinorOf({ minor, currency }),
      };
      const { livemode } = payouts;
      const { reason } = options;
      const now = ports.clock.now();
      const restored = await recoverWithdrawal(db, paid, around, {
        livemode,
        reason,
        now,
        ...defined({ walletGrant: options.walletGrant }),
      });
      if (typeof restored === 'object' && !restored.isKnown)
        throw new Error(`${restored.problem}. Nothing was done`);
      const open = grantsText(await findOpenGrants(db, wallet.id, { minor, currency }, now));
      if (typeof restored === 'object') throw new Error(`${restored.problem}. Nothing was done${open}`);
      if (restored === 'knownBefore')
        return `${paid.withdrawalId} is known already; nothing was done${open}.`;
      const doubt =
        paid.line.cardMask === undefined
          ? '. The book names no card: that it went to that destination is your word alone'
          : '';
      return `${paid.withdrawalId} is written down: ${minor} ${currency} from wallet ${wallet.id}${doubt}${open}.`;
    } finally {
      await book.stop();
    }
  });
  console.log(said);
}

/** By one of which it may have been paid, where nobody said so. */
function grantsText(grants: readonly { readonly id: string; readonly validUntil: Instant }[]): string {
  if (grants.length === 0) return '';
  const each = grants.map(({ id, validUntil }) => `${id} (until ${validUntil})`).join(', ');
  return `. By these grants as much may still be paid out from the wallet: ${each}. If this was paid by one of them, end that one: mandate payout revoke-grant`;
}

/** Ends a grant that would pay for something else than what it was given for, or that got into the wrong hands. */
export async function revokeGrant(id: string): Promise<void> {
  const isEnded = await withFoundation(({ database }) => useGrant(database, id, 'operator'));
  if (!isEnded) throw new Error(`there is no grant ${id}, or it was used already`);
  console.log('Nothing can be paid out by it any more.');
}

/** Said instead of a grant that was given after the moment the database was restored to. */
const lostToo = 'lost';

/** Somebody else than the owner had a grant of his, which must not pay a second time. */
function requireGrant(partyId: string, wallet: Wallet, token: string | undefined): void {
  if (partyId !== wallet.partyId && token === undefined)
    throw new Error(
      `wallet ${wallet.id} is one of party ${wallet.partyId}; say with --wallet-grant by which grant party ${partyId} paid out ` +
        'from it, so that it is used up',
    );
  if (partyId === wallet.partyId && token !== undefined)
    throw new Error(`the owner of wallet ${wallet.id} needs no grant; say with --party who had it`);
}

async function linesOf(book: BankReport, operationId: string): Promise<PaidLine[]> {
  const lines: PaidLine[] = [];
  for await (const entries of book.entriesAfter(0)) {
    for (const entry of entries) {
      if (entry.operationId !== operationId) continue;
      const { kind, sign, amount, currency, cardMask } = entry;
      const at = parseInstant(entry.at);
      if (!at) throw new Error(`the bank’s line ${entry.sequence} has no time that can be understood`);
      const card = defined({ cardMask });
      lines.push({ operationId, kind, sign, minor: BigInt(amount), currency, at, ...card });
    }
  }
  return lines;
}

/** The one in use, or one that was: it is not used any more, and names who paid. */
async function routeOf({ database }: Foundation, partyId: string, bankId: string): Promise<Route> {
  const rows = await database.run(payoutTerminals.read, { party_id: partyId });
  const there = rows.filter((row) => row.bank_id === bankId);
  const row = there.find(({ is_retired }) => !is_retired) ?? there[0];
  if (!row)
    throw new Error(
      `party ${partyId} has no terminal for payouts with bank ${bankId}; add the one it had (mandate terminal add --payouts), and try again`,
    );
  return {
    bankId,
    terminal: { id: row.terminal_id, bankId, merchantId: row.merchant_id, descriptor: row.descriptor },
  };
}
