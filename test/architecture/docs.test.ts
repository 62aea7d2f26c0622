// Documents say what the code does: generated ones are current, written ones refer only to what exists, and what they are generated
// from is consistent.
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/app/config.ts';
import { settings } from '../../src/app/settings/settings.ts';
import { scopes, type Access } from '../../src/platform/http/access.ts';
import type { AnyEndpoint } from '../../src/platform/http/endpoint.ts';
import { refusalsOf } from '../../src/platform/http/openapi.ts';
import { errorCatalogue, errorsOutsideOperations } from '../../src/platform/http/errors/error-codes.ts';
import { routes, sandboxRoutes } from '../../src/app/routes.ts';
import { createProgram } from '../../src/cli/program.ts';
import { documents } from '../../tools/documents/documents.ts';
import { metricsNamedIn, registeredMetrics } from '../../tools/documents/metrics.ts';
import {
  accessFaults,
  environmentFaults,
  memoryFaults,
  namesReadBy,
  unusedRefusals,
} from './declarations.ts';
import { brokenLinks, filesEndingIn, missingFiles, textOf, unknownCommands } from './mentions.ts';

const endpoints = [...routes, ...sandboxRoutes];
const settingNames = Object.values(settings).map(({ name }): string => name);
/** The page whose tables have an old name in their first column. */
const renames = 'docs/renames.md';
/** Pages that name commands of earlier versions. */
const withFormerCommands = [renames, 'CHANGELOG.md'];
const newNames = (text: string) => text.replace(/^\| [^|]+\|/gm, '|');
const sources = filesEndingIn('.ts').filter((file) => file.startsWith('src/') && !file.endsWith('.test.ts'));

test('the generated documents are current; npm run docs writes them', async () => {
  for (const [path, text] of await documents()) expect(textOf(path), path).toBe(text);
});

test('every error of the catalogue is returned by an operation', () => {
  const returned = [...endpoints.map(refusalsOf), errorsOutsideOperations];
  expect(unusedRefusals(Object.keys(errorCatalogue), returned)).toEqual([]);
});

test('a message with advice of its own is one that the code sends', () => {
  const code = sources.filter((file) => !file.endsWith('/error-codes.ts')).map(textOf);
  const advised = Object.values(errorCatalogue).flatMap(({ messages = {} }) => Object.keys(messages));
  expect(advised).toContain('Invalid currency');
  for (const message of advised) {
    const isSent = code.some((text) => text.includes(`'${message}'`) || text.includes(`"${message}"`));
    expect(isSent, message).toBe(true);
  }
});

