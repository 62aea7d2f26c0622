import { describe, expect, test } from 'vitest';
import { readConfig } from '../config.ts';
import { misspeltSettings } from './misspelt-settings.ts';
import { settings } from './settings.ts';

const names = Object.values(settings).map(({ name }): string => name);
const found = (environment: Record<string, string>) => misspeltSettings(environment, names);

describe('a misspelt setting', () => {
  test.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_ULR', 'DATABASE_URL'],
    ['PUBLC_URL', 'PUBLIC_URL'],
    ['PUBLIC_URI', 'PUBLIC_URL'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['log_level', 'LOG_LEVEL'],
    ['BANK_SECRETS', 'BANK_SECRET'],
    ['TRUSTED_PROXYS', 'TRUSTED_PROXIES'],
    ['WEBHOOK_ADRESES', 'WEBHOOK_ADDRESSES'],
    ['BINDINGS_PER_COSTUMER_PER_DAY', 'BINDINGS_PER_CUSTOMER_PER_DAY'],
    ['MANDATE_MOD', 'MANDATE_MODE'],
    ['MANDATE_MASTERKEY', 'MANDATE_MASTER_KEY'],
    ['MANDATE_PORT', 'PORT'],
    ['MANDATE_PROT', 'PORT'],
    ['MANDATE_HSOT', 'HOST'],
    ['MANDATE_DTAA', 'MANDATE_DATA'],
    ['PROT', 'PORT'],
    ['HOTS', 'HOST'],
    ['MANDATE_DATABASE_URL', 'DATABASE_URL'],
    ['MANDATE_LOG_LEVEL', 'LOG_LEVEL'],
  ])('%s is reported with %s', (name, nearest) => {
    expect(found({ [name]: 'x' })).toEqual([{ name, nearest }]);
  });

  test('with the prefix is reported even if no setting is near', () => {
    expect(found({ MANDATE_COLOUR: 'red' })).toEqual([{ name: 'MANDATE_COLOUR' }]);
  });

  test('is named in the error when another setting is wrong', () => {
    const read = () => readConfig({ MANDATE_MODE: 'live', DATABSE_URL: 'postgres://db' }, '/');
    expect(read).toThrow('DATABSE_URL is not a setting. Did you mean DATABASE_URL?');
  });
});

test('every setting is known', () => {
  expect(found(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
});

test('a name near a setting that is set belongs to another program', () => {
  expect(found({ DATABASE_URI: 'x', DATABASE_URL: 'postgres://db' })).toEqual([]);
});

test('variables of shells, build servers and containers are not reported', () => {
  const others = `PATH HOME host port POST COST HOSTS HOSTNAME HOSTTYPE PORTS SPORT SMTP_HOST SMTP_PORT SMTP_USER SMTP_PASSWORD SMTP_TIMEOUT
    DATABASE_HOST DATABASE_PORT DATABASE_NAME DATABASE_USER DATABASE_PASSWORD DATABASE_SSL DATABASE_POOL PUBLIC_KEY PUBLIC_IP
    PUBLIC_DIR METRICS_PORT METRICS_ADDR METRICS_PATH LOG_FORMAT LOG_FILE LOG_DIR RUST_LOG BANK_ID BANK_NAME BANK_HOST LANG
    LC_ALL TERM SHELL USER LOGNAME PWD OLDPWD SHLVL EDITOR PAGER DISPLAY TZ TMPDIR XDG_RUNTIME_DIR SSH_AUTH_SOCK COLORTERM
    NODE_ENV NODE_OPTIONS NODE_VERSION npm_config_cache npm_lifecycle_event npm_package_name INIT_CWD CI GITHUB_TOKEN
    GITHUB_SERVER_URL GITLAB_CI CI_COMMIT_SHA CI_SERVER_URL RUNNER_OS DOCKER_HOST KUBERNETES_PORT KUBERNETES_SERVICE_HOST
    WEBHOOK_URL WEBHOOK_SECRET WEBHOOK_TIMEOUT REDIS_URL MASTER_KEY MAIL_FROM SMTP_TLS POSTGRES_URL PGHOST PGPORT SENTRY_DSN
    MANDATE_API_KEY MANDATE_URL MANDATE_TOKEN MANDATE_SERVICE_HOST MANDATE_SERVICE_PORT MANDATE_PORT_8080_TCP
    MANDATE_PORT_8080_TCP_ADDR MANDATE_SERVICE_PORT_HTTP`;
  expect(found(Object.fromEntries(others.split(/\s+/).map((name) => [name, 'x'])))).toEqual([]);
  expect(found({ MANDATE_PORT: 'tcp://10.0.0.7:8080', BANKS_PORT: 'tcp://10.0.0.8:80' })).toEqual([]);
});
