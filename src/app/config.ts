// The settings of the program, all of them: from the environment, checked once at the start, every fault named at the
// same time. docs/operations/configuration.md is printed from this table.
import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import { parseMasterKey } from '../platform/keys/master-key.ts';
import { mailServerIn } from '../platform/mail/mail-settings.ts';
import { isKnownCurrency, largestAmountMinor } from '../money.ts';

/** What the settings below come to. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

export type Setting = {
  readonly name: string;
  readonly byDefault: string;
  /** Of a whole number: the least and the most. */
  readonly range?: readonly [number, number];
  readonly meaning: string;
  readonly secret?: true;
};

export const settings = [
  {
    name: 'MANDATE_MODE',
    byDefault: 'sandbox',
    meaning: '`sandbox`: a whole world with test money on one machine. `live`: real money.',
  },
  { name: 'HOST', byDefault: '127.0.0.1', meaning: 'The address to listen on.' },
  {
    name: 'PORT',
    byDefault: '8080',
    range: [0, 65_535],
    meaning: 'The port to listen on; 0 takes a free one.',
  },
  {
    name: 'PUBLIC_URL',
    byDefault: 'http://HOST:PORT',
    meaning:
      'How clients and payers reach the service, if that is through a proxy or HOST is all addresses of a machine.',
  },
  {
    name: 'MANDATE_DATA',
    byDefault: './data',
    meaning: "The folder for the private PostgreSQL, the sandbox's facts and its keys.",
  },
  {
    name: 'DATABASE_URL',
    byDefault: 'a private PostgreSQL in MANDATE_DATA',
    meaning:
      'The PostgreSQL (15 or newer) to use. Live mode demands one. Without `?sslmode=verify-full&sslrootcert=<file>` at its end ' +
      'nothing is encrypted ([TLS](database.md#tls)).',
    secret: true,
  },
  {
    name: 'MANDATE_POSTGRES_BIN',
    byDefault: 'the bundled binaries',
    meaning: 'The folder with `postgres` and `initdb` for the private PostgreSQL.',
  },
  {
    name: 'DATABASE_CONNECTIONS',
    byDefault: '10',
    range: [3, 200],
    meaning:
      'The most connections one node opens. Two to four for each core of the database, over all nodes, is enough.',
  },
  {
    name: 'DATABASE_PREPARED_STATEMENTS',
    byDefault: 'on',
    meaning:
      '`off` behind a PgBouncer in transaction mode that is older than 1.21 or has no `max_prepared_statements`: a little slower.',
  },
  {
    name: 'MANDATE_MASTER_KEY',
    byDefault: 'made in the sandbox',
    meaning:
      'The key that wraps all others: 32 bytes in base64 (`openssl rand -base64 32`). Live mode demands it.',
    secret: true,
  },
  {
    name: 'TRUSTED_PROXIES',
    byDefault: 'none',
    meaning: 'Addresses or networks, separated by commas, whose X-Forwarded-For is believed.',
  },
  {
    name: 'REQUESTS_PER_SECOND',
    byDefault: '2000',
    range: [0, 1_000_000],
    meaning: 'For each API key or access token and node, with a burst of twice that; 0 for no limit.',
  },
  {
    name: 'FAILED_AUTHENTICATIONS_PER_MINUTE',
    byDefault: '600',
    range: [0, 1_000_000],
    meaning:
      'For each address, of IPv6 each /64, and node; 0 for no limit. Beyond it keys that have not worked on that node yet ' +
      'are not looked up: behind a proxy, set TRUSTED_PROXIES.',
  },
  {
    name: 'CARD_TESTING_LIMITS',
    byDefault: 'off in the sandbox, on in live mode',
    meaning: '`on` or `off`: whether a payer may enter only a few different cards before he has to wait.',
  },
  {
    name: 'BINDING_VERIFICATION_CHARGES',
    byDefault: 'RUB=1000,USD=100,EUR=100',
    meaning:
      'What is charged and refunded to verify a card before it is bound: currencies and minor units. In others no card is bound.',
  },
  {
    name: 'BINDINGS_PER_CUSTOMER_PER_DAY',
    byDefault: '0 in the sandbox, 5 in live mode',
    range: [0, 10_000],
    meaning: 'How many cards may be tried for one customer within 24 hours; 0 for no limit.',
  },
  {
    name: 'BINDINGS_PER_CARD_PER_DAY',
    byDefault: '0 in the sandbox, 9 in live mode',
    range: [0, 10_000],
    meaning: 'How often one card may be tried within 24 hours, for whatever customer; 0 for no limit.',
  },
  {
    name: 'BANK_URL',
    byDefault: 'the simulated bank',
    meaning:
      'Sandbox only: a bank outside, for instance `mandate bank` or your own, that speaks our protocol.',
  },
  {
    name: 'BANK_SECRET',
    byDefault: 'made in the data folder',
    meaning:
      'What a bank and the service sign their messages with: of the bank outside in a sandbox, and for `mandate bank add` ' +
      'and `conformance`.',
    secret: true,
  },
  {
    name: 'BANK_PORT',
    byDefault: 'a free one',
    range: [0, 65_535],
    meaning: 'Sandbox only: the port of the simulated bank.',
  },
  {
    name: 'WEBHOOK_ADDRESSES',
    byDefault: 'anywhere in the sandbox, outside in live mode',
    meaning:
      '`outside`: webhooks go to public https addresses alone, checked at every connection. `anywhere`: also into your own network.',
  },
  {
    name: 'WEBHOOK_TIMEOUT_SECONDS',
    byDefault: '10',
    range: [1, 15],
    meaning: 'How long a receiver of webhooks has to answer, from connecting to the head of its answer.',
  },
  {
    name: 'WEBHOOK_DELAYS_SECONDS',
    byDefault: '30, 300, 900, then 3600 for a day',
    meaning:
      'The seconds before the second attempt of a delivery, the third and so on, separated by commas. After the last one the queue is parked.',
  },
  {
    name: 'SMTP_URL',
    byDefault: 'no receipts are mailed',
    meaning:
      'The mail server receipts go through: `smtps://user:password@host` (port 465), or `smtp://…` (port 587), which demands STARTTLS ' +
      'unless the host is this machine. Signs of user and password that mean something in an address are written as `%40`.',
    secret: true,
  },
  {
    name: 'SMTP_FROM',
    byDefault: 'none',
    meaning:
      'From whom receipts come: `receipts@example.com`, or `Example <receipts@example.com>`. SMTP_URL demands it.',
  },
  {
    name: 'SMTP_TIMEOUT_SECONDS',
    byDefault: '20',
    range: [1, 40],
    meaning:
      'How long the mail server may take for a letter, from connecting to its last word. Then it is tried again later.',
  },
  {
    name: 'OPENING_DEPOSIT',
    byDefault: '100000000',
    range: [0, 999_999_999],
    meaning: 'Sandbox only: what a new wallet has on it, in minor units; 0 for nothing.',
  },
  {
    name: 'METRICS_TOKEN',
    byDefault: 'open in the sandbox, closed in live mode',
    meaning: 'The bearer token that /metrics asks for.',
    secret: true,
  },
  { name: 'LOG_LEVEL', byDefault: 'info', meaning: '`debug`, `info`, `warn`, `error` or `silent`.' },
] as const satisfies readonly Setting[];

