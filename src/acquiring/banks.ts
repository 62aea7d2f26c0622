// Selects the bank for a shop's payments and for a party's payouts: the first terminal by priority whose bank is reachable.
// Banks are rows with encrypted secrets, and their adapters are opened on first use.
import { epochMsOf, type Clock } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { ttlCache } from '../platform/database/ttl-cache.ts';
import type { Values } from '../platform/database/statement.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import { decrypt, encrypt } from '../platform/keys/master-key.ts';
import type { Bank, Terminal } from './domain/bank-port.ts';
import { openBankHealth } from './bank-health.ts';
import { observed, type Listener } from './observed-bank.ts';
import { payoutTerminals, readBank, shopTerminals, upsertBank } from './store/banks.ts';

export type Banks = ReturnType<typeof openBanks>;

type ShopName = { readonly partyId: string; readonly shopId: string };
export type BankSettings = { readonly id: string; readonly url: string; readonly secret: string };

export type NewTerminal = Terminal & {
  readonly partyId: string;
  readonly shopId: string;
  readonly priority: number;
};

export type NewPayoutTerminal = Omit<NewTerminal, 'shopId'>;

const maxAgeMs = 1_000;
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
}) {
  const { db, lookups, clock, keyring, adapterFor, observe } = options;
  const health = openBankHealth(() => epochMsOf(clock.now()));
  const adapters = new Map<string, { readonly url: string; readonly secret: string; readonly bank: Bank }>();

  const ofShops = ttlCache({
    maxAgeMs,
    maxEntries: 10_000,
    load: (name: string) => {
      const [party_id, shop_id] = JSON.parse(name) as [string, string];
      return lookups.run(shopTerminals.read, { party_id, shop_id });
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
    const bank = observed(adapterFor(settings), (asked, answer, seconds) => {
      health.hear(id, answer);
      observe(id, asked, answer, seconds);
    });
    adapters.set(id, { url, secret, bank });
    return bank;
  }

  const shopKey = ({ partyId, shopId }: ShopName) => JSON.stringify([partyId, shopId]);
  /** Call it only to use the bank it returns: after a pause, that request is the probe. */
  const notAway = (rows: readonly TerminalRow[]) => rows.find(({ bank_id }) => health.mayTry(bank_id));
  /** The first terminal when all banks are unreachable. */
  const firstOf = (rows: readonly TerminalRow[]) => notAway(rows) ?? rows[0];

  const rowOf = (terminal: NewPayoutTerminal) => ({
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
    const rows = await db.run(payoutTerminals.upsert, rowOf(terminal));
    ofPayouts.forget(terminal.partyId);
    return rows.length > 0;
  }

  return {
    /** Undefined when the shop has no terminal in use. */
    async terminalOf({ partyId, id }: { readonly partyId: string; readonly id: string }) {
      const row = firstOf(inUse(await ofShops.get(shopKey({ partyId, shopId: id }))));
      return row && terminalFrom(row);
    },
    /** Undefined when all banks of the shop are unreachable. */
    async alternateTerminal(shop: ShopName) {
      const row = notAway(inUse(await ofShops.get(shopKey(shop))));
      return row && terminalFrom(row);
    },
    /** Takes the terminal stored with an operation, so that the operation stays with its bank. */
    async bankOf({ bankId }: Terminal): Promise<Bank> {
      const bank = await banks.get(bankId);
      if (!bank)
        throw new Error(`Bank ${bankId} not found. Add it again: mandate bank add ${bankId} --url ….`);
      return bank;
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
    /** Undefined when the party has no payout terminal in use. */
    async payoutRouteOf(partyId: string) {
      const row = firstOf(inUse(await ofPayouts.get(partyId)));
      return row && { bankId: row.bank_id, terminal: terminalFrom(row) };
    },
    /** The bank a callback claims to come from. */
    bankNamed: (id: string) => banks.get(id),
    async stop() {
      await Promise.all([...adapters.values()].map(({ bank }) => bank.stop()));
    },
  };
}

type TerminalRow = Values<typeof payoutTerminals.read.row>;

function inUse(rows: readonly TerminalRow[]): TerminalRow[] {
  return rows.filter(({ is_retired }) => !is_retired);
}

function terminalFrom(row: TerminalRow): Terminal {
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
