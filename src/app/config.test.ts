// The addresses among the settings: which are refused, and that no refusal repeats a password.
import { describe, expect, test } from 'vitest';
import { readConfig } from './config.ts';

const read = (environment: Record<string, string>) => () => readConfig(environment, '/');

function refusalOf(environment: Record<string, string>): string {
  try {
    readConfig(environment, '/');
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
}

test.each(['BANK_URL', 'PUBLIC_URL'])('%s with credentials is refused without repeating them', (name) => {
  for (const url of ['https://user:hush@host.example', 'https://hush@host.example', 'ftp://user:hush@host']) {
    const refusal = refusalOf({ [name]: url });
    expect(refusal).toContain(`- ${name} `);
    expect(refusal).not.toContain('hush');
  }
  expect(refusalOf({ [name]: 'https://user:hush@host.example' })).toContain(
    `${name} contains a user name or password. Remove them.`,
  );
});

test.each(['foo:hush', 'hush', 'http://', 'ftp://bank.example/hush', 'https://bank.example:hush'])(
  'BANK_URL=%s is refused without repeating it',
  (url) => {
    const refusal = refusalOf({ BANK_URL: url });
    expect(refusal).toContain(
      'BANK_URL is not a valid http or https address. Write it as https://host:port.',
    );
    expect(refusal).not.toContain('hush');
  },
);

test.each(['http://127.0.0.1:9000', 'https://bank.example/mandate/'])('BANK_URL=%s is accepted', (url) => {
  expect(read({ BANK_URL: url })).not.toThrow();
});

test.each(['a b', 'user@host'])('HOST=%s is refused: no address can be made of it', (host) => {
  expect(refusalOf({ HOST: host })).toContain(`HOST is "${host}".`);
  expect(read({ HOST: host, PUBLIC_URL: 'https://pay.example' })).not.toThrow();
});

test('a master key that cannot be read is not called missing', () => {
  const refusal = refusalOf({ MANDATE_MODE: 'live', MANDATE_MASTER_KEY: 'short' });
  expect(refusal).toContain('MANDATE_MASTER_KEY is not 32 bytes');
  expect(refusal).not.toContain('MANDATE_MASTER_KEY is not set');
});

test('live mode has the warnings of its settings, the sandbox none', () => {
  const environment = {
    DATABASE_URL: 'postgres://db.internal/mandate',
    DATABASE_UNVERIFIED: 'on',
    MANDATE_MASTER_KEY: Buffer.from('correct horse battery staple yes').toString('base64'),
    CARD_TESTING_LIMITS: 'off',
    HOST: '10.0.0.1',
  };
  expect(read(environment)().warnings).toEqual([]);
  expect(read({ ...environment, MANDATE_MODE: 'live' })().warnings).toEqual([
    expect.stringMatching(/^the connection to the database is not verified/),
    expect.stringMatching(/^MANDATE_MASTER_KEY /),
    expect.stringMatching(/^CARD_TESTING_LIMITS /),
    expect.stringMatching(/^PUBLIC_URL /),
  ]);
});

describe('DATABASE_URL', () => {
  test.each(['postgres://me:hush@db:port/mandate', 'postgres://me:hu/sh@db/mandate'])(
    'that cannot be parsed is refused without repeating it: %s',
    (url) => {
      const refusal = refusalOf({ DATABASE_URL: url });
      expect(refusal).toContain('DATABASE_URL cannot be parsed. Percent-encode reserved characters');
      expect(refusal).not.toContain('hu');
    },
  );

  test.each([
    'postgres://me:secret@db.internal:5433/mandate?sslmode=verify-full',
    'postgresql:///mandate?host=/var/run/postgresql',
    'postgres://me:secret@/mandate?host=/var/run/postgresql',
    'postgres://me:secret@%2Fvar%2Frun%2Fpostgresql/mandate',
    'postgres://me:50%-50@127.0.0.1:5432/db',
    'postgres://me:with space@127.0.0.1:5432/my db',
    'postgres://me@[::1]:5432/db',
  ])('in a form that the driver accepts is accepted: %s', (url) => {
    expect(read({ DATABASE_URL: url })).not.toThrow();
  });
});

test('a node takes no fewer connections than an export and its writes need', () => {
  expect(refusalOf({ DATABASE_CONNECTIONS: '3' })).toContain('DATABASE_CONNECTIONS is "3"');
  expect(read({ DATABASE_CONNECTIONS: '4' })).not.toThrow();
});
