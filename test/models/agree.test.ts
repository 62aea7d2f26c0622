// A few of the histories of campaign.test.ts, for every run of the tests.
import { expect, test } from 'vitest';
import { chosenSeed } from '../support/service/chosen-seed.ts';
import { agreeIn } from './agree.ts';

const seed = chosenSeed('MODEL_SEED');

test(`the service and the model agree in 40 histories (MODEL_SEED=${seed})`, () => {
  expect(agreeIn(40, seed).get('accepted')).toBeGreaterThan(40);
});
