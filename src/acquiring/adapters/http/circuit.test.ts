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

describe('the circuit', () => {
  test('opens when half of twenty went badly', () => {
    pass('well', 10);
    pass('badly', 9);
    expect(isOpen()).toBe(false);
    pass('badly');
    expect(isOpen()).toBe(true);
  });

  test('stays closed below half, and below twenty', () => {
    pass('badly', 19);
    expect(isOpen()).toBe(false);
    nowMs += 31_000;
    pass('well', 11);
    pass('badly', 10);
    expect(isOpen()).toBe(false);
  });

  test('forgets what is older than half a minute', () => {
    pass('badly', 19);
    nowMs += 29_000;
    pass('well');
    expect(isOpen(), '19 of 20, all within the window').toBe(true);

    nowMs += 60_000;
    pass('well');
    pass('badly', 19);
    nowMs += 30_000;
    pass('badly', 19);
    expect(isOpen(), '19 of 19, the older ones do not count').toBe(false);
  });

  test('does not count what was not tried at all', () => {
    pass('not at all', 100);
    expect(isOpen()).toBe(false);
  });

  test('lets one try after fifteen seconds, and only one at a time', () => {
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

  test('stays open for another fifteen seconds when the probe goes badly', () => {
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

  test('lets another try when a probe came to nothing', () => {
    pass('badly', 20);
    nowMs += 15_000;
    pass('not at all');
    expect(circuit.admit()).toBeDefined();
  });

  test('starts counting anew once it has closed', () => {
    pass('badly', 20);
    nowMs += 15_000;
    pass('well');
    pass('badly', 19);
    expect(isOpen()).toBe(false);
  });

  test('is not opened again by what was under way before it opened', () => {
    const underWay = Array.from({ length: 30 }, () => circuit.admit());
    pass('badly', 20);
    nowMs += 15_000;
    const probe = circuit.admit()!;
    for (const settle of underWay) settle?.('badly');
    probe('well');
    expect(isOpen()).toBe(false);
  });
});
