// mandate config: every setting, the value in force and where it comes from.
import { join } from 'node:path';
import { settings, type Config, type SettingName } from '../app/config.ts';
import { usualDelaysSeconds } from '../webhooks/domain/queue-rules.ts';
import { printTable } from './foundation.ts';
import { printJson } from './json-members.ts';
import { settingsHere } from './settings.ts';

export function showConfig(options: { json?: true }): void {
  const config = settingsHere();
  const rows = settings.map(({ name }) => ({
    name,
    value: valueInForce[name](config) ?? null,
    source: sourceOf(name, config),
  }));
  if (options.json) return printJson('config', rows);
  printTable(
    ['setting', 'source', 'value'],
    rows.map(({ name, value, source }) => [name, source, value ?? '-']),
  );
}

function sourceOf(name: SettingName, { mode }: Config): 'environment' | 'sandbox' | 'default' {
  if (process.env[name]) return 'environment';
  return mode === 'sandbox' && broughtBySandbox.has(name) ? 'sandbox' : 'default';
}

const broughtBySandbox: ReadonlySet<SettingName> = new Set([
  'DATABASE_URL',
  'MANDATE_MASTER_KEY',
  'BANK_URL',
  'BANK_SECRET',
]);

const mask = '********';

/** A secret is masked; of an address with a password, the host stays. */
const valueInForce: Readonly<Record<SettingName, (config: Config) => string | undefined>> = {
  MANDATE_MODE: ({ mode }) => mode,
  HOST: ({ host }) => host,
  PORT: ({ port }) => String(port),
  PUBLIC_URL: ({ publicUrl }) => withoutSecrets(publicUrl),
  MANDATE_DATA: ({ dataFolder }) => dataFolder,
  DATABASE_URL: ({ databaseUrl, dataFolder }) =>
    databaseUrl === undefined ? `private PostgreSQL in ${dataFolder}` : withoutSecrets(databaseUrl),
  DATABASE_UNVERIFIED: ({ takesUnverifiedDatabase }) => onOrOff(takesUnverifiedDatabase),
  SANDBOX_REAL_CARDS: ({ realCards }) => onOrOff(realCards),
  MANDATE_POSTGRES_BIN: ({ postgresBin }) => postgresBin,
  DATABASE_CONNECTIONS: ({ databaseConnections }) => String(databaseConnections),
  DATABASE_PREPARED_STATEMENTS: ({ preparedStatements }) => onOrOff(preparedStatements),
  MANDATE_MASTER_KEY: ({ masterKey, dataFolder }) =>
    masterKey === undefined ? `in ${join(dataFolder, 'master.key')}` : mask,
  TRUSTED_PROXIES: ({ trustedProxies }) => trustedProxies.join(',') || undefined,
  REQUESTS_PER_SECOND: ({ requestsPerSecond }) => String(requestsPerSecond),
  MAX_CONNECTIONS: ({ maxConnections }) => String(maxConnections),
  FAILED_AUTHENTICATIONS_PER_MINUTE: ({ failedAuthenticationsPerMinute }) =>
    String(failedAuthenticationsPerMinute),
  STRICT_REQUEST_ID: ({ strictRequestId }) => onOrOff(strictRequestId),
  CARD_TESTING_LIMITS: ({ cardTestingLimits }) => onOrOff(cardTestingLimits),
  BINDING_VERIFICATION_CHARGES: ({ bindingVerificationCharges }) =>
    [...bindingVerificationCharges].map(([currency, minor]) => `${currency}=${minor}`).join(','),
  BINDINGS_PER_CUSTOMER_PER_DAY: ({ bindingsPerCustomer }) => String(bindingsPerCustomer),
  BINDINGS_PER_CARD_PER_DAY: ({ bindingsPerCard }) => String(bindingsPerCard),
  BANK_URL: ({ bankUrl, mode }) => {
    if (bankUrl !== undefined) return withoutSecrets(bankUrl);
    return mode === 'sandbox' ? 'the simulated bank' : undefined;
  },
  BANK_SECRET: ({ bankSecret, mode, dataFolder }) => {
    if (bankSecret !== undefined) return mask;
    return mode === 'sandbox' ? `in ${join(dataFolder, 'bank')}` : undefined;
  },
  BANK_PORT: ({ bankPort }) => String(bankPort),
  WEBHOOK_ADDRESSES: ({ webhookAddresses }) => webhookAddresses,
  WEBHOOK_TIMEOUT_SECONDS: ({ webhookTimeoutMs }) => String(webhookTimeoutMs / 1_000),
  WEBHOOK_DELAYS_SECONDS: ({ webhookDelaysSeconds }) =>
    (webhookDelaysSeconds ?? usualDelaysSeconds).join(','),
  SMTP_URL: ({ mailServer }) =>
    mailServer &&
    `${mailServer.tls === 'fromTheStart' ? 'smtps' : 'smtp'}://${mailServer.host}:${mailServer.port}`,
  SMTP_FROM: ({ mailServer }) => {
    if (mailServer?.from.name === undefined) return mailServer?.from.address;
    return `${mailServer.from.name} <${mailServer.from.address}>`;
  },
  SMTP_TIMEOUT_SECONDS: ({ smtpTimeoutMs }) => String(smtpTimeoutMs / 1_000),
  OPENING_DEPOSIT: ({ openingDepositMinor }) => String(openingDepositMinor),
  METRICS_TOKEN: ({ metricsToken }) => metricsToken && mask,
  LOG_LEVEL: ({ logLevel }) => logLevel,
};

function onOrOff(isOn: boolean): string {
  return isOn ? 'on' : 'off';
}

/** Neither user, password nor parameters, which may contain a password too. */
function withoutSecrets(text: string): string {
  if (!URL.canParse(text)) return mask;
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`.replace(/\/$/, '');
}
