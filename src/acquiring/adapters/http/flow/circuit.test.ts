import { beforeEach, describe, expect, test } from 'vitest';
import { openCircuit, type Circuit } from './circuit.ts';

let nowMs: number;
let circuit: Circuit;

beforeEach(() => {
  nowMs = 1_000_000_000_000;
  circuit = openCircuit(() => nowMs);
});

function pass(went: 'well' | 'badly' | 'not at all', times = 1): void {
  for (let time = 0; time < times; time++) circuit.admit()?.(went);
}
const isOpen = () => {
  const settle = circuit.admit();
  settle?.('not at all');
  return settle === undefined;
};

describe('circuit', () => {
  test('opens when 10 of 20 requests failed', () => {
    pass('well', 10);
    pass('badly', 9);
    expect(isOpen()).toBe(false);
    pass('badly');
    expect(isOpen()).toBe(true);
  });

  test('stays closed below half of the requests, and below 20 requests', () => {
    pass('badly', 19);
    expect(isOpen()).toBe(false);
    nowMs += 31_000;
    pass('well', 11);
    pass('badly', 10);
    expect(isOpen()).toBe(false);
  });

  test('ignores requests older than 30 s', () => {
    pass('badly', 19);
    nowMs += 29_000;
    pass('well');
    expect(isOpen(), '19 of 20 failed, all within the window').toBe(true);

    nowMs += 60_000;
    pass('well');
    pass('badly', 19);
    nowMs += 30_000;
    pass('badly', 19);
    expect(isOpen(), '19 of 19 failed, the older ones do not count').toBe(false);
  });

  test('does not count requests that were not sent', () => {
    pass('not at all', 100);
    expect(isOpen()).toBe(false);
  });

  test('admits one probe at a time after 15 s', () => {
    pass('badly', 20);
    nowMs += 14_999;
    expect(circuit.admit()).toBeUndefined();
    nowMs += 1;
    const probe = circuit.admit();
    expect(probe).toBeDefined();
    expect(circuit.admit()).toBeUndefined();
    probe!('well');
    expect(isOpen()).toBe(false);
  });

  test('stays open for another 15 s when the probe fails', () => {
    pass('badly', 20);
    nowMs += 15_000;
    pass('badly');
    expect(isOpen()).toBe(true);
    nowMs += 14_999;
    expect(isOpen()).toBe(true);
    nowMs += 1;
    pass('well');
    expect(isOpen()).toBe(false);
  });

  test('admits another probe when a probe was not sent', () => {
    pass('badly', 20);
    nowMs += 15_000;
    pass('not at all');
    expect(circuit.admit()).toBeDefined();
  });

  test('counts from zero after it has closed', () => {
    pass('badly', 20);
    nowMs += 15_000;
    pass('well');
    pass('badly', 19);
    expect(isOpen()).toBe(false);
  });

  test('does not open again for requests that began before it opened', () => {
    const inProgress = Array.from({ length: 30 }, () => circuit.admit());
    pass('badly', 20);
    nowMs += 15_000;
    const probe = circuit.admit()!;
    for (const settle of inProgress) settle?.('badly');
    probe('well');
    expect(isOpen()).toBe(false);
  });
});
