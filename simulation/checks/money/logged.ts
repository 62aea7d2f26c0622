// A bank receives nothing that the exchange log does not have, so that a later node knows what was sent.
import type { Problem } from '../check.ts';
import type { Asked } from '../world.ts';

/** Checks of cards move no money. */
const isCardCheck = /\.check\d+$/;

export function unlogged(asked: readonly Asked[]): Problem[] {
  return asked
    .filter(({ operationId, isLogged }) => !isLogged && !isCardCheck.test(operationId))
    .map(({ operationId }) => [operationId, 'it was sent to the bank before the exchange log had it']);
}
