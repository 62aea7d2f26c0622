import { describe, expect, test } from 'vitest';
import { DatabaseUnavailable } from '../database/connections/unavailable.ts';
import { openLog } from '../log.ts';
import { logFailure, watchDatabase } from './outages.ts';

function recorder(level = 'info') {
  const lines: any[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { log: openLog({ level, human: false, destination }), lines };
}
const away = () => new DatabaseUnavailable(new Error('ECONNREFUSED'));

describe('a failure', () => {
  test('that nothing explains is a warning with its stack', () => {
    const { log, lines } = recorder();
    logFailure(log, new Error('no column'), { job: 'payment', id: 'I/1' }, 'job failed');
    expect(lines).toMatchObject([
      { level: 'warn', msg: 'job failed', job: 'payment', id: 'I/1', err: { stack: expect.any(String) } },
    ]);
  });

  test('of an outage is for debugging alone, and has no stack', () => {
    const { log, lines } = recorder();
    logFailure(log, away(), { job: 'payment' }, 'job failed');
    expect(lines).toEqual([]);
    const all = recorder('debug');
    logFailure(all.log, away(), { job: 'payment' }, 'job failed');
    expect(all.lines).toMatchObject([{ level: 'debug', job: 'payment', because: expect.any(String) }]);
    expect(all.lines[0]).not.toHaveProperty('err');
  });

  test('that lasts is a warning without a stack, also if it counts as an outage', () => {
    const { log, lines } = recorder();
    logFailure(log, away(), { job: 'payment' }, 'job failed', true);
    expect(lines).toMatchObject([{ level: 'warn', job: 'payment', because: expect.any(String) }]);
    expect(lines[0]).not.toHaveProperty('err');
  });
});

describe('a database', () => {
  test('that goes away and comes back has one line for each, however often it is asked', () => {
    const { log, lines } = recorder();
    const seen = watchDatabase(log);
    seen.answered();
    for (let poll = 0; poll < 5; poll++) seen.failed(away());
    for (let poll = 0; poll < 5; poll++) seen.answered();
    seen.failed(away());
    expect(lines.map(({ level, msg, err }) => [level, msg, err])).toEqual([
      ['warn', 'database away', undefined],
      ['warn', 'database back', undefined],
      ['warn', 'database away', undefined],
    ]);
  });

  test('that answers with an error is not away', () => {
    const { log, lines } = recorder();
    watchDatabase(log).failed(new Error('no column'));
    expect(lines).toMatchObject([{ msg: 'job poll failed', err: { stack: expect.any(String) } }]);
  });
});
