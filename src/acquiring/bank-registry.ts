// The banks by their ID: rows with encrypted secrets, whose adapters are opened on first use.
import { epochMsOf, type Clock, type Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { defined } from '../defined.ts';
import { ttlCache } from '../platform/database/ttl-cache.ts';
import type { Values } from '../platform/database/statement.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { BankHealth } from './health/bank-health.ts';
import { decryptSecret, encryptSecret, type BankSettings } from './bank-secret.ts';
import type { Bank, Terminal } from './domain/bank-port.ts';
import { observed, type Listener } from './health/observed-bank.ts';
import { readBank, storeAbilities, upsertBank } from './store/banks.ts';

/** Its exchange log may have lost operations, so nothing is sent until an operator confirms (exchange-log/witness.ts). */
export function stoppedAnswer(id: string) {
  const why = `the bank is stopped until an operator runs "mandate bank confirm ${id}"`;
  return { outcome: 'notSent', why, noBytesSent: true } as const;
}

const maxAgeMs = 1_000;

export type BankRegistryOptions = {
  readonly db: Database;
  /** The read-only pool, so that no transaction is needed. */
  readonly lookups: Pick<Database, 'run'>;
  readonly clock: Clock;
  readonly keyring: Keyring;
  /** Opens the adapter for a bank's address and secret. It calls `onSaid` with what the bank says it can do. */
  readonly adapterFor: (bank: BankSettings, onSaid: (abilities: string) => Promise<unknown>) => Bank;
  /** Called after each request to a bank. */
  readonly observe: (bankId: string, ...heard: Parameters<Listener>) => void;
};

export type BankRegistry = ReturnType<typeof openBankRegistry>;

export function openBankRegistry(options: BankRegistryOptions, health: BankHealth) {
  const { db, lookups, clock, keyring } = options;
  const { stopped, held, note } = openConditions();
  const adapters = openAdapters(options, health, stopped, (id) => banks.get(id));
  const banks = ttlCache({ maxAgeMs, maxEntries: 1_000, load: bankWith });

  /** Lets an operator change the URL or the secret and keep the other. Never display the secret. */
  async function settingsOf(id: string): Promise<BankSettings | undefined> {
    const [row] = await lookups.run(readBank, { bank_id: id });
    if (row) note(id, row);
    return row && settingsFrom(keyring, id, row);
  }

  async function bankWith(id: string): Promise<Bank | undefined> {
    const settings = await settingsOf(id);
    return settings && adapters.of(settings);
  }

  return {
    settingsOf,
    /** Takes the terminal stored with an operation, so that the operation stays with its bank. */
    async bankOf({ bankId }: Terminal): Promise<Bank> {
      const bank = await banks.get(bankId);
      if (!bank)
        throw new Error(`Bank ${bankId} not found. Add it again: mandate bank add ${bankId} --url ….`);
      return bank;
    },
    /** The bank a callback claims to come from. */
    bankNamed: (id: string) => banks.get(id),
    isStopped: (id: string) => stopped.has(id),
    /** Until when it gets no charges that Mandate begins automatically. It may be over. */
    chargesHeldUntil: async (id: string) => ((await banks.get(id)) && held.get(id)) ?? null,
    waiting: adapters.waiting,
    sendAfter: adapters.sendAfter,
    /** Adds a bank, or changes its URL and secret. */
    async putBank(settings: BankSettings) {
      const { id, url } = settings;
      const encrypted = encryptSecret(keyring, settings);
      await db.run(upsertBank, { bank_id: id, url, ...encrypted, created_at: clock.now() });
      banks.forget(id);
    },
    /** Reads it again: whether it is stopped has changed. */
    async forget(id: string) {
      banks.forget(id);
      await banks.get(id);
    },
    stopWaiting: adapters.stopWaiting,
    stop: adapters.stop,
  };
}

/** What the rows say of the banks besides their settings. */
function openConditions() {
  const stopped = new Set<string>();
  const held = new Map<string, Instant | null>();
  return {
    stopped,
    held,
    note(id: string, row: Pick<Values<typeof readBank.row>, 'is_stopped' | 'charges_held_until'>): void {
      if (row.is_stopped) stopped.add(id);
      else stopped.delete(id);
      held.set(id, row.charges_held_until);
    },
  };
}

async function settingsFrom(
  keyring: Keyring,
  id: string,
  row: Values<typeof readBank.row>,
): Promise<BankSettings> {
  const secret = await decryptSecret(keyring, id, row);
  return { id, url: row.url, secret, ...defined({ abilities: row.abilities ?? undefined }) };
}

/** One adapter for each bank, until its address or its secret changes. */
function openAdapters(
  { db, clock, adapterFor, observe }: BankRegistryOptions,
  health: BankHealth,
  stopped: ReadonlySet<string>,
  /** Whether it is stopped. */
  reread: (bankId: string) => Promise<unknown>,
) {
  const opened = new Map<string, { readonly url: string; readonly secret: string; readonly bank: Bank }>();
  const awaited = new Map<string, PromiseLike<unknown>>();
  return {
    of(settings: BankSettings): Bank {
      const { id, url, secret } = settings;
      const known = opened.get(id);
      if (known?.url === url && known.secret === secret) return known.bank;
      // Requests in progress finish on the old connections.
      void known?.bank.stop();
      const adapter = adapterFor(settings, (abilities) =>
        db.run(storeAbilities, { bank_id: id, url, abilities }),
      );
      const asked = observed(adapter, (kind, answer, seconds) => {
        health.hear(id, kind, answer, epochMsOf(clock.now()) - seconds * 1_000);
        observe(id, kind, answer, seconds);
      });
      const send = sendUnlessStopped(id, asked, { stopped, awaited, reread });
      const bank = { ...asked, send };
      opened.set(id, { url, secret, bank });
      // The bank that it replaces was known.
      if (known) bank.knownAbilities();
      return bank;
    },
    /** Sends the bank nothing before then: what its report says may stop it. `reading` never fails. */
    async sendAfter(id: string, reading: PromiseLike<unknown>): Promise<void> {
      awaited.set(id, reading);
      await reading;
      awaited.delete(id);
    },
    /** How many operations of this node wait for each bank that takes no more. */
    waiting: () => [...opened].map(([id, { bank }]) => [id, bank.waiting()] as const),
    stopWaiting: () => opened.forEach(({ bank }) => bank.stopWaiting()),
    async stop() {
      await Promise.all([...opened.values()].map(({ bank }) => bank.stop()));
    },
  };
}

type Stops = {
  readonly stopped: ReadonlySet<string>;
  /** Reports that may stop a bank, while they are read. */
  readonly awaited: ReadonlyMap<string, PromiseLike<unknown>>;
  readonly reread: (bankId: string) => Promise<unknown>;
};

/** Outside of what is observed: a bank that is not asked says nothing about its health. */
function sendUnlessStopped(id: string, asked: Bank, { stopped, awaited, reread }: Stops): Bank['send'] {
  async function takesStill(): Promise<boolean> {
    await Promise.all([awaited.get(id), reread(id)]);
    return !stopped.has(id);
  }
  const sendNow: Bank['send'] = (operation, mayStill = () => true, isTooLate) =>
    stopped.has(id)
      ? Promise.resolve(stoppedAnswer(id))
      : asked.send(operation, async () => (await takesStill()) && mayStill(), isTooLate);
  return (...sent) => {
    const reading = awaited.get(id);
    return reading ? Promise.resolve(reading).then(() => sendNow(...sent)) : sendNow(...sent);
  };
}