type Name = (typeof settings)[number]['name'];
type WholeNumber = Extract<(typeof settings)[number], { readonly range: unknown }>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Every fault of the environment at once, each with what to do about it. */
class ConfigurationFault extends Error {
  constructor(faults: readonly string[]) {
    super(`the environment is not usable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  }
}

export function readConfig(environment: Environment, workingFolder: string) {
  const faults: string[] = [];
  const text = (name: Name): string | undefined => environment[name] || undefined;

  function oneOf<const Value extends string>(name: Name, values: readonly Value[], byDefault: Value): Value {
    const value = text(name);
    const found = values.find((known) => known === value);
    if (value !== undefined && !found)
      faults.push(`${name} is ${value}; it must be one of ${values.join(', ')}`);
    return found ?? byDefault;
  }

  function integer(name: WholeNumber['name'], byDefault: number): number {
    const setting = settings.find((one) => one.name === name) as WholeNumber;
    const [least, most] = setting.range;
    const value = text(name);
    if (value === undefined) return byDefault;
    const number = /^\d{1,9}$/.test(value) ? Number(value) : NaN;
    if (number >= least && number <= most) return number;
    faults.push(`${name} is ${value}; it must be a whole number from ${least} to ${most}`);
    return byDefault;
  }

  function secondsList(name: Name): number[] | undefined {
    const value = text(name);
    if (value === undefined) return undefined;
    const numbers = value
      .split(',')
      .map((part) => (/^\s*\d{1,6}(\.\d{1,3})?\s*$/.test(part) ? Number(part) : NaN));
    if (numbers.length <= 100 && !numbers.some(Number.isNaN)) return numbers;
    faults.push(`${name} is ${value}; it must be seconds separated by commas, at most 100 of them`);
    return undefined;
  }

  const mode = oneOf('MANDATE_MODE', ['sandbox', 'live'], 'sandbox');
  const host = text('HOST') ?? '127.0.0.1';
  const port = integer('PORT', 8080);
  const databaseUrl = text('DATABASE_URL');
  const keyText = text('MANDATE_MASTER_KEY');
  const masterKey = keyText === undefined ? undefined : parseMasterKey(keyText);
  const dataFolder = text('MANDATE_DATA') ?? './data';

  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    faults.push('DATABASE_URL must begin with postgres:// or postgresql://');
  }
  if (keyText !== undefined && !masterKey) {
    faults.push('MANDATE_MASTER_KEY must be 32 bytes in base64; `openssl rand -base64 32` makes one');
  }
  if (mode === 'live' && databaseUrl === undefined) {
    faults.push('live mode needs DATABASE_URL: the private PostgreSQL is for trying out');
  }
  if (mode === 'live' && keyText === undefined) {
    faults.push(
      'live mode needs MANDATE_MASTER_KEY; `openssl rand -base64 32` makes one, keep it apart from the backups',
    );
  }

  const publicUrl = text('PUBLIC_URL') ?? `http://${reachable(host)}:${port}`;
  if (!/^https?:\/\//.test(publicUrl) || !URL.canParse(publicUrl)) {
    faults.push(`PUBLIC_URL is ${publicUrl}; it must be an address that begins with http:// or https://`);
  }

  const trustedProxies = (text('TRUSTED_PROXIES') ?? '').split(',').flatMap((entry) => entry.trim() || []);
  for (const entry of trustedProxies.filter((entry) => !isNetwork(entry))) {
    faults.push(`TRUSTED_PROXIES has ${entry}; it must be an address or a network like 10.0.0.0/8`);
  }

  // Ignored, it would have cards charged amounts that the operator has not agreed to.
  if ('BINDING_TEST_CHARGES' in environment)
    faults.push('BINDING_TEST_CHARGES is now called BINDING_VERIFICATION_CHARGES; rename it');

  function verificationCharges(): ReadonlyMap<string, bigint> {
    const found = new Map<string, bigint>();
    for (const entry of (text('BINDING_VERIFICATION_CHARGES') ?? 'RUB=1000,USD=100,EUR=100').split(',')) {
      const [, currency = '', minor = '0'] = /^\s*([A-Z]{3})=(\d{1,12})\s*$/.exec(entry) ?? [];
      const amount = BigInt(minor);
      if (isKnownCurrency(currency) && amount >= 1n && amount <= largestAmountMinor)
        found.set(currency, amount);
      else
        faults.push(
          `BINDING_VERIFICATION_CHARGES has ${entry}; it must be a currency and minor units, like RUB=1000`,
        );
    }
    return found;
  }

  const mail = mailServerIn({
    url: text('SMTP_URL'),
    from: text('SMTP_FROM'),
    timeoutMs: integer('SMTP_TIMEOUT_SECONDS', 20) * 1_000,
  });
  if (mail && 'fault' in mail) faults.push(mail.fault);

  const config = {
    mode,
    host,
    port,
    publicUrl: publicUrl.replace(/\/$/, ''),
    dataFolder: isAbsolute(dataFolder) ? dataFolder : resolve(workingFolder, dataFolder),
    databaseUrl,
    postgresBin: text('MANDATE_POSTGRES_BIN'),
    databaseConnections: integer('DATABASE_CONNECTIONS', 10),
    preparedStatements: oneOf('DATABASE_PREPARED_STATEMENTS', ['on', 'off'], 'on') === 'on',
    /** Absent in a sandbox, which makes its own and keeps it in the data folder. */
    masterKey,
    trustedProxies,
    requestsPerSecond: integer('REQUESTS_PER_SECOND', 2_000),
    failedAuthenticationsPerMinute: integer('FAILED_AUTHENTICATIONS_PER_MINUTE', 600),
    cardTestingLimits: oneOf('CARD_TESTING_LIMITS', ['on', 'off'], mode === 'live' ? 'on' : 'off') === 'on',
    bindingVerificationCharges: verificationCharges(),
    bindingsPerCustomer: integer('BINDINGS_PER_CUSTOMER_PER_DAY', mode === 'live' ? 5 : 0),
    bindingsPerCard: integer('BINDINGS_PER_CARD_PER_DAY', mode === 'live' ? 9 : 0),
    bankUrl: text('BANK_URL'),
    bankSecret: text('BANK_SECRET'),
    bankPort: integer('BANK_PORT', 0),
    webhookAddresses: oneOf(
      'WEBHOOK_ADDRESSES',
      ['outside', 'anywhere'],
      mode === 'live' ? 'outside' : 'anywhere',
    ),
    webhookTimeoutMs: integer('WEBHOOK_TIMEOUT_SECONDS', 10) * 1_000,
    webhookDelaysSeconds: secondsList('WEBHOOK_DELAYS_SECONDS'),
    mailServer: mail && 'server' in mail ? mail.server : undefined,
    openingDepositMinor: BigInt(integer('OPENING_DEPOSIT', 100_000_000)),
    metricsToken: text('METRICS_TOKEN'),
    logLevel: oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
  };
  if (faults.length > 0) throw new ConfigurationFault(faults);
  return config;
}

/** Who listens on all addresses is reached on this one, from the same machine. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  const maxBits = version === 4 ? 32 : 128;
  return (
    version !== 0 &&
    more.length === 0 &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits))
  );
}
