// Selects the terminal of a payout: the first by priority that pays out the currency and the amount, at a bank that is reachable.
import type { Clock } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { ttlCache } from '../../platform/database/ttl-cache.ts';
import { accept, refuse } from '../../refusal.ts';
import type { Terminal } from '../domain/bank-port.ts';
import { missingForPayout } from '../domain/missing-ability.ts';
import {
  largestLimitOf,
  serves,
  type PayoutTerminalTerms,
  type WantedPayout,
} from '../domain/routing/payout-terminal.ts';
import { payoutTerminals } from '../store/banks.ts';
import {
  inUse,
  notDeclared,
  rowOf,
  terminalFrom,
  type NewPayoutTerminal,
  type TerminalRow,
} from './terminal-rows.ts';
import type { UsableTerminals } from './usable-terminals.ts';

const maxAgeMs = 1_000;

type PayoutRoutingOptions = {
  readonly db: Database;
  readonly lookups: Pick<Database, 'run'>;
  readonly clock: Clock;
};

export function openPayoutRouting(
  { db, lookups, clock }: PayoutRoutingOptions,
  { notAway, firstOf, ableOf }: UsableTerminals,
) {
  const ofPayouts = ttlCache({
    maxAgeMs,
    maxEntries: 10_000,
    load: (party_id: string) => lookups.run(payoutTerminals.read, { party_id }),
  });
  const ableToPayOut = <Row extends TerminalRow>(wanted: WantedPayout, rows: readonly Row[]) =>
    ableOf((abilities) => missingForPayout(wanted, abilities), rows);

  return {
    /** The first terminal by priority that pays out the currency and the amount, at a bank that is reachable. */
    async payoutRouteOf(partyId: string, wanted: WantedPayout) {
      const rows = inUse(await ofPayouts.get(partyId));
      const serving = rows.filter(({ terms }) => serves(terms, wanted));
      const { able, missing } = await ableToPayOut(wanted, serving);
      const row = firstOf(able);
      if (row) return accept(routeFrom(row));
      if (missing !== undefined) return refuse('noPayoutTerminal', { hint: notDeclared(missing) });
      const terms = rows.map((one) => one.terms);
      return noPayoutTerminal(largestLimitOf(terms, wanted.currency));
    },
    /** The next one after that terminal by priority, at another bank that is not away and whose terms suit. */
    async nextPayoutRoute(
      partyId: string,
      wanted: WantedPayout,
      after: Terminal,
      suits: (terms: PayoutTerminalTerms) => boolean,
    ) {
      const rows = inUse(await ofPayouts.get(partyId));
      const place = rows.findIndex(({ terminal_id: id }) => id === after.id);
      const others = rows.slice(place + 1).filter(({ bank_id }) => bank_id !== after.bankId);
      const serving = others.filter(({ terms }) => serves(terms, wanted) && suits(terms));
      const row = notAway((await ableToPayOut(wanted, serving)).able);
      return row && routeFrom(row);
    },
    /** Adds or changes a terminal. False when it exists with another bank, which may know its payouts. */
    async putPayoutTerminal(terminal: NewPayoutTerminal): Promise<boolean> {
      const row = { ...rowOf(terminal, clock.now()), terms: terminal.terms ?? {} };
      const rows = await db.run(payoutTerminals.upsert, row);
      ofPayouts.forget(terminal.partyId);
      return rows.length > 0;
    },
  };
}

function routeFrom(row: TerminalRow & { readonly terms: PayoutTerminalTerms }) {
  return { route: { bankId: row.bank_id, terminal: terminalFrom(row) }, terms: row.terms };
}

function noPayoutTerminal(limit: bigint | undefined) {
  if (limit === undefined) return refuse('noPayoutTerminal');
  const hint = `Pay out at most ${limit} minor units at once: no payout terminal takes more.`;
  return refuse('payoutTerminalLimit', { hint });
}
