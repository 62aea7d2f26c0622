// Words the project does not use, each with what to write instead. Words that need judgement are in `toReview`.

export type RetiredWord = { readonly pattern: RegExp; readonly instead: string };

const retired = (words: string, instead: string): RetiredWord => ({
  pattern: new RegExp(`(?<![\\w$])(?:${words})(?!\\w)`, 'giu'),
  instead,
});

export const retiredWords: readonly RetiredWord[] = [
  retired('he|him|his|himself|she|her|hers|herself', 'they for people; it for a bank, a node or a program'),
  retired('whoever|whomever|whose ever', 'the actor: merchant, operator, caller, node'),
  retired(
    'somebody|someone|anybody|anyone|everybody|everyone',
    'the actor: merchant, operator, caller, node',
  ),
  retired('nobody|no one', 'the actor with a negation: no node, no merchant'),
  retired('visitors?', 'payer, or client'),
  retired('couriers?', 'delivery worker'),
  retired('sa(?:y|ys|ying|id) no(?! to\\b)', 'refuse, error response'),
  retired('hungry', 'backlogged'),
  retired('hasten(?:s|ed|ing)?', 'expedite'),
  retired('chores?', 'periodic task'),
  retired('due work|stuck work', 'job, stuck job'),
  retired('lanes?', 'shard'),
  retired('realms?', 'mode'),
  retired('letters?', 'email; "character" for one of the alphabet'),
  retired('told|tell of|tells of', 'sent, reported, returned, logged'),
  retired('notices?|noticed', 'webhook event, banner; detect'),
  retired("bank['’]s books?|the books|banks['’] books", 'the bank’s transaction report; the ledger'),
  retired('the house|houses|of ours', 'Mandate, the service'),
  retired('rooms?', 'module, space'),
  retired('the door|doors', 'the request pipeline'),
  retired(
    'what (?:has |had |will |would )?(?:become|becomes|became) of|(?:came|comes|come) of it',
    'outcome, status',
  ),
  retired('kept cards?', 'retained card, saved card'),
  retired('test charges?', 'verification charge'),
  retired('owed', 'pending, due'),
  retired('sets? aside|setting aside', 'reserved'),
  retired('anew', 'again'),
  retired('for ever|forever', 'permanently'),
  retired('by (?:itself|themselves)', 'automatically'),
  retired('beside', 'next to, as well as'),
  retired('under way', 'in progress'),
  retired('goes on|went on|go on', 'continues'),
  retired('nought', 'zero'),
  retired('not a byte', 'nothing'),
];

/** A word here may be right. `--review` lists where each stands. */
export const wordsToReview: readonly RetiredWord[] = [
  retired('at once', 'immediately; at the same time'),
  retired('tells?|telling', 'send, report, return, log'),
  retired('looks?(?: at| again)?', 'check, poll, read'),
  retired('is away|are away|was away', 'unavailable, unreachable'),
  retired('given back|taken back|let go', 'refunded, reversed, released'),
  retired('taken up|begins?|began|tried again', 'resumed, starts, retried'),
  retired('is over|at its end', 'final, has ended'),
  retired('made|makes', 'created, creates'),
  retired('settle[sd]?', 'resolve, when an operator does it'),
  retired('withdraw(?:s|n|al)?', 'revoke, for a consent or a binding'),
  retired('hands?', 'delivery, worker'),
  retired('places?', 'index, slot, position'),
  retired('parts?', 'module'),
];

/** Retired words that may not stand in a name of the code either, as camelCase or snake_case has them. */
export const retiredInNames: readonly string[] = [
  'visitor',
  'courier',
  'teller',
  'hungry',
  'hasten',
  'chore',
  'realm',
  'whoever',
  'somebody',
  'nobody',
  'anew',
  'owed',
  'letter',
];
