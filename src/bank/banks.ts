// Which bank serves whom. A shop has terminals, each with a bank; the first by priority whose bank is not known to be away is
// used. Banks are rows, their secrets sealed; adapters are opened when they are first needed.
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { recentReads } from '../database/recent-reads.ts';
import { statement } from '../database/statement.ts';
import type { Keyring } from '../keys/keyring.ts';
import { open, seal } from '../keys/master-key.ts';
import type { Bank, Terminal } from './bank.ts';

export type Banks = {
  /** Undefined when no bank takes cards for the shop. */
  terminalOf(shop: { readonly partyId: string; readonly id: string }): Promise<Terminal | undefined>;
  /** Where an operation is, once its terminal is chosen: a terminal that moves to another bank does not take it along. */
  bankOf(terminal: Terminal): Promise<Bank>;
  /** Adds a bank, or changes where it is. */
  putBank(bank: BankSettings): Promise<void>;
  /** Where a bank is and what it signs with. Not for showing. */
  settingsOf(id: string): Promise<BankSettings | undefined>;
  /** Every bank there is. */
  addresses(): Promise<readonly Omit<BankSettings, 'secret'>[]>;
  putTerminal(terminal: NewTerminal): Promise<void>;
  /** The bank a callback claims to come from. */
  bankNamed(id: string): Promise<Bank | undefined>;
  stop(): Promise<void>;
};

export type BankSettings = { readonly id: string; readonly url: string; readonly secret: string };

export type NewTerminal = Terminal & {
  readonly partyId: string;
  readonly shopId: string;
  readonly priority: number;
};

const maxAgeMs = 1_000;

const readTerminals = statement({
  name: 'read_terminals',
  parameters: { party_id: 'text', shop_id: 'text' },
  row: { terminal_id: 'text', bank_id: 'text', merchant_id: 'text', descriptor: 'text' },
  text: `select terminal_id, bank_id, merchant_id, descriptor from terminal
         where party_id = :party_id and shop_id = :shop_id order by priority, terminal_id`,
});

const readBank = statement({
  name: 'read_bank',
  parameters: { bank_id: 'text' },
  row: { url: 'text', sealed_secret: 'bytea', seal_generation: 'int4' },
  text: 'select url, sealed_secret, seal_generation from bank where bank_id = :bank_id',
});

const listBankAddresses = statement({
  name: 'list_bank_addresses',
  parameters: {},
  row: { bank_id: 'text', url: 'text' },
  text: 'select bank_id, url from bank order by bank_id',
});

const upsertBank = statement({
  name: 'upsert_bank',
  parameters: {
    bank_id: 'text',
    url: 'text',
    sealed_secret: 'bytea',
    seal_generation: 'int4',
    created_at: 'timestamptz',
  },
  row: {},
  text: `insert into bank (bank_id, url, sealed_secret, seal_generation, created_at)
         values (:bank_id, :url, :sealed_secret, :seal_generation, :created_at)
         on conflict (bank_id) do update set url = excluded.url, sealed_secret = excluded.sealed_secret,
                                             seal_generation = excluded.seal_generation`,
});

const upsertTerminal = statement({
  name: 'upsert_terminal',
  parameters: {
    party_id: 'text',
    shop_id: 'text',
    terminal_id: 'text',
    bank_id: 'text',
    merchant_id: 'text',
    descriptor: 'text',
    priority: 'int4',
    created_at: 'timestamptz',
  },
  row: {},
  text: `insert into terminal
           (party_id, shop_id, terminal_id, bank_id, merchant_id, descriptor, priority, created_at)
         values
           (:party_id, :shop_id, :terminal_id, :bank_id, :merchant_id, :descriptor, :priority, :created_at)
         on conflict (party_id, shop_id, terminal_id) do update
           set bank_id = excluded.bank_id, merchant_id = excluded.merchant_id,
               descriptor = excluded.descriptor, priority = excluded.priority`,
});

export function openBanks(options: {
  db: Database;
  /** On connections nobody holds. */
  lookups: Pick<Database, 'run'>;
  clock: Clock;
  keyring: Keyring;
  /** Opens the adapter for a bank's address and secret. */
  adapterFor: (bank: BankSettings) => Bank;
}): Banks {
  const { db, lookups, clock, keyring, adapterFor } = options;
  const adapters = new Map<string, { readonly url: string; readonly secret: string; readonly bank: Bank }>();

  const terminals = recentReads({
    maxAgeMs,
    entriesMost: 10_000,
    load: (name: string) => {
      const [party_id, shop_id] = JSON.parse(name) as [string, string];
      return lookups.run(readTerminals, { party_id, shop_id });
    },
  });
  const banks = recentReads({ maxAgeMs, entriesMost: 1_000, load: bankWith });

  async function settingsOf(id: string): Promise<BankSettings | undefined> {
    const [row] = await lookups.run(readBank, { bank_id: id });
    if (!row) return undefined;
    const key = await keyring.find('bank_secret', row.seal_generation);
    if (!key) throw new Error(`the secret of bank ${id} cannot be opened`);
    return { id, url: row.url, secret: open(key.secret, row.sealed_secret, id).toString() };
  }

  async function bankWith(id: string): Promise<Bank | undefined> {
    const settings = await settingsOf(id);
    if (!settings) return undefined;
    const { url, secret } = settings;
    const known = adapters.get(id);
    if (known?.url === url && known.secret === secret) return known.bank;
    // What is under way on the old connections ends there.
    void known?.bank.stop();
    const bank = adapterFor(settings);
    adapters.set(id, { url, secret, bank });
    return bank;
  }

  const terminalsOf = (partyId: string, shopId: string) => terminals.get(JSON.stringify([partyId, shopId]));

  return {
    async terminalOf(shop) {
      const [first] = await terminalsOf(shop.partyId, shop.id);
      return (
        first && {
          id: first.terminal_id,
          bankId: first.bank_id,
          merchantId: first.merchant_id,
          descriptor: first.descriptor,
        }
      );
    },
    async bankOf({ bankId }) {
      const bank = await banks.get(bankId);
      if (!bank) throw new Error(`there is no bank ${bankId} any more`);
      return bank;
    },
    async putBank({ id, url, secret }) {
      const key = keyring.newest('bank_secret');
      await db.run(upsertBank, {
        bank_id: id,
        url,
        sealed_secret: seal(key.secret, Buffer.from(secret), id),
        seal_generation: key.generation,
        created_at: clock.now(),
      });
      banks.forget(id);
    },
    async putTerminal(terminal) {
      await db.run(upsertTerminal, {
        party_id: terminal.partyId,
        shop_id: terminal.shopId,
        terminal_id: terminal.id,
        bank_id: terminal.bankId,
        merchant_id: terminal.merchantId,
        descriptor: terminal.descriptor,
        priority: terminal.priority,
        created_at: clock.now(),
      });
      terminals.forget(JSON.stringify([terminal.partyId, terminal.shopId]));
    },
    settingsOf,
    async addresses() {
      return (await db.run(listBankAddresses, {})).map(({ bank_id: id, url }) => ({ id, url }));
    },
    bankNamed: (id) => banks.get(id),
    async stop() {
      await Promise.all([...adapters.values()].map(({ bank }) => bank.stop()));
    },
  };
}
