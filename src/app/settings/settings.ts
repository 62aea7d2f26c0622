// All settings of the program, a row each. docs/operations/configuration.md is printed from these rows.
import { isIP } from 'node:net';
import { isAbsolute, join, resolve } from 'node:path';
import { isKnownCurrency, largestAmountMinor } from '../../money.ts';
import { parseMasterKey } from '../../platform/keys/master-key.ts';
import { mailHostIn } from '../../platform/mail/mail-settings.ts';
import { usualDelaysSeconds } from '../../webhooks/domain/queue-rules.ts';
import {
  address,
  anyText,
  mask,
  oneOf,
  onOrOff,
  seconds,
  wholeNumber,
  withoutSecrets,
  type Setting,
} from './setting.ts';

/** Takes the type of its value from how it is read. */
const row = <Value>(setting: Setting<Value>): Setting<Value> => setting;

/** Two are for lookups. An export reads on one of the others and writes on another. */
export const leastConnections = 4;

export const settings = {
  mode: oneOf(
    {
      name: 'MANDATE_MODE',
      meaning: '`sandbox`: a simulated bank and test money on one machine. `live`: real money.',
    },
    ['sandbox', 'live'],
    'sandbox',
  ),
  host: row({
    name: 'HOST',
    byDefault: '127.0.0.1',
    meaning: 'The address to listen on; `0.0.0.0` for all addresses of the machine.',
    read: (text) => text ?? '127.0.0.1',
    shown: (value) => value,
  }),
  port: wholeNumber(
    { name: 'PORT', meaning: 'The port to listen on; 0 for any free port.' },
    [0, 65_535],
    8080,
  ),
  publicUrl: address({
    name: 'PUBLIC_URL',
    byDefault: 'http://HOST:PORT',
    meaning:
      'The address at which clients and payers reach the service. Set it if there is a proxy in front, or if HOST is `0.0.0.0`.',
  }),
  dataFolder: row({
    name: 'MANDATE_DATA',
    byDefault: './data',
    meaning: 'The folder for the private PostgreSQL, the keys of the sandbox and `sandbox.json`.',
    read: (text = './data', { workingFolder }) => (isAbsolute(text) ? text : resolve(workingFolder, text)),
    shown: (value) => value,
  }),
  databaseUrl: row({
    name: 'DATABASE_URL',
    byDefault: 'a private PostgreSQL in MANDATE_DATA',
    meaning:
      'The PostgreSQL to use, version 15 or later. Live mode requires it. The connection is encrypted only if the URL ends with ' +
      '`?sslmode=verify-full&sslrootcert=<file>` ([TLS](database.md#tls)). An `application_name` in it has no effect.',
    secret: true,
    isOfSandbox: true,
    read(text, { addFault }) {
      const fault = text && databaseUrlFault(text);
      if (fault) addFault(fault);
      return text;
    },
    shown: (url, { dataFolder }) =>
      url === undefined ? `private PostgreSQL in ${dataFolder}` : withoutSecrets(url),
  }),
  takesUnverifiedDatabase: onOrOff(
    {
      name: 'DATABASE_UNVERIFIED',
      meaning:
        '`on` lets live mode use a database on another machine without verified TLS. The start logs it. Only for a network that is yours.',
    },
    'off',
  ),
  realCards: onOrOff(
    {
      name: 'SANDBOX_REAL_CARDS',
      meaning:
        'Sandbox with BANK_URL only: `on` takes card numbers other than those of the simulated bank, and sends them to that bank.',
    },
    'off',
  ),
  postgresBin: anyText({
    name: 'MANDATE_POSTGRES_BIN',
    byDefault: 'the bundled programs',
    meaning: 'The folder with `postgres` and `initdb` for the private PostgreSQL.',
  }),
  workers: row<number | 'auto'>({
    name: 'WORKERS',
    byDefault: '1',
    meaning:
      'How many processes of the node share its port, from 1 to 64. `auto`: as many as the machine has cores and the connections allow.',
    read(text, { addFault }) {
      if (text === undefined) return 1;
      const number = /^\d{1,2}$/.test(text) ? Number(text) : NaN;
      if (text === 'auto' || (number >= 1 && number <= 64)) return text === 'auto' ? text : number;
      addFault(`WORKERS is "${text}". Use a whole number from 1 to 64, or auto.`);
      return 1;
    },
    shown: String,
  }),
  databaseConnections: wholeNumber(
    {
      name: 'DATABASE_CONNECTIONS',
      meaning:
        'The maximum number of connections of one node with all its workers. Each process opens one more while its readiness is checked. Over all nodes, two to four for each core of the database are enough.',
    },
    [leastConnections, 200],
    10,
  ),
  preparedStatements: onOrOff(
    {
      name: 'DATABASE_PREPARED_STATEMENTS',
      meaning:
        'Set `off` behind PgBouncer in transaction mode if it is older than 1.21 or has no `max_prepared_statements`. Statements are then slightly slower.',
    },
    'on',
  ),
  masterKey: row({
    name: 'MANDATE_MASTER_KEY',
    byDefault: 'created in the sandbox',
    meaning:
      'The key that encrypts all other keys: 32 bytes in base64. Create one with `openssl rand -base64 32`. Live mode requires it.',
    secret: true,
    isOfSandbox: true,
    read(text, { addFault }) {
      const key = text === undefined ? undefined : parseMasterKey(text);
      if (text !== undefined && !key)
        addFault('MANDATE_MASTER_KEY is not 32 bytes in base64. Create one with `openssl rand -base64 32`.');
      return key;
    },
    shown: (key, { dataFolder }) => (key === undefined ? `in ${join(dataFolder, 'master.key')}` : mask),
  }),
  trustedProxies: row({
    name: 'TRUSTED_PROXIES',
    byDefault: 'none',
    meaning:
      'Addresses or networks of your proxies, separated by commas. Only theirs are `X-Forwarded-For`, `X-Forwarded-Proto` and ' +
      '`X-Forwarded-Host` believed, so they must replace those of the caller. `X-Real-IP` is believed if a proxy sends no ' +
      '`X-Forwarded-For`; it must then delete that of the caller. Their `Forwarded` is ignored. A proxy that is not listed is warned ' +
      'about, and limits count all its callers as one address. In live mode they still count each caller that one of a private network names. ' +
      'It refuses a network wider than /8 (/7 of IPv6).',
    read(text = '', { addFault }) {
      const entries = text.split(',').flatMap((entry) => entry.trim() || []);
      for (const entry of entries.filter((entry) => !isNetwork(entry)))
        addFault(`TRUSTED_PROXIES has "${entry}". Use addresses or networks such as 10.0.0.0/8.`);
      return entries;
    },
    shown: (entries) => entries.join(',') || undefined,
  }),
  requestsPerSecond: wholeNumber(
    {
      name: 'REQUESTS_PER_SECOND',
      meaning:
        'The limit for each API key on each node. Bursts may be twice as large. An access token has the same limit, and 20 at most. ' +
        'Requests that cannot be read are limited too. 0 for no limits.',
    },
    [0, 1_000_000],
    2_000,
  ),
  maxConnections: wholeNumber(
    {
      name: 'MAX_CONNECTIONS',
      meaning:
        'How many connections a node has open at the same time; 0 for no limit. One address (one /64 of IPv6) has half of them. ' +
        'Addresses in TRUSTED_PROXIES have all.',
    },
    [0, 1_000_000],
    4_000,
  ),
  failedAuthenticationsPerMinute: wholeNumber(
    {
      name: 'FAILED_AUTHENTICATIONS_PER_MINUTE',
      meaning:
        'The limit for each address (each /64 of IPv6) on each node; 0 for no limit. Above it further failures get 429, while good keys ' +
        'and access tokens keep working. Behind a proxy, also set TRUSTED_PROXIES.',
    },
    [0, 1_000_000],
    600,
  ),
  templateInvoicesPerHour: wholeNumber(
    {
      name: 'TEMPLATE_INVOICES_PER_HOUR',
      meaning:
        'How many invoices each address (each /64 of IPv6) can make with the token of a template, on each node; 0 for no limit. ' +
        'Above it the request gets 429. API keys have no such limit.',
    },
    [0, 1_000_000],
    60,
  ),
  templateInvoicesPerHourInAll: wholeNumber(
    {
      name: 'TEMPLATE_INVOICES_PER_HOUR_IN_ALL',
      meaning:
        'How many invoices all addresses together can make with the token of one template, on each node; 0 for no limit. ' +
        'Raise it before a sale at which more payers come in an hour.',
    },
    [0, 1_000_000],
    10_000,
  ),
  strictRequestId: onOrOff(
    {
      name: 'STRICT_REQUEST_ID',
      meaning:
        '`on` or `off`: whether a request without an `X-Request-ID` gets 400. With `off` the service makes one, which the response has.',
    },
    'off',
  ),
  cardTestingLimits: onOrOff(
    {
      name: 'CARD_TESTING_LIMITS',
      meaning:
        '`on` or `off`: whether attempts of payers are limited by card, address and invoice. A shop in which too many cards are declined ' +
        'is guarded.',
    },
    'on',
  ),
  bindingVerificationCharges: row({
    name: 'BINDING_VERIFICATION_CHARGES',
    byDefault: 'RUB=1000,USD=100,EUR=100',
    meaning:
      'The amounts that are charged and refunded when a card is saved, by currency, in minor units. In other currencies no card can be saved.',
    read: (text = 'RUB=1000,USD=100,EUR=100', { addFault }) => verificationChargesIn(text, addFault),
    shown: (charges) => [...charges].map(([currency, minor]) => `${currency}=${minor}`).join(','),
  }),
  bindingsPerCustomer: wholeNumber(
    {
      name: 'BINDINGS_PER_CUSTOMER_PER_DAY',
      byDefault: '0 in the sandbox, 5 in live mode',
      meaning: 'How many attempts to save a card one customer has within 24 hours; 0 for no limit.',
    },
    [0, 10_000],
    (mode) => (mode === 'live' ? 5 : 0),
  ),
  bindingsPerCard: wholeNumber(
    {
      name: 'BINDINGS_PER_CARD_PER_DAY',
      byDefault: '0 in the sandbox, 9 in live mode',
      meaning:
        'How many attempts to save it one card has within 24 hours, for all customers together; 0 for no limit.',
    },
    [0, 10_000],
    (mode) => (mode === 'live' ? 9 : 0),
  ),
  bankUrl: row({
    ...address({
      name: 'BANK_URL',
      byDefault: 'the simulated bank',
      meaning:
        'Sandbox only: an external bank that keeps the bank protocol, such as `mandate bank` or your own gateway.',
      isOfSandbox: true,
    }),
    shown: (url, { mode }) =>
      url === undefined ? (mode === 'sandbox' ? 'the simulated bank' : undefined) : withoutSecrets(url),
  }),
  bankSecret: row({
    ...anyText({
      name: 'BANK_SECRET',
      byDefault: 'created in MANDATE_DATA',
      meaning:
        'The secret that the service and a bank sign their messages with. It is for BANK_URL, `mandate bank`, `mandate bank add` and ' +
        '`mandate bank conformance`.',
      secret: true,
      isOfSandbox: true,
    }),
    shown: (secret, { mode, dataFolder }) =>
      secret === undefined ? (mode === 'sandbox' ? `in ${join(dataFolder, 'bank')}` : undefined) : mask,
  }),
  bankPort: wholeNumber(
    { name: 'BANK_PORT', byDefault: 'a free port', meaning: 'Sandbox only: the port of the simulated bank.' },
    [0, 65_535],
    0,
  ),
  webhookAddresses: oneOf(
    {
      name: 'WEBHOOK_ADDRESSES',
      byDefault: 'anywhere in the sandbox, outside in live mode',
      meaning:
        '`outside`: webhooks go only to public https addresses, which is checked for every connection. `anywhere`: also to private networks.',
    },
    ['outside', 'anywhere'],
    (mode) => (mode === 'live' ? 'outside' : 'anywhere'),
  ),
  webhookTimeoutMs: seconds(
    {
      name: 'WEBHOOK_TIMEOUT_SECONDS',
      meaning: 'How long a webhook receiver may take, from the connection to the headers of its response.',
    },
    [1, 15],
    10,
  ),
  webhookDelaysSeconds: row({
    name: 'WEBHOOK_DELAYS_SECONDS',
    byDefault: '30, 300, 900, then 3600 for a day',
    meaning:
      'The seconds before each further delivery attempt, separated by commas. After the last attempt the queue is parked.',
    read(text, { addFault }) {
      const delays = text === undefined ? undefined : secondsIn(text);
      if (text !== undefined && !delays)
        addFault(
          `WEBHOOK_DELAYS_SECONDS is "${text}". Use seconds separated by commas, at most 100 of them.`,
        );
      return delays;
    },
    shown: (delays) => (delays ?? usualDelaysSeconds).join(','),
  }),
  smtpUrl: row({
    name: 'SMTP_URL',
    byDefault: 'no receipts are mailed',
    meaning:
      'The mail server for receipts: `smtps://user:password@host` (port 465), or `smtp://…` (port 587). `smtp` requires STARTTLS ' +
      'unless the server is on this machine. Percent-encode reserved characters of user and password: `@` as `%40`.',
    secret: true,
    read: (text) => text,
    shown: (url) => url && mailAddressOf(url),
  }),
  smtpFrom: anyText({
    name: 'SMTP_FROM',
    byDefault: 'none',
    meaning:
      'The sender of receipts: `receipts@example.com`, or `Example <receipts@example.com>`. SMTP_URL requires it.',
  }),
  smtpTimeoutMs: seconds(
    {
      name: 'SMTP_TIMEOUT_SECONDS',
      meaning: 'How long the mail server may take for one email. After that the email is retried later.',
    },
    [1, 40],
    20,
  ),
  openingDepositMinor: wholeNumber(
    {
      name: 'OPENING_DEPOSIT',
      meaning: 'Sandbox only: the test money on a new wallet, in minor units; 0 for none.',
    },
    [0, 999_999_999],
    100_000_000,
  ),
  metricsToken: anyText({
    name: 'METRICS_TOKEN',
    byDefault: 'open in the sandbox, closed in live mode',
    meaning: 'The bearer token that `/metrics` requires.',
    secret: true,
  }),
  logLevel: oneOf(
    { name: 'LOG_LEVEL', meaning: '`debug`, `info`, `warn`, `error` or `silent`.' },
    ['debug', 'info', 'warn', 'error', 'silent'],
    'info',
  ),
};

