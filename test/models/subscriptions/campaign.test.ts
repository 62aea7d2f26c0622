// Random lives of subscriptions, in which the service and the model have the same periods, charges and end. SUBSCRIPTION_LIVES says
// how many.
import { expect, test } from 'vitest';
import { often } from '../../support/service/campaign.ts';
import { chosenSeed } from '../../support/service/chosen-seed.ts';
import { compareLife } from './agree.ts';
import { keptOf, problemsOf } from './logs.ts';
import { planFrom } from './plan.ts';

const lives = Number(process.env['SUBSCRIPTION_LIVES'] ?? often(2_000, 100_000));
const seed = chosenSeed('SUBSCRIPTION_SEED');

test(`the service and the model agree in ${lives} lives (SUBSCRIPTION_SEED=${seed})`, () => {
  const ends = new Set<string>();
  const outcomes = new Set<string>();
  for (let life = 0; life < lives; life++) {
    const { plan, story, fault } = compareLife(1_000_003 * seed + life);
    if (fault !== undefined) throw new Error(`${fault}\n${JSON.stringify(plan, null, 1)}`);
    ends.add(story.end);
    for (const { outcome } of story.rows) outcomes.add(outcome);
  }
  expect([...outcomes].toSorted()).toEqual(['forgiven', 'missed', 'open', 'paid', 'skipped', 'unpaid']);
  // Nothing that people and banks do looks like a bug.
  expect([...ends].toSorted()).toEqual([
    'ended finished',
    'ended firstPaymentMissing',
    'ended payer',
    'ended unpaid',
    'paused',
    'running',
    'unpaid',
  ]);
}, 7_200_000);

const judged = often(20, 20_000);

test(`the simulation's check finds nothing in ${judged} lives (SUBSCRIPTION_SEED=${seed})`, () => {
  for (let life = 0; life < judged; life++) {
    const plan = planFrom(1_000_003 * seed + life);
    expect(problemsOf(keptOf(plan)), JSON.stringify(plan, null, 1)).toEqual([]);
  }
}, 7_200_000);
