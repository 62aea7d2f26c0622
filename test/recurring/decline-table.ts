// What networks' codes mean, typed from their texts and not from src/retry-rules. `!` is a stop and how far it reaches, `+` a wait
// in hours.

export type Network = 'visa' | 'mastercard' | 'mir' | 'jcb';
export type Meaning = {
  readonly helper: string;
  readonly stop?: 'charge' | 'series' | 'shop' | 'everywhere';
  readonly waitHours?: number;
};

/** One line for each code: on every network, or on Visa, on Mastercard, and on Mir and the rest. */
const lines = `
  00 vague
  01 vague
  02 vague
  03 configuration
  04 newCard!shop
  05 vague
  06 technical
  07 newCard!shop
  08 vague
  10 funds
  11 vague
  12 newCard!shop configuration configuration
  13 configuration
  14 newCard!shop
  15 newCard!shop
  16 vague
  17 vague
  19 technical
  21 technical
  25 vague
  28 technical
  30 configuration
  31 configuration
  33 newCard!series
  34 vague+24
  36 issuer+168
  38 payerPresent!series
  39 newCard!shop
  40 configuration
  41 newCard!shop
  43 newCard!shop
  46 newCard!shop
  51 funds
  52 newCard!shop
  53 newCard!shop
  54 newCard!series
  55 payerPresent!series
  56 newCard!shop
  57 vague newCard!shop newCard!shop
  58 configuration
  59 vague+24
  61 funds
  62 issuer+168
  63 vague
  64 vague
  65 funds payerPresent!series funds
  68 technical
  70 payerPresent!series vague payerPresent!series
  75 payerPresent!series
  76 configuration
  77 configuration
  78 vague newCard!shop vague
  79 vague newCard!shop vague
  80 technical
  81 technical
  82 newCard!series vague newCard!series
  83 vague newCard!shop vague
  85 vague
  86 payerPresent!series
  88 technical
  91 technical
  92 technical
  93 newCard!shop
  94 technical
  95 vague
  96 technical
  1A payerPresent!series
  5C issuer+168 vague issuer+168
  6P newCard!series
  9G issuer
  N3 vague
  N4 vague
  N7 newCard!series
  R0 stopped!charge
  R1 stopped!shop
  R3 stopped!everywhere
`;

/** On Visa since 25 October 2026. */
const later: Readonly<Record<string, string>> = { '57': 'newCard!shop', '83': 'issuer+24' };
const laterFrom = Date.UTC(2026, 9, 25);

const adviceLines = `
  01 newCard!series
  02 vague+72
  03 stopped!shop
  21 stopped!shop
  24 funds+1
  25 funds+24
  26 funds+48
  27 funds+96
  28 funds+144
  29 funds+192
  30 funds+240
`;
/** They say something about the card and nothing about a retry. */
export const informationOnly = ['04', '05', '22', '40', '41', '43'];

const cellsOf = (text: string) =>
  new Map(
    text
      .trim()
      .split('\n')
      .map((line) => line.trim().split(' '))
      .map(([code = '', ...cells]) => [code, cells] as const),
  );
const codeCells = cellsOf(lines);
const adviceCells = cellsOf(adviceLines);

export const allCodes: readonly string[] = [...codeCells.keys()];
export const allAdvice: readonly string[] = [...adviceCells.keys()];

function meaningOf(cell: string): Meaning {
  const [, helper = '', stop, hours] = /^(\w+?)(?:!(\w+))?(?:\+(\d+))?$/.exec(cell) ?? [];
  return {
    helper,
    ...(stop === undefined ? {} : { stop: stop as NonNullable<Meaning['stop']> }),
    ...(hours === undefined ? {} : { waitHours: Number(hours) }),
  };
}

export function meaningOfCode(network: Network, code: string, at: number): Meaning {
  const cells = codeCells.get(code) ?? ['vague'];
  const column = { visa: 0, mastercard: 1, mir: 2, jcb: 2 }[network];
  const since = network === 'visa' && at >= laterFrom ? later[code] : undefined;
  return meaningOf(since ?? cells[column] ?? (cells[0] as string));
}

export function meaningOfAdvice(advice: string | undefined): Meaning | undefined {
  const cell = advice === undefined ? undefined : adviceCells.get(advice)?.[0];
  return cell === undefined ? undefined : meaningOf(cell);
}

/** On Mastercard these codes say that the advice decides. */
export function followsAdvice(network: Network, code: string): boolean {
  return network === 'mastercard' && ['79', '82', '83'].includes(code);
}

/** Declines that a network calls final even when the payer was present: Visa's category 1, and what the payer stopped. */
export const finalCodes = ['04', '07', '14', '15', '41', '43', '46', 'R0', 'R1', 'R3'];
