// All settings of the program. They come from the environment and are checked once, at the start.
// docs/operations/configuration.md is printed from this table.
import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import { parseMasterKey } from '../platform/keys/master-key.ts';
import { mailServerIn } from '../platform/mail/mail-settings.ts';
import { isKnownCurrency, largestAmountMinor } from '../money.ts';
import { isUnverified, liveModeFaults } from './settings/live-mode-faults.ts';
import { misspeltSettings, type MisspeltSetting } from './settings/misspelt-settings.ts';

/** The values that the settings below lead to. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

export type Setting = {
  readonly name: string;
  readonly byDefault: string;
  /** The smallest and the largest whole number. */
  readonly range?: readonly [number, number];
  readonly meaning: string;
  readonly secret?: true;
};

export const settings = [
  {
    name: 'MANDATE_MODE',
    byDefault: 'sandbox',
    meaning: '`sandbox`: a simulated bank and test money on one machine. `live`: real money.',
  },
  {
    name: 'HOST',
    byDefault: '127.0.0.1',
    meaning: 'The address to listen on; `0.0.0.0` for all addresses of the machine.',
  },
  {
    name: 'PORT',
    byDefault: '8080',
    range: [0, 65_535],
    meaning: 'The port to listen on; 0 for any free port.',
  },
  {
    name: 'PUBLIC_URL',
    byDefault: 'http://HOST:PORT',
    meaning:
      'The address at which clients and payers reach the service. Set it if there is a proxy in front, or if HOST is `0.0.0.0`.',
  },
  {
    name: 'MANDATE_DATA',
    byDefault: './data',
    meaning: 'The folder for the private PostgreSQL, the keys of the sandbox and `sandbox.json`.',
  },
  {
    name: 'DATABASE_URL',
    byDefault: 'a private PostgreSQL in MANDATE_DATA',
    meaning:
      'The PostgreSQL to use, version 15 or later. Live mode requires it. The connection is encrypted only if the URL ends with ' +
      '`?sslmode=verify-full&sslrootcert=<file>` ([TLS](database.md#tls)). An `application_name` in it has no effect.',
    secret: true,
  },
  {
    name: 'DATABASE_UNVERIFIED',
    byDefault: 'off',
    meaning:
      '`on` lets live mode use a database on another machine without verified TLS. The start logs it. Only for a network that is yours.',
  },
  {
    name: 'SANDBOX_REAL_CARDS',
    byDefault: 'off',
    meaning:
      'Sandbox with BANK_URL only: `on` takes card numbers other than those of the simulated bank, and sends them to that bank.',
  },
  {
    name: 'MANDATE_POSTGRES_BIN',
    byDefault: 'the bundled programs',
    meaning: 'The folder with `postgres` and `initdb` for the private PostgreSQL.',
  },
  {
    name: 'DATABASE_CONNECTIONS',
    byDefault: '10',
    range: [3, 200],
    meaning:
      'The maximum number of connections of one node, which opens one more while its readiness is checked. Over all nodes, two to four for each core of the database are enough.',
  },
  {
    name: 'DATABASE_PREPARED_STATEMENTS',
    byDefault: 'on',
    meaning:
      'Set `off` behind PgBouncer in transaction mode if it is older than 1.21 or has no `max_prepared_statements`. Statements are then slightly slower.',
  },
  {
    name: 'MANDATE_MASTER_KEY',
    byDefault: 'created in the sandbox',
    meaning:
      'The key that encrypts all other keys: 32 bytes in base64. Create one with `openssl rand -base64 32`. Live mode requires it.',
    secret: true,
  },
  {
    name: 'TRUSTED_PROXIES',
    byDefault: 'none',
    meaning:
      'Addresses or networks of your proxies, separated by commas. Only theirs are `X-Forwarded-For`, `X-Forwarded-Proto` and ' +
      '`X-Forwarded-Host` believed, so they must replace those of the caller. `X-Real-IP` is believed if a proxy sends no ' +
      '`X-Forwarded-For`; it must then delete that of the caller. Their `Forwarded` is ignored. In live mode a proxy of a private ' +
      'network that is not listed is warned about, and limits still count each caller that it names.',
  },
  {
    name: 'REQUESTS_PER_SECOND',
    byDefault: '2000',
    range: [0, 1_000_000],
    meaning:
      'The limit for each API key on each node. Bursts may be twice as large. An access token has the same limit, and 20 at most. ' +
      'Requests that cannot be read are limited too. 0 for no limits.',
  },
  {
    name: 'MAX_CONNECTIONS',
    byDefault: '4000',
    range: [0, 1_000_000],
    meaning:
      'How many connections a node has open at the same time; 0 for no limit. One address (one /64 of IPv6) has half of them. ' +
      'Addresses in TRUSTED_PROXIES have all.',
  },
  {
    name: 'FAILED_AUTHENTICATIONS_PER_MINUTE',
    byDefault: '600',
    range: [0, 1_000_000],
    meaning:
      'The limit for each address (each /64 of IPv6) on each node; 0 for no limit. Above it further failures get 429, while good keys ' +
      'and access tokens keep working. Behind a proxy, also set TRUSTED_PROXIES.',
  },
  {
    name: 'STRICT_REQUEST_ID',
    byDefault: 'off',
    meaning:
      '`on` or `off`: whether a request without an `X-Request-ID` gets 400. With `off` the service makes one, which the response has.',
  },
  {
    name: 'CARD_TESTING_LIMITS',
    byDefault: 'on',
    meaning:
      '`on` or `off`: whether attempts of payers are limited by card, address and invoice. A shop in which too many cards are declined ' +
      'is guarded.',
  },
  {
    name: 'BINDING_VERIFICATION_CHARGES',
    byDefault: 'RUB=1000,USD=100,EUR=100',
    meaning:
      'The amounts that are charged and refunded when a card is saved, by currency, in minor units. In other currencies no card can be saved.',
  },
  {
    name: 'BINDINGS_PER_CUSTOMER_PER_DAY',
    byDefault: '0 in the sandbox, 5 in live mode',
    range: [0, 10_000],
    meaning: 'How many attempts to save a card one customer has within 24 hours; 0 for no limit.',
  },
  {
    name: 'BINDINGS_PER_CARD_PER_DAY',
    byDefault: '0 in the sandbox, 9 in live mode',
    range: [0, 10_000],
    meaning:
      'How many attempts to save it one card has within 24 hours, for all customers together; 0 for no limit.',
  },
  {
    name: 'BANK_URL',
    byDefault: 'the simulated bank',
    meaning:
      'Sandbox only: an external bank that keeps the bank protocol, such as `mandate bank` or your own gateway.',
  },
  {
    name: 'BANK_SECRET',
    byDefault: 'created in MANDATE_DATA',
    meaning:
      'The secret that the service and a bank sign their messages with. It is for BANK_URL, `mandate bank`, `mandate bank add` and ' +
      '`mandate bank conformance`.',
    secret: true,
  },
  {
    name: 'BANK_PORT',
    byDefault: 'a free port',
    range: [0, 65_535],
    meaning: 'Sandbox only: the port of the simulated bank.',
  },
  {
    name: 'WEBHOOK_ADDRESSES',
    byDefault: 'anywhere in the sandbox, outside in live mode',
    meaning:
      '`outside`: webhooks go only to public https addresses, which is checked for every connection. `anywhere`: also to private networks.',
  },
  {
    name: 'WEBHOOK_TIMEOUT_SECONDS',
    byDefault: '10',
    range: [1, 15],
    meaning: 'How long a webhook receiver may take, from the connection to the headers of its response.',
  },
  {
    name: 'WEBHOOK_DELAYS_SECONDS',
    byDefault: '30, 300, 900, then 3600 for a day',
    meaning:
      'The seconds before each further delivery attempt, separated by commas. After the last attempt the queue is parked.',
  },
  {
    name: 'SMTP_URL',
    byDefault: 'no receipts are mailed',
    meaning:
      'The mail server for receipts: `smtps://user:password@host` (port 465), or `smtp://…` (port 587). `smtp` requires STARTTLS ' +
      'unless the server is on this machine. Percent-encode reserved characters of user and password: `@` as `%40`.',
    secret: true,
  },
  {
    name: 'SMTP_FROM',
    byDefault: 'none',
    meaning:
      'The sender of receipts: `receipts@example.com`, or `Example <receipts@example.com>`. SMTP_URL requires it.',
  },
  {
    name: 'SMTP_TIMEOUT_SECONDS',
    byDefault: '20',
    range: [1, 40],
    meaning: 'How long the mail server may take for one email. After that the email is retried later.',
  },
  {
    name: 'OPENING_DEPOSIT',
    byDefault: '100000000',
    range: [0, 999_999_999],
    meaning: 'Sandbox only: the test money on a new wallet, in minor units; 0 for none.',
  },
  {
    name: 'METRICS_TOKEN',
    byDefault: 'open in the sandbox, closed in live mode',
    meaning: 'The bearer token that `/metrics` requires.',
    secret: true,
  },
  { name: 'LOG_LEVEL', byDefault: 'info', meaning: '`debug`, `info`, `warn`, `error` or `silent`.' },
] as const satisfies readonly Setting[];

