// Compares the service with the model in random lives, and looks for what no life may have.
import { isDeepStrictEqual } from 'node:util';
import { momentIn } from '../../../src/subscriptions/domain/day-window.ts';
import { textOf, type Micros } from '../calendar.ts';
import { planFrom, type Plan, type Story } from './plan.ts';
import { livedStory } from './service.ts';
import { walkedStory } from './walked.ts';

export type Lived = { readonly plan: Plan; readonly story: Story; readonly fault?: string };

/** One life from one number, in which the service may be replaced. */
export function compareLife(seed: number, live: (plan: Plan) => Story = livedStory): Lived {
  const plan = planFrom(seed);
  const moment = momentIn({ from: '06:00', until: '10:00' }, `subscription ${seed}`);
  const expected = walkedStory(plan, moment);
  try {
    const story = live(plan);
    const fault = brokenRule(story, plan) ?? differenceBetween(expected, story);
    return { plan, story, ...(fault === undefined ? {} : { fault }) };
  } catch (error) {
    return { plan, story: expected, fault: `throws ${String(error)}` };
  }
}

/** What holds whatever happens: no hole, no overlap, and no period is charged again after it was paid, unless that money was lost. */
function brokenRule({ rows, charges, losses }: Story, { answers }: Plan): string | undefined {
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1];
    if (!before) continue;
    if (row.number !== before.number + 1) return `period ${row.number} follows ${before.number}`;
    if (row.startsOn !== before.endsOn || row.startsAt !== before.endsAt)
      return `period ${row.number} does not start where the one before ends`;
  }
  const captured = charges.filter((_, index) => (answers[index] ?? 'captured') === 'captured');
  const timesOf = (wanted: number, among: readonly number[]) =>
    among.filter((number) => number === wanted).length;
  const numbers = captured.map(({ number }) => number);
  const twice = numbers.find((number) => timesOf(number, numbers) > 1 + timesOf(number, losses));
  return twice === undefined ? undefined : `period ${twice} is charged twice`;
}

function differenceBetween(model: Story, service: Story): string | undefined {
  if (isDeepStrictEqual(model, service)) return undefined;
  const [expected, found] = [linesOf(model), linesOf(service)];
  const index = expected.findIndex((line, at) => line !== found[at]);
  if (index === -1 && expected.length === found.length) return undefined;
  const at = index === -1 ? expected.length : index;
  return `the model has\n  ${expected[at] ?? 'nothing'}\nthe service\n  ${found[at] ?? 'nothing'}`;
}

function linesOf({ rows, charges, changes, losses, refunds, end, endedAt, balance }: Story): string[] {
  return [
    ...losses.map((number) => `the money of ${number} was taken back`),
    ...changes.map(({ amount, at }) => `a change charged ${amount} at ${timeOf(at)}`),
    ...charges.map(({ number, at }) => `charge of ${number} at ${timeOf(at)}`),
    ...rows.map(
      (row) =>
        `${row.number} ${textOf(row.startsOn)}–${textOf(row.endsOn)} ${timeOf(row.startsAt)} ${timeOf(row.endsAt)} ` +
        `${row.outcome} ${row.amount} ${row.credit}`,
    ),
    ...refunds.map(({ amount, hasFailed }) => `a refund of ${amount}${hasFailed ? ' that failed' : ''}`),
    `${end}${endedAt === undefined ? '' : ` at ${timeOf(endedAt)}`}, ${balance}`,
  ];
}

function timeOf(at: Micros): string {
  return new Date(at / 1_000).toISOString();
}
