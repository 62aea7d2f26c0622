// bin/mandate.js on a Node.js that is too old to run the program.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { expect, test } from 'vitest';
import { programOfSources } from '../../support/processes/program.ts';

const text = readFileSync(programOfSources, 'utf8');
const { engines } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  engines: { node: string };
};

/** Runs it as if this Node.js were another version. */
function runOn(version: string) {
  const asIf = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const preload = `data:text/javascript,${encodeURIComponent(asIf)}`;
  const ended = spawnSync(process.execPath, ['--import', preload, programOfSources, '--version'], {
    encoding: 'utf8',
  });
  return { code: ended.status, output: ended.stdout, errors: ended.stderr };
}

test.each(['12.22.12', '16.20.2', '18.20.8', '20.18.3'])(
  'Node.js %s gets one line and exit code 1',
  (version) => {
    expect(runOn(version)).toEqual({
      code: 1,
      output: '',
      errors: `mandate: Node.js 20.19 or later is needed, this is ${version}. Get it from https://nodejs.org.\n`,
    });
  },
);

test.each(['20.19.0', '22.12.0', '100.0.0'])('Node.js %s runs the program', (version) => {
  expect(runOn(version)).toMatchObject({ code: 0, errors: '' });
});

test('the version is the one that package.json asks for', () => {
  expect(engines.node).toBe('>=20.19');
});

test('Node.js 12 can parse the file', () => {
  expect(hasNewerSyntax(text)).toBe(false);
  expect(hasNewerSyntax('process.versions?.node;')).toBe(true);
  expect(hasNewerSyntax("await import('./start.js');")).toBe(true);
});

/** A newer syntax is rewritten for the older target, or refused. */
function hasNewerSyntax(source: string): boolean {
  const writtenFor = (target: string) =>
    transformSync(source, { target, format: 'esm', logLevel: 'silent' }).code;
  try {
    return writtenFor('node12.22') !== writtenFor('esnext');
  } catch {
    return true;
  }
}
