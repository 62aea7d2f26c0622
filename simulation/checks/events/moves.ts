// Every fact of every log is a legal move at its position.
import type { Check } from '../check.ts';

export const moves: Check = {
  name: 'moves',
  says: 'an object moves only as its table of moves and the other objects of its aggregate allow',
  find: ({ histories }) =>
    [...histories].flatMap(([id, { aggregate, illegal }]) =>
      illegal.map((problem) => [`${aggregate} ${id}`, problem] as const),
    ),
};
