import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { isUnverified, liveModeFaults, liveModeWarnings } from './live-mode-faults.ts';

const good = {
  masterKey: randomBytes(32),
  databaseUrl: 'postgres://u:p@db.internal/mandate?sslmode=verify-full&sslrootcert=/ca.pem',
  usualHost: undefined,
  takesUnverifiedDatabase: false,
  rejectUnauthorized: undefined,
  trustedProxies: ['10.0.0.0/8', '::ffff:10.0.0.0/104', 'fc00::/7', '203.0.113.7'],
};
const quiet = { ...good, cardTestingLimits: true, publicUrl: 'https://pay.example' };

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

test.each([
  '0.0.0.0/0',
  '8.0.0.0/7',
  '::/0',
  '::/64',
  '0::/80',
  '2000::/3',
  '2000::/8',
  '2a00::/31',
  'fc00::/6',
  '::ffff:0:0/96',
  '0:0:0:0:0:FFFF:8.0.0.0/103',
])('proxies anywhere in %s are refused: callers are there too', (network) => {
  expect(liveModeFaults({ ...good, trustedProxies: ['10.0.0.1', network] })).toEqual([
    expect.stringContaining(`TRUSTED_PROXIES has "${network}"`),
  ]);
});

test('nothing is warned of with random keys, a verified connection, limits and https', () => {
  for (let number = 0; number < 1_000; number++) {
    const masterKey = createHash('sha256').update(`key ${number}`).digest();
    expect(liveModeWarnings({ ...quiet, masterKey })).toEqual([]);
  }
});

test.each([
  ['words', Buffer.from('correct horse battery staple yes')],
  ['words in Cyrillic', Buffer.from('ключ для карточек')],
  ['hexadecimal digits', Buffer.from('9f86d081884c7d659a2feaa0c55ad015')],
  ['words typed as base64', Buffer.from('ThisIsMyVerySecretMasterKeyForTheDatabases1', 'base64')],
])('a master key of %s is taken with a warning', (_, masterKey) => {
  expect(masterKey).toHaveLength(32);
  expect(liveModeFaults({ ...good, masterKey })).toEqual([]);
  expect(liveModeWarnings({ ...quiet, masterKey })).toEqual([expect.stringContaining('change-master-key')]);
});

test('a connection that the operator lets be unverified is warned of', () => {
  const unverified = { databaseUrl: 'postgres:///mandate', usualHost: 'db.internal' };
  expect(liveModeWarnings({ ...quiet, ...unverified })).toEqual([
    expect.stringContaining('the connection to the database is not verified'),
  ]);
});

test('limits of card testing that are off are warned of', () => {
  expect(liveModeWarnings({ ...quiet, cardTestingLimits: false })).toEqual([
    expect.stringContaining('CARD_TESTING_LIMITS is off'),
  ]);
});

test.each([
  ['http://pay.example', 1],
  ['http://10.0.0.1:8080', 1],
  ['http://127.evil.example', 1],
  ['http://127.0.0.1:8080', 0],
  ['http://localhost:8080', 0],
  ['http://[::1]:8080', 0],
])('payers at %s: %i warnings', (publicUrl, count) => {
  expect(liveModeWarnings({ ...quiet, publicUrl })).toHaveLength(count);
});
