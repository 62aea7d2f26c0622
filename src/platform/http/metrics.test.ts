import { expect, onTestFinished, test, vi } from 'vitest';
import { openMetrics } from './metrics.ts';

test('a value that is not read in time is left out, and the others are shown', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const metrics = openMetrics();
  const never = new Promise<never>(() => {});
  metrics.gauge('slow', 'Never read', () => never);
  metrics.gaugeBy('slow_by_label', 'Never read', 'label', () => never);
  metrics.gauge('quick', 'Read at once', () => 7);
  const rendered = metrics.render();
  await vi.advanceTimersByTimeAsync(4_000);
  const { text } = await rendered;
  expect(text).toMatch(/^quick 7$/m);
  expect(text).not.toMatch(/^slow/m);
});
