// Selects the bank for a shop's payments and for a party's payouts: the first terminal by priority whose bank is reachable.
// Banks are rows with encrypted secrets, and their adapters are opened on first use.
import { epochMsOf, laterBy, type Clock, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { ttlCache } from '../platform/database/ttl-cache.ts';
import type { Values } from '../platform/database/statement.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import { decrypt, encrypt } from '../platform/keys/master-key.ts';
import type { Abilities } from './domain/abilities.ts';
import type { Bank, BankOperation, Terminal } from './domain/bank-port.ts';
import {
  missingAbility,
  missingForCharge,
  missingForPayout,
  type WantedCharge,
} from './domain/missing-ability.ts';
import {
  largestLimitOf,
  serves,
  type PayoutTerminalTerms,
  type WantedPayout,
} from './domain/routing/payout-terminal.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import { openBankHealth, type AwayBank } from './bank-health.ts';
import { observed, type Listener } from './observed-bank.ts';
import { storeSharing } from './exchange-log/store/watched-banks.ts';
import { areHoldsAlike, holdDaysOf, type HoldDays, type Initiation } from './domain/routing/hold-days.ts';
import {
  pauseTerminal,
  payoutTerminals,
  readBank,
  shopTerminals,
  terminalsOfParty,
  upsertBank,
} from './store/banks.ts';
import { findHoldDays, storeHoldDays } from './store/hold-days.ts';

export type Banks = ReturnType<typeof openBanks>;

type ShopName = { readonly partyId: string; readonly shopId: string };
export type BankSettings = { readonly id: string; readonly url: string; readonly secret: string };

/** Its exchange log may have lost operations, so nothing is sent until an operator confirms (exchange-log/witness.ts). */
function stoppedAnswer(id: string) {
  const why = `the bank is stopped until an operator runs "mandate bank confirm ${id}"`;
  return { outcome: 'notSent', why, noBytesSent: true } as const;
}

export type NewTerminal = Terminal & {
  readonly partyId: string;
  readonly shopId: string;
  readonly priority: number;
};

export type NewPayoutTerminal = Omit<NewTerminal, 'shopId'> & { readonly terms?: PayoutTerminalTerms };

/** Why a terminal is paused: the declined operation, for the operator. */
export type Misconfigured = {
  readonly operationId: string;
  readonly network: string;
  readonly code: string;
};

const maxAgeMs = 1_000;
/** Long enough for the operator to act, short enough that a code sent by mistake does little harm. */
const pauseMs = 15 * 60_000;
const sandboxPriority = 100;

export function openBanks(options: {
  db: Database;
  /** The read-only pool, so that no transaction is needed. */
  lookups: Pick<Database, 'run'>;
  clock: Clock;
  keyring: Keyring;
  /** Opens the adapter for a bank's address and secret. */
  adapterFor: (bank: BankSettings) => Bank;
  /** Called after each request to a bank. */
  observe: (bankId: string, ...heard: Parameters<Listener>) => void;
  /** Tells the operator that a bank has gone away, or is back. */
  onHealth: (bank: AwayBank, is: 'away' | 'back') => void;
  /** Alerts the operator. Called once the pause is stored. */
  onPaused: (terminal: Terminal, because: Misconfigured, until: Instant) => void;
}) {
  const { db, lookups, clock, keyring, adapterFor, observe, onHealth, onPaused } = options;
  const health = openBankHealth(() => epochMsOf(clock.now()), onHealth);
  const stopped = new Set<string>();
  const adapters = new Map<string, { readonly url: string; readonly secret: string; readonly bank: Bank }>();

  const ofShops = ttlCache({
    maxAgeMs,
    maxEntries: 10_000,
    load: (name: string) => {
      const [party_id, shop_id] = JSON.parse(name) as [string, string];
      return lookups.run(shopTerminals.read, { party_id, shop_id });
    },
  });
  const holds = ttlCache({
    maxAgeMs,
    maxEntries: 10_000,
    load: (name: string) => {
      const [partyId, shopId] = JSON.parse(name) as [string, string];
      return findHoldDays(lookups, { partyId, shopId });
    },
  });
  const ofPayouts = ttlCache({
    maxAgeMs,
    maxEntries: 10_000,
    load: (party_id: string) => lookups.run(payoutTerminals.read, { party_id }),
  });
  const banks = ttlCache({ maxAgeMs, maxEntries: 1_000, load: bankWith });

  /** Lets an operator change the URL or the secret and keep the other. Never display the secret. */
  async function settingsOf(id: string): Promise<BankSettings | undefined> {
    const [row] = await lookups.run(readBank, { bank_id: id });
    if (!row) return undefined;
    if (row.is_stopped) stopped.add(id);
    else stopped.delete(id);
    const { url } = row;
    const key = await keyring.find('bank_secret', row.key_version);
    const remedy = `Set both again: mandate bank change ${id} --url … --new-secret.`;
    if (!key) {
      throw new Error(
        `Version ${row.key_version} of the key that encrypts the secret of bank ${id} is missing. ${remedy}`,
      );
    }
    try {
      return {
        id,
        url,
        secret: decrypt(key.secret, row.secret_ciphertext, secretContext({ id, url })).toString(),
      };
    } catch (error) {
      throw new Error(`The secret of bank ${id} was not encrypted for the address ${url}. ${remedy}`, {
        cause: error,
      });
    }
  }

  async function bankWith(id: string): Promise<Bank | undefined> {
    const settings = await settingsOf(id);
    if (!settings) return undefined;
    const { url, secret } = settings;
    const known = adapters.get(id);
    if (known?.url === url && known.secret === secret) return known.bank;
    // Requests in progress finish on the old connections.
    void known?.bank.stop();
    const adapter = adapterFor(settings);
    const send: Bank['send'] = (operation) =>
      stopped.has(id) ? Promise.resolve(stoppedAnswer(id)) : adapter.send(operation);
    const bank = observed({ ...adapter, send }, (asked, answer, seconds) => {
      health.hear(id, asked, answer, epochMsOf(clock.now()) - seconds * 1_000);
      observe(id, asked, answer, seconds);
    });
    adapters.set(id, { url, secret, bank });
    return bank;
  }

  const shopKey = ({ partyId, shopId }: ShopName) => JSON.stringify([partyId, shopId]);
  /** Call it only to use the bank it returns: after a pause, that request is the probe. */
  const notAway = <Row extends TerminalRow>(rows: readonly Row[]) =>
    rows.find(({ bank_id }) => !stopped.has(bank_id) && health.mayTry(bank_id));
  /** The first terminal when all banks are unreachable. */
  const firstOf = <Row extends TerminalRow>(rows: readonly Row[]): Row | undefined =>
    notAway(rows) ?? rows[0];

  /** Those at other banks that take the network IDs of a series that began at this one. */
  async function takingIdsOf<Row extends TerminalRow>(
    bankId: string,
    rows: readonly Row[],
  ): Promise<readonly Row[]> {
    const others = rows.filter(({ bank_id }) => bank_id !== bankId);
    const take = await Promise.all(
      others.map(async ({ bank_id }) => (await banks.get(bank_id))?.knownAbilities()?.foreignNetworkIds),
    );
    return others.filter((_, at) => take[at]);
  }

  /** Those at banks that declare all that is wanted or were never heard, and what the first of the others lacks. */
  async function ableOf<Row extends TerminalRow>(
    missingIn: (abilities: Abilities) => string | undefined,
    rows: readonly Row[],
  ) {
    const lacking = await Promise.all(
      rows.map(async ({ bank_id }) => {
        const abilities = (await banks.get(bank_id))?.knownAbilities();
        return abilities && missingIn(abilities);
      }),
    );
    return {
      able: rows.filter((_, at) => lacking[at] === undefined),
      missing: lacking.find((one) => one !== undefined),
    };
  }
  const ableToCharge = <Row extends TerminalRow>(wanted: WantedCharge, rows: readonly Row[]) =>
    ableOf((abilities) => missingForCharge(wanted, abilities), rows);
  const ableToPayOut = <Row extends TerminalRow>(wanted: WantedPayout, rows: readonly Row[]) =>
    ableOf((abilities) => missingForPayout(wanted, abilities), rows);

  const rowOf = (terminal: Omit<NewTerminal, 'shopId'>) => ({
    party_id: terminal.partyId,
    terminal_id: terminal.id,
    bank_id: terminal.bankId,
    merchant_id: terminal.merchantId,
    descriptor: terminal.descriptor,
    priority: terminal.priority,
    created_at: clock.now(),
  });
  /** Adds or changes a terminal. False when it exists with another bank, which may know its payments. */
  async function putTerminal(terminal: NewTerminal): Promise<boolean> {
    const rows = await db.run(shopTerminals.upsert, { ...rowOf(terminal), shop_id: terminal.shopId });
    ofShops.forget(shopKey(terminal));
    return rows.length > 0;
  }
  /** Like `putTerminal`, for payouts. */
  async function putPayoutTerminal(terminal: NewPayoutTerminal): Promise<boolean> {
    const rows = await db.run(payoutTerminals.upsert, {
      ...rowOf(terminal),
      terms: terminal.terms ?? {},
    });
    ofPayouts.forget(terminal.partyId);
    return rows.length > 0;
  }

  return {
    /** Undefined when the shop has no terminal in use. */
    async terminalOf({ partyId, id }: { readonly partyId: string; readonly id: string }) {
      const row = firstOf(inUse(await ofShops.get(shopKey({ partyId, shopId: id }))));
      return row && terminalFrom(row);
    },
    /** The terminal of a charge whose payer is present: the first by priority at a bank that declares all that is wanted. */
    async terminalFor(
      { partyId, id }: { readonly partyId: string; readonly id: string },
      wanted: WantedCharge,
    ) {
      const rows = inUse(await ofShops.get(shopKey({ partyId, shopId: id })));
      const { able, missing } = await ableToCharge(wanted, rows);
      const row = firstOf(able);
      return row ? accept(terminalFrom(row)) : noTerminal(missing);
    },
    /**
     * The same for a charge without the payer, which avoids paused terminals while one is not paused. Only a bank that takes the
     * network IDs of another acquirer's series stands in for one that is away.
     */
    async terminalOfCharge(
      { partyId, id }: { readonly partyId: string; readonly id: string },
      wanted: WantedCharge,
      now: Instant,
    ) {
      const rows = inUse(await ofShops.get(shopKey({ partyId, shopId: id })));
      const { able, missing } = await ableToCharge(wanted, rows);
      const open = notPaused(able, now);
      const [home = able[0]] = open;
      if (!home) return noTerminal(missing);
      if (health.mayTry(home.bank_id)) return accept(terminalFrom(home));
      return accept(terminalFrom(notAway(await takingIdsOf(home.bank_id, open)) ?? home));
    },
    /** Those of all its shops. Another party may share one. */
    async terminalsOf(partyId: string) {
      const rows = await lookups.run(terminalsOfParty, { party_id: partyId });
      return rows.map(({ shop_id: shopId, is_shared: isShared, ...row }) => ({
        ...terminalFrom(row),
        shopId,
        isShared,
      }));
    },
    /** Until when the shop takes no charge without the payer. */
    async pausedUntil(shop: ShopName, now: Instant): Promise<Instant | undefined> {
      return pauseEndOf(inUse(await ofShops.get(shopKey(shop))), now);
    },
    /** Whether the terminal of a charge without the payer is paused, though it was not when the charge was created. */
    async isPaused(shop: ShopName, { id }: Terminal, now: Instant): Promise<boolean> {
      const rows = await ofShops.get(shopKey(shop));
      return notPaused(rows, now).every(({ terminal_id }) => terminal_id !== id);
    },
    /**
     * Undefined when all banks of the shop are unreachable. `chargedAt` is for a charge without the payer, and
     * `idsOf` and `heldAt` are the terminals of one with network IDs, and of a hold.
     */
    async alternateTerminal(
      shop: ShopName,
      {
        chargedAt,
        idsOf,
        heldAt,
        wanted,
      }: {
        readonly chargedAt?: Instant;
        readonly idsOf?: Terminal;
        readonly heldAt?: Terminal;
        readonly wanted?: WantedCharge;
      } = {},
    ) {
      const inTurn = inUse(await ofShops.get(shopKey(shop)));
      const rows = wanted ? (await ableToCharge(wanted, inTurn)).able : inTurn;
      const days = heldAt ? await holds.get(shopKey(shop)) : [];
      const alike = rows.filter(({ terminal_id: id }) => !heldAt || areHoldsAlike(days, id, heldAt.id));
      const open = chargedAt === undefined ? alike : notPaused(alike, chargedAt);
      const row = notAway(idsOf ? await takingIdsOf(idsOf.bankId, open) : open);
      return row && terminalFrom(row);
    },
    /** In the transaction that ends the declined charge. Every node knows it within a second. */
    async pauseTerminal(
      tx: Database,
      shop: ShopName,
      terminal: Terminal,
      because: Misconfigured,
      now: Instant,
    ) {
      const until = laterBy(now, pauseMs);
      await tx.run(pauseTerminal, {
        party_id: shop.partyId,
        shop_id: shop.shopId,
        terminal_id: terminal.id,
        until,
        because: `${because.network} ${because.code} ${because.operationId}`,
      });
      tx.afterCommit(() => {
        ofShops.forget(shopKey(shop));
        onPaused(terminal, because, until);
      });
    },
    /** How many days the terminal's bank keeps a hold. */
    async holdDays(shop: ShopName, { id }: Terminal, network: string, initiation: Initiation) {
      return holdDaysOf(await holds.get(shopKey(shop)), id, network, initiation);
    },
    async putHoldDays(shop: ShopName, days: HoldDays) {
      await storeHoldDays(db, shop, days);
      holds.forget(shopKey(shop));
    },
    /** Takes the terminal stored with an operation, so that the operation stays with its bank. */
    async bankOf({ bankId }: Terminal): Promise<Bank> {
      const bank = await banks.get(bankId);
      if (!bank)
        throw new Error(`Bank ${bankId} not found. Add it again: mandate bank add ${bankId} --url ….`);
      return bank;
    },
    /** Whether the bank of an operation that is to begin declares that it can do it. One that was never heard counts as able. */
    async takes(operation: BankOperation): Promise<Outcome<undefined, 'notOfferedByBank'>> {
      const abilities = (await banks.get(operation.terminal.bankId))?.knownAbilities();
      const missing = abilities && missingAbility(operation, abilities);
      return missing === undefined
        ? accept(undefined)
        : refuse('notOfferedByBank', { hint: notDeclared(missing) });
    },
    /** Adds a bank, or changes its URL and secret. */
    async putBank({ id, url, secret }: BankSettings) {
      const key = keyring.newest('bank_secret');
      await db.run(upsertBank, {
        bank_id: id,
        url,
        secret_ciphertext: encrypt(key.secret, Buffer.from(secret), secretContext({ id, url })),
        key_version: key.keyVersion,
        created_at: clock.now(),
      });
      banks.forget(id);
    },
    putTerminal,
    putPayoutTerminal,
    /** Puts this bank's terminals before those of other simulated banks, and after those an operator has added. */
    async putSandboxTerminals(
      terminals: {
        readonly ofShops: readonly Omit<NewTerminal, 'priority'>[];
        readonly ofPayouts: Omit<NewPayoutTerminal, 'priority'>;
      },
      { id, partyId }: { readonly id: string; readonly partyId: string },
    ) {
      for (const terminal of terminals.ofShops) await putTerminal({ ...terminal, priority: sandboxPriority });
      await putPayoutTerminal({ ...terminals.ofPayouts, priority: sandboxPriority });
      const first = { party_id: partyId, bank_id: id, first: sandboxPriority };
      await db.run(shopTerminals.putFirst, first);
      await db.run(payoutTerminals.putFirst, first);
    },
    settingsOf,
    /** The first terminal by priority that pays out the currency and the amount, at a bank that is reachable. */
    async payoutRouteOf(partyId: string, wanted: WantedPayout) {
      const rows = inUse(await ofPayouts.get(partyId));
      const { able, missing } = await ableToPayOut(
        wanted,
        rows.filter(({ terms }) => serves(terms, wanted)),
      );
      const row = firstOf(able);
      if (row)
        return accept({ route: { bankId: row.bank_id, terminal: terminalFrom(row) }, terms: row.terms });
      if (missing !== undefined) return refuse('noPayoutTerminal', { hint: notDeclared(missing) });
      const terms = rows.map((one) => one.terms);
      const limit = largestLimitOf(terms, wanted.currency);
      if (limit === undefined) return refuse('noPayoutTerminal');
      const hint = `Pay out at most ${limit} minor units at once: no payout terminal takes more.`;
      return refuse('payoutTerminalLimit', { hint });
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
      return row && { route: { bankId: row.bank_id, terminal: terminalFrom(row) }, terms: row.terms };
    },
    /** Another installation may use its account too, so its report does not show what is lost here. */
    share: (id: string) => storeSharing(db, id, true),
    /** The bank a callback claims to come from. */
    bankNamed: (id: string) => banks.get(id),
    /** Those that this node sends nothing new. */
    away: () => health.away(),
    /** Asks each silent bank about an operation that never was, which changes nothing there. Its answer is heard like any other. */
    async probe() {
      const probes = health.toProbe().map(async (id) => {
        const bank = await banks.get(id);
        const operationId = `probe.${epochMsOf(clock.now())}`;
        await bank?.inquire({ operationId, terminal: terminalOfProbe(id) });
      });
      await Promise.all(probes);
    },
    /** Reads it again: whether it is stopped has changed. */
    async forget(id: string) {
      banks.forget(id);
      await banks.get(id);
    },
    async stop() {
      await Promise.all([...adapters.values()].map(({ bank }) => bank.stop()));
    },
  };
}

export type TerminalRefusal = 'operationNotPermitted' | 'threeDSecureNotOffered' | 'notOfferedByBank';

function noTerminal(missing: string | undefined) {
  if (missing === 'authentication hosted') return refuse('threeDSecureNotOffered');
  if (missing !== undefined) return refuse('notOfferedByBank', { hint: notDeclared(missing) });
  const message = 'The shop has no terminal at a bank. Ask the operator to add one.';
  return refuse('operationNotPermitted', { message });
}

/** In the words of the bank protocol. */
function notDeclared(missing: string): string {
  return `No bank that could be used declares "${missing}".`;
}

function terminalOfProbe(bankId: string): Terminal {
  return { id: 'PROBE', bankId, merchantId: 'PROBE', descriptor: 'PROBE' };
}

type ShopTerminalRow = Values<typeof shopTerminals.read.row>;
type TerminalRow = Omit<ShopTerminalRow, 'paused_until' | 'paused_because'>;

function inUse<Row extends TerminalRow>(rows: readonly Row[]): Row[] {
  return rows.filter(({ is_retired }) => !is_retired);
}

function notPaused(rows: readonly ShopTerminalRow[], now: Instant): ShopTerminalRow[] {
  return rows.filter(({ paused_until: until }) => until === null || until <= now);
}

/** When the first terminal takes charges again. Undefined if one does now. */
function pauseEndOf(rows: readonly ShopTerminalRow[], now: Instant): Instant | undefined {
  if (notPaused(rows, now).length > 0) return undefined;
  return rows.flatMap(({ paused_until: until }) => until ?? []).sort()[0];
}

function terminalFrom(row: Omit<TerminalRow, 'is_retired'>): Terminal {
  return {
    id: row.terminal_id,
    bankId: row.bank_id,
    merchantId: row.merchant_id,
    descriptor: row.descriptor,
  };
}

/** Binds the secret to the URL: changing the URL in the database alone cannot redirect card numbers. */
function secretContext({ id, url }: { id: string; url: string }): string {
  return JSON.stringify(['bank', id, url]);
}
