// The file that names the nodes of a sandbox, where several containers share its folder.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leaveSandbox, readSandboxFacts } from './sandbox-setup.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'mandate-nodes-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const file = () => join(folder, 'sandbox.json');
const node = (apiUrl: string, of: { pid?: number; host?: string }) => ({ apiUrl, apiKey: 'key', ...of });
const own = () => node('http://own', { pid: process.pid, host: hostname() });
/** In a container the process has the same ID as in any other. */
const elsewhere = () => node('http://elsewhere', { pid: process.pid, host: 'another-container' });
/** No process has an ID as large. */
const dead = () => node('http://dead', { pid: 2 ** 30, host: hostname() });

function hold(first: object, ...after: object[]): void {
  writeFileSync(file(), JSON.stringify({ ...first, after }));
}

describe('a node that stops', () => {
  test.each([
    ['before it', [elsewhere, own]],
    ['after it', [own, elsewhere]],
  ])('leaves the file to a container that started %s', (_, nodes) => {
    const [first, second] = nodes.map((made) => made());
    hold(first!, second!);
    leaveSandbox(folder);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual(elsewhere());
  });

  test('removes the file if the others here were killed', () => {
    hold(dead(), own());
    leaveSandbox(folder);
    expect(existsSync(file())).toBe(false);
  });
});

test('the file names a node here, else one elsewhere, else one that was killed', () => {
  const here = node('http://parent', { pid: process.ppid, host: hostname() });
  hold(dead(), elsewhere(), here);
  expect(readSandboxFacts(folder)).toEqual({ apiUrl: 'http://parent', apiKey: 'key' });
  hold(dead(), elsewhere());
  expect(readSandboxFacts(folder)?.apiUrl).toBe('http://elsewhere');
  hold(dead());
  expect(readSandboxFacts(folder)?.apiUrl).toBe('http://dead');
});