test('calls that advice names exist', () => {
  const calls = endpoints.map(({ method, path }) => `${method} ${path}`);
  const advice = Object.values(errorCatalogue).flatMap(({ advice, messages = {} }) => [
    advice,
    ...Object.values(messages),
  ]);
  const named = advice.flatMap((text) =>
    [...text.matchAll(/`((?:GET|POST|PUT|DELETE) \/[^`]+)`/g)].map(([, call]) => call),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((call) => !calls.includes(call ?? ''))).toEqual([]);
});

test('every operation has one name, and its access fits its path', () => {
  expect(accessFaults(endpoints)).toEqual([]);
});

test('no security code is hashed under an Idempotency-Key, and excluded members exist', () => {
  expect(memoryFaults(endpoints)).toEqual([]);
  const body = Type.Object({ card: Type.Object({ cvv: Type.String() }), name: Type.String() });
  const endpoint = { operation: 'createPayment', body } as unknown as AnyEndpoint;
  expect(memoryFaults([endpoint])).toEqual(['createPayment hashes card.cvv']);
  expect(memoryFaults([{ ...endpoint, excludeFromHash: ['card.cvv', 'card.ccv'] }])).toEqual([
    'createPayment has no member card.ccv',
  ]);
});

test('every scope is used by an operation', () => {
  const opening = new Set(endpoints.map(({ access }) => access.scope));
  expect([...opening].sort()).toEqual([...scopes].sort());
});

test('the settings are the names that are read, and no other file reads the environment', () => {
  const read = namesReadBy((environment) => readConfig(environment, '/'));
  // Settings of Node.js and of the database driver, which live mode only looks at.
  const own = read.filter((name) => !['NODE_TLS_REJECT_UNAUTHORIZED', 'PGHOST'].includes(name));
  expect(own.sort()).toEqual([...settingNames].sort());
  expect(sources.flatMap((file) => environmentFaults(file, textOf(file), settingNames))).toEqual([]);
});

test('every link of a document has a target', () => {
  const found = filesEndingIn('.md');
  expect(found).toContain('README.md');
  expect(found.flatMap((file) => brokenLinks(file, textOf(file)))).toEqual([]);
});

test('every file that a document or a comment names exists', () => {
  const files = [...filesEndingIn('.md'), ...sources];
  const spokenIn = (file: string) => (file === renames ? newNames(textOf(file)) : textOf(file));
  expect(files.flatMap((file) => missingFiles(file, spokenIn(file)))).toEqual([]);
});

test('every command and option that a document shows exists', () => {
  const program = createProgram();
  const files = filesEndingIn('.md').filter((file) => !withFormerCommands.includes(file));
  expect(files.flatMap((file) => unknownCommands(file, textOf(file), program))).toEqual([]);
});

test('every metric that an operations page names is registered', () => {
  const registered = registeredMetrics().map(({ name }) => name);
  const pages = filesEndingIn('.md').filter((file) => file.startsWith('docs/operations/'));
  const named = pages.flatMap((file) => metricsNamedIn(textOf(file)));
  expect(named).toContain('mandate_jobs_stuck');
  expect([...new Set(named)].filter((name) => !registered.includes(name))).toEqual([]);
});

test('controls: an unused error, and routes and rows that do not fit', () => {
  const endpoint: AnyEndpoint = {
    operation: 'getInvoice',
    access: { scope: 'invoices:read' },
    method: 'GET',
    path: '/invoices/{id}',
    tag: 'Invoices',
    summary: 'Get',
    status: 200,
    errors: ['invoiceNotFound'],
    handle: () => Promise.reject(new Error('not to be called')),
  };
  expect(unusedRefusals(['a', 'b', 'c'], [['a'], ['c', 'a']])).toEqual(['b is returned by no operation']);
  const faultsOf = (access: Access) => accessFaults([{ ...endpoint, access }]);
  const scope = 'invoices:read';
  expect(accessFaults([endpoint])).toEqual([]);
  expect(accessFaults([endpoint, endpoint])).toEqual(['two routes have the name getInvoice']);
  expect(faultsOf({ scope, tokens: ['invoice'] })).toEqual(['getInvoice does not say whose token it takes']);
  expect(faultsOf({ scope, tokens: ['invoice'], anyEntity: true })).toEqual([]);
  expect(faultsOf({ scope, tokens: ['invoice'], entity: 'id' })).toEqual([]);
  expect(faultsOf({ scope, entity: 'id' })).toEqual(['getInvoice says whose token it takes and takes none']);
  expect(faultsOf({ scope, tokens: ['invoice'], entity: 'id', anyEntity: true })).toEqual([
    'getInvoice takes any token and that of one entity',
  ]);
  expect(faultsOf({ scope, tokens: ['invoice'], entity: 'invoiceID' })).toEqual([
    'getInvoice has no {invoiceID} in its path',
  ]);
});

test('controls: the environment read in the wrong file, or for a name that is not a setting', () => {
  expect(namesReadBy((environment) => [environment['ONE'], environment['TWO']])).toEqual(['ONE', 'TWO']);
  const faults = (file: string, text: string) => environmentFaults(file, text, ['PORT']);
  expect(faults('src/cli/serve.ts', "readConfig(process.env); process.env['PORT']")).toEqual([]);
  expect(faults('src/cli/serve.ts', "process.env['COLOR']")).toHaveLength(1);
  expect(faults('src/platform/http/server.ts', "process.env['PORT']")).toHaveLength(1);
  expect(faults('src/platform/http/server.ts', 'readConfig(process.env)')).toHaveLength(1);
  expect(faults('src/sandbox/postgres/binaries.ts', "process.env['PATH']")).toEqual([]);
  expect(faults('src/sandbox/postgres/binaries.ts', 'process.env.HOME')).toHaveLength(1);
});

test('controls: links without a target, and files that do not exist', () => {
  const links = (text: string) => brokenLinks('docs/guide/access.md', text).length;
  expect(links('[a](errors.md) ![b](../architecture.svg) [c](https://example.org) `[d](e.md)`')).toBe(0);
  expect(links('[a](errors.md#invalidrequest) [b](#a-heading)\n\n## A heading\n')).toBe(0);
  expect(links('[a](no.md) ![b](no.svg) <img src="no.png"> [c](errors.md#no) [d](#no)\n\n[e]: no.txt')).toBe(
    6,
  );
  expect(links('[out of the repository](../../../README.md)')).toBe(1);
  const missing = (file: string, text: string) => missingFiles(file, text).length;
  expect(
    missing('README.md', 'see src/main.ts, platform/http/request-pipeline.ts and `docs/architecture.md`'),
  ).toBe(0);
  expect(missing('README.md', 'see `src/man.ts`')).toBe(1);
  expect(missing(renames, newNames('| `src/man.ts` | `src/main.ts` |'))).toBe(0);
  expect(missing(renames, newNames('| `src/main.ts` | `src/man.ts` |'))).toBe(1);
  expect(missing('src/main.ts', "import { no } from 'http/no.ts'; // see http/no.ts")).toBe(1);
  expect(missing('src/main.ts', '// see compose.ts, and no-such.file.ts for more')).toBe(1);
});

test('controls: commands and options that do not exist', () => {
  const unknown = (text: string) => unknownCommands('README.md', text, createProgram()).length;
  expect(unknown('`mandate bank` and `mandate bank check ACME --json`, and mandate stucks in prose')).toBe(0);
  expect(
    unknown('```sh\nKEY=$(mandate keys create --party P \\\n  --name shop)   # mandate nothing\n```'),
  ).toBe(0);
  expect(unknown('`mandate stucks`, `mandate bank chek ACME`, `mandate bank check ACME --jsn`')).toBe(3);
  expect(unknown('```sh\nmandate keys create --party P \\\n  --nmae shop\n```')).toBe(1);
});

test('controls: a metric is named without the ending of its series', () => {
  expect(metricsNamedIn('`mandate_a_count{status="500"}` and `mandate_b_total > 0`')).toEqual([
    'mandate_a',
    'mandate_b_total',
  ]);
});
