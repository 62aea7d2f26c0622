import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { isUnverified, liveModeFaults } from './live-mode-faults.ts';

const good = {
  masterKey: randomBytes(32),
  databaseUrl: 'postgres://u:p@db.internal/mandate?sslmode=verify-full&sslrootcert=/ca.pem',
  usualHost: undefined,
  takesUnverifiedDatabase: false,
  rejectUnauthorized: undefined,
};

test('random keys and a verified connection are taken', () => {
  for (let times = 0; times < 1_000; times++)
    expect(liveModeFaults({ ...good, masterKey: randomBytes(32) })).toEqual([]);
});

test.each([
  ['zeros', Buffer.alloc(32)],
  ['one byte', Buffer.alloc(32, 7)],
  ['a word', Buffer.alloc(32, 'hush')],
  ['a word of twelve', Buffer.alloc(32, 'mandatemanda')],
  ['half a key twice', Buffer.concat([good.masterKey.subarray(0, 16), good.masterKey.subarray(0, 16)])],
  ['counting bytes', Buffer.from(Array.from({ length: 32 }, (_, place) => place))],
  ['few values', Buffer.from(Array.from({ length: 32 }, (_, place) => (place * place) % 7))],
])('a master key of %s is refused', (_, masterKey) => {
  expect(liveModeFaults({ ...good, masterKey })).toEqual([expect.stringContaining('openssl rand')]);
});

test('certificates are always checked', () => {
  expect(liveModeFaults({ ...good, rejectUnauthorized: '0' })).toEqual([
    expect.stringContaining('NODE_EXTRA_CA_CERTS'),
  ]);
});

test.each([
  ['postgres://db.internal/mandate', true],
  ['postgres://db.internal/mandate?sslmode=require', true],
  ['postgres://10.0.0.5/mandate?sslmode=verify-ca', true],
  ['postgres://127.evil.example/mandate', true],
  ['postgres://localhost/mandate?host=db.internal', true],
  ['postgres://db.internal/mandate?sslmode=verify-full&sslmode=disable', true],
  ['postgres://localhost/mandate?host=localhost&host=db.internal', true],
  ['postgres://db.internal/mandate?sslmode=verify-full', false],
  ['postgres://127.0.0.1:5432/mandate', false],
  ['postgres://localhost/mandate', false],
  ['postgres://[::1]/mandate', false],
  ['postgres:///mandate?host=/run/postgresql', false],
  ['postgres://mandate@/mandate?host=/run/postgresql', false],
  ['postgres://%2Frun%2Fpostgresql/mandate', false],
])('%s leaves the machine unverified: %s', (databaseUrl, isRefused) => {
  expect(isUnverified(databaseUrl)).toBe(isRefused);
  expect(liveModeFaults({ ...good, databaseUrl })).toHaveLength(isRefused ? 1 : 0);
  expect(liveModeFaults({ ...good, databaseUrl, takesUnverifiedDatabase: true })).toEqual([]);
});

test.each([
  ['postgres:///mandate', 'db.internal', true],
  ['postgres://mandate@/mandate?host=', 'db.internal', true],
  ['postgres:///mandate?sslmode=verify-full', 'db.internal', false],
  ['postgres:///mandate', '/run/postgresql', false],
  ['postgres://localhost/mandate', 'db.internal', false],
])('%s with PGHOST=%s leaves the machine unverified: %s', (databaseUrl, usualHost, isRefused) => {
  expect(isUnverified(databaseUrl, usualHost)).toBe(isRefused);
  expect(liveModeFaults({ ...good, databaseUrl, usualHost })).toHaveLength(isRefused ? 1 : 0);
});
