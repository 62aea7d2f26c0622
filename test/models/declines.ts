// What each decline means for charges without the payer, typed from the table of response codes, network by
// network. No code of the service was read for it.

export type Network = 'visa' | 'mastercard' | 'maestro' | 'mir';

/** Who can help. */
export type HelpClass =
  | 'funds'
  | 'vague'
  | 'issuer'
  | 'technical'
  | 'newCard'
  | 'payerPresent'
  | 'stopped'
  | 'configuration';

/** Whose charges stop. `shopCard`: every series of the shop on the card; `card`: those of all shops. */
export type StopScope = 'invoice' | 'series' | 'shopCard' | 'card';

export interface Meaning {
  class: HelpClass;
  /** Stops charges without the payer. */
  stops?: StopScope;
  /** The networks never want this credential again, so it stops them also when the payer was present. */
  final?: true;
  /** The next attempt waits so many hours. */
  wait?: number;
}

type Row = readonly [codes: string, networks: readonly Network[], meaning: Meaning];

export const mastercards: readonly Network[] = ['mastercard', 'maestro'];
const all: readonly Network[] = ['visa', 'mir', 'mastercard', 'maestro'];
const hard: Meaning = { class: 'newCard', stops: 'shopCard' };
/** Visa's category 1 among them. */
const final: Meaning = { ...hard, final: true };
const newCard: Meaning = { class: 'newCard', stops: 'series' };
const payerPresent: Meaning = { class: 'payerPresent', stops: 'series' };
const week = 7 * 24;

const rows: readonly Row[] = [
  ['10', all, { class: 'funds' }],
  ['01 02', all, { class: 'vague' }],
  ['03', all, { class: 'configuration' }],
  ['04 07', all, final],
  ['05', all, { class: 'vague' }],
  ['06 21', all, { class: 'technical' }],
  ['12', ['visa'], final],
  ['12 13', all, { class: 'configuration' }],
  ['14 15', all, final],
  ['17', all, { class: 'vague' }],
  ['19 28', all, { class: 'technical' }],
  ['30 31 40', all, { class: 'configuration' }],
  ['33 54', all, newCard],
  ['34 59', all, { class: 'vague', wait: 24 }],
  ['36 62', all, { class: 'issuer', wait: week }],
  ['39 52 53 56', all, hard],
  ['78', mastercards, hard],
  ['78', all, { class: 'vague' }],
  ['41 43 46', all, final],
  ['57', ['visa'], final],
  ['57', all, hard],
  ['51 61', all, { class: 'funds' }],
  ['55 75 86 38', all, payerPresent],
  ['58', all, { class: 'configuration' }],
  ['63 64', all, { class: 'vague' }],
  ['65', mastercards, payerPresent],
  ['65', all, { class: 'funds' }],
  ['68', all, { class: 'technical' }],
  ['70', ['visa', 'mir'], payerPresent],
  ['70', all, { class: 'vague' }],
  ['1A', all, payerPresent],
  ['6P', all, newCard],
  ['76 77', all, { class: 'configuration' }],
  ['79', mastercards, hard],
  ['80 81 88', all, { class: 'technical' }],
  ['N7', all, newCard],
  ['82', ['visa', 'mir'], newCard],
  ['82', mastercards, { class: 'vague' }],
  ['83', mastercards, hard],
  ['83', ['visa'], { class: 'issuer', wait: 24 }],
  ['5C', ['visa', 'mir'], { class: 'issuer', wait: week }],
  ['9G', all, { class: 'issuer' }],
  ['91 92 96', all, { class: 'technical' }],
  ['93', all, hard],
  ['94', all, { class: 'technical' }],
  ['N3 N4', all, { class: 'vague' }],
  ['R0', all, { class: 'stopped', stops: 'invoice', final: true }],
  ['R1', all, { class: 'stopped', stops: 'shopCard', final: true }],
  ['R3', all, { class: 'stopped', stops: 'card', final: true }],
];

/** Mastercard's advice in a decline. */
const advices: Record<string, Meaning> = {
  '01': newCard,
  '02': { class: 'vague', wait: 72 },
  '03': { class: 'stopped', stops: 'shopCard', final: true },
  '21': { class: 'stopped', stops: 'shopCard', final: true },
  '24': { class: 'funds', wait: 1 },
  '25': { class: 'funds', wait: 24 },
  '26': { class: 'funds', wait: 2 * 24 },
  '27': { class: 'funds', wait: 4 * 24 },
  '28': { class: 'funds', wait: 6 * 24 },
  '29': { class: 'funds', wait: 8 * 24 },
  '30': { class: 'funds', wait: 10 * 24 },
};

/** Mastercard declines that mean what their advice says, and the table's row only without one. */
const followAdvice = new Set(['79', '82', '83']);

const scopes: readonly (StopScope | undefined)[] = [undefined, 'invoice', 'series', 'shopCard', 'card'];
/** Classes that only ask for time are equal, so that advice overrides the code. */
const strictness: Record<HelpClass, number> = {
  technical: 0,
  vague: 0,
  funds: 0,
  issuer: 1,
  configuration: 2,
  payerPresent: 3,
  newCard: 4,
  stopped: 5,
};

export const codes: readonly string[] = [...new Set(rows.flatMap(([each]) => each.split(' ')))];
export const adviceCodes: readonly string[] = Object.keys(advices);

/** The first row that names the network and the code decides. */
const byNetwork = Object.fromEntries(
  all.map((network) => {
    const named = rows.filter(([, networks]) => networks.includes(network));
    const entries = named.flatMap(([names, , meaning]) =>
      names.split(' ').map((code) => [code, meaning] as const),
    );
    return [network, new Map(entries.toReversed())];
  }),
) as Record<Network, Map<string, Meaning>>;

export function meaningOf(network: Network, code: string, advice?: string): Meaning {
  const [plain, advised] = meanings(network, code, advice);
  return advised ? stricterOf(plain, advised) : plain;
}

/** What is final of it, which counts also when the payer was present. */
export function finalMeaningOf(network: Network, code: string, advice?: string): Meaning | undefined {
  const [one, other] = meanings(network, code, advice).filter((each) => each?.final);
  return one && other ? stricterOf(one, other) : one;
}

function meanings(network: Network, code: string, advice?: string): [plain: Meaning, advised?: Meaning] {
  const plain: Meaning = byNetwork[network].get(code) ?? { class: 'vague' };
  const advised = mastercards.includes(network) && advice !== undefined ? advices[advice] : undefined;
  if (!advised) return [plain];
  return followAdvice.has(code) ? [advised] : [plain, advised];
}

/** Class, scope and wait are each the stricter of the two. */
function stricterOf(code: Meaning, advice: Meaning): Meaning {
  const stops = [code.stops, advice.stops].sort((a, b) => scopes.indexOf(b) - scopes.indexOf(a))[0];
  const wait = Math.max(code.wait ?? 0, advice.wait ?? 0);
  return {
    class: strictness[code.class] > strictness[advice.class] ? code.class : advice.class,
    ...(stops !== undefined && { stops }),
    ...((code.final || advice.final) && { final: true }),
    ...(wait > 0 && { wait }),
  };
}
