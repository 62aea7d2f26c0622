// What a bank without the later additions to the protocol answers to a request for them. A test's bank begins with it.
import { abilitiesOfVersion1 } from '../../../src/acquiring/domain/abilities.ts';
import type { Bank } from '../../../src/acquiring/domain/bank-port.ts';

export const bankOfVersion1: Pick<
  Bank,
  'resume' | 'abilities' | 'knownAbilities' | 'updates' | 'waiting' | 'stopWaiting'
> = {
  resume: () => Promise.resolve({ outcome: 'unknown', why: 'the bank takes no returns' }),
  abilities: () => Promise.resolve(abilitiesOfVersion1),
  knownAbilities: () => abilitiesOfVersion1,
  waiting: () => 0,
  stopWaiting: () => {},
  updates: (after) => Promise.resolve({ updates: [], unreadable: [], last: after, hasMore: false }),
};
