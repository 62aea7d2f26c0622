// Every fact of every log is a move that is legal where it stands.
import type { Check } from '../check.ts';

export const moves: Check = {
  name: 'moves',
  says: 'an object moves only as its table of moves allows, and beside the others of its aggregate',
  find: ({ histories }) =>
    [...histories].flatMap(([id, { aggregate, illegal }]) =>
      illegal.map((problem) => [`${aggregate} ${id}`, problem] as const),
    ),
};