/** The driver also accepts spaces, and a user without a host, as for a Unix socket. */
function databaseUrlFault(url: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(url))
    return 'DATABASE_URL is not a PostgreSQL address. Begin it with postgres:// or postgresql://.';
  const canParse = [url, encodeURI(url)].some(
    (text) => URL.canParse(text) || URL.canParse(text.replace('@/', '@socket/')),
  );
  return canParse
    ? undefined
    : 'DATABASE_URL cannot be parsed. Percent-encode reserved characters of user and password, such as `@` as `%40`.';
}

function verificationChargesIn(text: string, addFault: (fault: string) => void): ReadonlyMap<string, bigint> {
  const found = new Map<string, bigint>();
  for (const entry of text.split(',')) {
    const [, currency = '', minor = '0'] = /^\s*([A-Z]{3})=(\d{1,12})\s*$/.exec(entry) ?? [];
    const amount = BigInt(minor);
    if (isKnownCurrency(currency) && amount >= 1n && amount <= largestAmountMinor)
      found.set(currency, amount);
    else
      addFault(
        `BINDING_VERIFICATION_CHARGES has "${entry}". Use a currency and minor units, such as RUB=1000.`,
      );
  }
  return found;
}

function secondsIn(text: string): number[] | undefined {
  const numbers = text
    .split(',')
    .map((part) => (/^\s*\d{1,6}(\.\d{1,3})?\s*$/.test(part) ? Number(part) : NaN));
  return numbers.length <= 100 && !numbers.some(Number.isNaN) ? numbers : undefined;
}

/** Without user and password, and with its port. */
function mailAddressOf(url: string): string | undefined {
  const server = mailHostIn(url);
  return server && `${server.tls === 'fromTheStart' ? 'smtps' : 'smtp'}://${server.host}:${server.port}`;
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