export type SettingName = (typeof settings)[number]['name'];
type WholeNumber = Extract<(typeof settings)[number], { readonly range: unknown }>;
type Environment = Readonly<Record<string, string | undefined>>;

class ConfigurationFault extends Error {
  constructor(faults: readonly string[], misspelt: readonly string[]) {
    const list = (lines: readonly string[]) => lines.map((line) => `\n  - ${line}`).join('');
    const ignored =
      misspelt.length > 0 ? `\nThese names are not settings, and are ignored:${list(misspelt)}` : '';
    super(`Correct these settings in the environment:${list(faults)}${ignored}`);
  }
}

/** Names of the environment that are probably misspelt settings. */
export function misspeltIn(environment: Environment): MisspeltSetting[] {
  return misspeltSettings(
    environment,
    settings.map(({ name }) => name),
  );
}

export function textOfMisspelt({ name, nearest }: MisspeltSetting): string {
  const hint = nearest === undefined ? '"mandate config" lists all settings.' : `Did you mean ${nearest}?`;
  return `${name} is not a setting. ${hint}`;
}

export function readConfig(environment: Environment, workingFolder: string) {
  const faults: string[] = [];
  const text = (name: SettingName): string | undefined => environment[name] || undefined;

  function oneOf<const Value extends string>(
    name: SettingName,
    values: readonly Value[],
    byDefault: Value,
  ): Value {
    const value = text(name);
    const found = values.find((known) => known === value);
    if (value !== undefined && !found)
      faults.push(`${name} is "${value}". Use one of: ${values.join(', ')}.`);
    return found ?? byDefault;
  }

  function integer(name: WholeNumber['name'], byDefault: number): number {
    const setting = settings.find((one) => one.name === name) as WholeNumber;
    const [min, max] = setting.range;
    const value = text(name);
    if (value === undefined) return byDefault;
    const number = /^\d{1,9}$/.test(value) ? Number(value) : NaN;
    if (number >= min && number <= max) return number;
    faults.push(`${name} is "${value}". Use a whole number from ${min} to ${max}.`);
    return byDefault;
  }

  function secondsList(name: SettingName): number[] | undefined {
    const value = text(name);
    if (value === undefined) return undefined;
    const numbers = value
      .split(',')
      .map((part) => (/^\s*\d{1,6}(\.\d{1,3})?\s*$/.test(part) ? Number(part) : NaN));
    if (numbers.length <= 100 && !numbers.some(Number.isNaN)) return numbers;
    faults.push(`${name} is "${value}". Use seconds separated by commas, at most 100 of them.`);
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
    faults.push('DATABASE_URL is not a PostgreSQL address. Begin it with postgres:// or postgresql://.');
  } else if (databaseUrl !== undefined && !canDriverParse(databaseUrl)) {
    faults.push(
      'DATABASE_URL cannot be parsed. Percent-encode reserved characters of user and password, such as `@` as `%40`.',
    );
  }
  if (keyText !== undefined && !masterKey) {
    faults.push('MANDATE_MASTER_KEY is not 32 bytes in base64. Create one with `openssl rand -base64 32`.');
  }
  if (mode === 'live' && databaseUrl === undefined) {
    faults.push(
      'DATABASE_URL is not set. Live mode requires one: the private PostgreSQL is for the sandbox.',
    );
  }
  if (mode === 'live' && keyText === undefined) {
    faults.push(
      'MANDATE_MASTER_KEY is not set. Live mode requires it: create one with `openssl rand -base64 32`, and keep it apart from the backups.',
    );
  }

  const takesUnverifiedDatabase = oneOf('DATABASE_UNVERIFIED', ['on', 'off'], 'off') === 'on';
  const rejectUnauthorized = environment['NODE_TLS_REJECT_UNAUTHORIZED'];
  const usualHost = environment['PGHOST'];
  if (mode === 'live')
    faults.push(
      ...liveModeFaults({ masterKey, databaseUrl, usualHost, takesUnverifiedDatabase, rejectUnauthorized }),
    );

  const publicUrl = text('PUBLIC_URL') ?? `http://${reachable(host)}:${port}`;
  const bankUrl = text('BANK_URL');
  faults.push(...addressFaults('PUBLIC_URL', publicUrl), ...addressFaults('BANK_URL', bankUrl));

  const trustedProxies = (text('TRUSTED_PROXIES') ?? '').split(',').flatMap((entry) => entry.trim() || []);
  for (const entry of trustedProxies.filter((entry) => !isNetwork(entry))) {
    faults.push(`TRUSTED_PROXIES has "${entry}". Use addresses or networks such as 10.0.0.0/8.`);
  }

  // If it were ignored, cards would be charged amounts that the operator did not choose.
  if ('BINDING_TEST_CHARGES' in environment)
    faults.push('BINDING_TEST_CHARGES is now called BINDING_VERIFICATION_CHARGES. Rename it.');

  function verificationCharges(): ReadonlyMap<string, bigint> {
    const found = new Map<string, bigint>();
    for (const entry of (text('BINDING_VERIFICATION_CHARGES') ?? 'RUB=1000,USD=100,EUR=100').split(',')) {
      const [, currency = '', minor = '0'] = /^\s*([A-Z]{3})=(\d{1,12})\s*$/.exec(entry) ?? [];
      const amount = BigInt(minor);
      if (isKnownCurrency(currency) && amount >= 1n && amount <= largestAmountMinor)
        found.set(currency, amount);
      else
        faults.push(
          `BINDING_VERIFICATION_CHARGES has "${entry}". Use a currency and minor units, such as RUB=1000.`,
        );
    }
    return found;
  }

  const smtpTimeoutMs = integer('SMTP_TIMEOUT_SECONDS', 20) * 1_000;
  const mail = mailServerIn({ url: text('SMTP_URL'), from: text('SMTP_FROM'), timeoutMs: smtpTimeoutMs });
  if (mail && 'fault' in mail) faults.push(mail.fault);

  const config = {
    mode,
    host,
    port,
    publicUrl: publicUrl.replace(/\/$/, ''),
    dataFolder: isAbsolute(dataFolder) ? dataFolder : resolve(workingFolder, dataFolder),
    databaseUrl,
    isDatabaseUnverified: isUnverified(databaseUrl, usualHost),
    takesUnverifiedDatabase,
    realCards: oneOf('SANDBOX_REAL_CARDS', ['on', 'off'], 'off') === 'on',
    postgresBin: text('MANDATE_POSTGRES_BIN'),
    databaseConnections: integer('DATABASE_CONNECTIONS', 10),
    preparedStatements: oneOf('DATABASE_PREPARED_STATEMENTS', ['on', 'off'], 'on') === 'on',
    /** Undefined in a sandbox that created its own key in the data folder. */
    masterKey,
    trustedProxies,
    requestsPerSecond: integer('REQUESTS_PER_SECOND', 2_000),
    maxConnections: integer('MAX_CONNECTIONS', 4_000),
    failedAuthenticationsPerMinute: integer('FAILED_AUTHENTICATIONS_PER_MINUTE', 600),
    strictRequestId: oneOf('STRICT_REQUEST_ID', ['on', 'off'], 'off') === 'on',
    cardTestingLimits: oneOf('CARD_TESTING_LIMITS', ['on', 'off'], 'on') === 'on',
    bindingVerificationCharges: verificationCharges(),
    bindingsPerCustomer: integer('BINDINGS_PER_CUSTOMER_PER_DAY', mode === 'live' ? 5 : 0),
    bindingsPerCard: integer('BINDINGS_PER_CARD_PER_DAY', mode === 'live' ? 9 : 0),
    bankUrl,
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
    smtpTimeoutMs,
    openingDepositMinor: BigInt(integer('OPENING_DEPOSIT', 100_000_000)),
    metricsToken: text('METRICS_TOKEN'),
    logLevel: oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
  };
  if (faults.length > 0) throw new ConfigurationFault(faults, misspeltIn(environment).map(textOfMisspelt));
  return config;
}

/** A fault does not repeat the address, which may contain a password. */
function addressFaults(name: SettingName, text: string | undefined): string[] {
  if (text === undefined) return [];
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    return [`${name} is not a valid http or https address. Write it as https://host:port.`];
  const { username, password } = new URL(text);
  if (username === '' && password === '') return [];
  return [`${name} contains a user name or password. Remove them.`];
}

/** The driver also accepts spaces, and a user without a host, as for a Unix socket. */
function canDriverParse(databaseUrl: string): boolean {
  return [databaseUrl, encodeURI(databaseUrl)].some(
    (text) => URL.canParse(text) || URL.canParse(text.replace('@/', '@socket/')),
  );
}

/** If the service listens on all addresses, this one reaches it from the same machine. */
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
