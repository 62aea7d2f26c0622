import hooks from 'node:perf_hooks';
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

test('the services of a process share its metrics, which cost it 100 samples a second', async () => {
  const first = openMetrics();
  const sample = vi.spyOn(hooks, 'monitorEventLoopDelay');
  onTestFinished(() => sample.mockRestore());
  const second = openMetrics();
  second.gauge('own', 'Of one service', () => 7);
  expect(sample).not.toHaveBeenCalled();
  const [shown, other] = await Promise.all([first.render(), second.render()]);
  for (const { text } of [shown, other]) expect(text).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
  expect(other.text).toMatch(/^own 7$/m);
  expect(shown.text).not.toMatch(/^own/m);
});
