// The test cards of the simulated bank. A test compares this table with docs/simulated-bank.md.

export type TestCard = {
  readonly number: string;
  readonly network: string;
  /** The decline code; without one the card is approved. */
  readonly declined?: string;
  /** The result of an authentication, where one is requested; frictionless by default. */
  readonly authentication?: 'fails' | 'times out' | Challenge;
  /** Payments are approved; verifications and payouts are declined. */
  readonly takesNoPayouts?: true;
  readonly withoutPayer?: ChangeOfMind;
};

/** The outcome of the charges of a series, where the payer's own payments are approved. */
export type ChangeOfMind =
  /** All, or the first `times` of each series. */
  | { readonly declined: string; readonly times?: number }
  /** The charge is done, and the bank says nothing about it for so long. */
  | { readonly silentMs: number };

/** How the payer's browser opens the issuer's page, and in which 3-D Secure dialect. */
export type Challenge = {
  readonly method: 'GET' | 'POST';
  readonly dialect: '3-D Secure 1' | '3-D Secure 2';
};

const byPost = { method: 'POST', dialect: '3-D Secure 1' } as const;
const byGet = { method: 'GET', dialect: '3-D Secure 1' } as const;
const secondByPost = { method: 'POST', dialect: '3-D Secure 2' } as const;
const secondByGet = { method: 'GET', dialect: '3-D Secure 2' } as const;

const hourMs = 3_600_000;

/** A code in no table of response codes, which Mandate must report as unknown. */
const undocumentedCode = 'Z9';

export const testCards: readonly TestCard[] = [
  { number: '4242424242424242', network: 'visa' },
  { number: '5555555555554444', network: 'mastercard' },
  { number: '586824160825533338', network: 'maestro' },
  { number: '2201382000000013', network: 'mir' },
  { number: '4300000000000777', network: 'visa' },
  { number: '2222990905257051', network: 'mastercard' },
  { number: '2223577120017656', network: 'mastercard' },
  { number: '4012888888881881', network: 'visa', authentication: byPost },
  { number: '5169147129584558', network: 'mastercard', authentication: byPost },
  { number: '4556418324571052', network: 'visa', authentication: byGet },
  { number: '4929172190150505', network: 'visa', authentication: secondByPost },
  { number: '4556724110260093', network: 'visa', authentication: secondByGet },
  { number: '4987654321098769', network: 'visa', authentication: 'fails' },
  { number: '5123456789012346', network: 'mastercard', authentication: 'fails' },
  { number: '4342561111111118', network: 'visa', authentication: 'times out' },
  { number: '5112000200000002', network: 'mastercard', authentication: 'times out' },
  { number: '4000000000000002', network: 'visa', declined: '51' },
  { number: '5100000000000412', network: 'mastercard', declined: '51' },
  { number: '4222222222222220', network: 'visa', declined: '56' },
  { number: '5100000000000511', network: 'mastercard', declined: '56' },
  // On Mastercard, 82 is a policy decline, so a wrong security code has to be N7.
  { number: '4003830171874018', network: 'visa', declined: '82' },
  { number: '5496198584584769', network: 'mastercard', declined: 'N7' },
  { number: '4000000000000069', network: 'visa', declined: '54' },
  { number: '5105105105105100', network: 'mastercard', declined: '54' },
  { number: '4111110000000112', network: 'visa', declined: undocumentedCode },
  { number: '5124990000000002', network: 'mastercard', declined: undocumentedCode },
  { number: '5000000000000009', network: 'visa', declined: undocumentedCode },
  { number: '2222405343248877', network: 'mastercard', declined: undocumentedCode },
  { number: '2223007648726984', network: 'mastercard', declined: undocumentedCode },
  { number: '4000000000005704', network: 'visa', takesNoPayouts: true },
  { number: '4000000000511008', network: 'visa', withoutPayer: { declined: '51', times: 2 } },
  { number: '4000000000519993', network: 'visa', withoutPayer: { declined: '51' } },
  { number: '4000000000549990', network: 'visa', withoutPayer: { declined: '54' } },
  { number: '4000000000919193', network: 'visa', withoutPayer: { declined: 'R1' } },
  { number: '4000000000119992', network: 'visa', withoutPayer: { declined: '1A' } },
  { number: '4000000000003600', network: 'visa', withoutPayer: { silentMs: hourMs } },
];

const byNumber = new Map(testCards.map((card) => [card.number, card]));

export function isTestCard(number: string): boolean {
  return byNumber.has(number);
}

/** What a sandbox keeps in place of a number that is not in the table, which may be a real one. */
export const standInNumber = '4111111111111111';

/** For a payment, a number outside the table belongs to no issuer. */
export function cardForPayment(number: string): TestCard {
  return byNumber.get(number) ?? { number, network: networkOf(number), declined: '15' };
}

/** For a payout, a number outside the table is approved. */
export function cardForPayout(number: string): TestCard {
  return byNumber.get(number) ?? { number, network: networkOf(number) };
}

function networkOf(number: string): string {
  const four = Number(number.slice(0, 4));
  if (four >= 2200 && four <= 2204) return 'mir';
  if ((four >= 2221 && four <= 2720) || (four >= 5100 && four <= 5599)) return 'mastercard';
  if (number.startsWith('4')) return 'visa';
  if (/^(50|5[6-9]|6)/.test(number)) return 'maestro';
  return 'other';
}
