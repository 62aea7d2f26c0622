// Random histories in which the service and the model have to agree on the verdict, the instant named and the warnings.
// MODEL_HISTORIES says how many.
import { expect, test } from 'vitest';
import { often } from '../support/service/campaign.ts';
import { chosenSeed } from '../support/service/chosen-seed.ts';
import { agreeIn, everyAnswer } from './agree.ts';

const histories = Number(process.env['MODEL_HISTORIES'] ?? often(200, 10_000));
const seed = chosenSeed('MODEL_SEED');

test(`the service and the model agree in ${histories} histories (MODEL_SEED=${seed})`, () => {
  const answers = agreeIn(histories, seed);
  expect([...answers.keys()].toSorted()).toEqual(everyAnswer);
}, 1_800_000);
