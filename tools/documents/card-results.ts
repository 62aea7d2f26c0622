// docs/test-cards-results.md: the outcome of a payment with each test card, worked out from the bank's table.
// test/api/card-results.test.ts runs all of it.
import {
  failureOfDecline,
  merchantError,
  payerError,
} from '../../src/acquiring/authorisation/domain/payment-failure.ts';
import { systemClock } from '../../src/clock.ts';
import { declineClassOf } from '../../src/retry-rules/domain/rule-packs.ts';
import { defined } from '../../src/defined.ts';
import { declineTexts } from '../../src/sandbox/bank/state/decline-texts.ts';
import { testCards, type TestCard } from '../../src/sandbox/bank/test-cards.ts';
import { printedFrom, table } from './markdown.ts';

export const heldMinor = 6_000;
export const capturedPartMinor = 2_500;
export const refundedPartMinor = 1_000;

export const flows = ['instant', 'hold'] as const;
export const endings = ['nothing', 'capture', 'capture part', 'cancel', 'refund', 'refund part'] as const;
export type FlowName = (typeof flows)[number];
export type Ending = (typeof endings)[number];
/** What the payer does in the 3-D Secure challenge. */
export type Decision = 'confirm' | 'refuse';

export type CardRun = {
  readonly card: string;
  readonly decision?: Decision;
  readonly flow: FlowName;
  readonly ending: Ending;
};

export type CardResult = {
  /** Status of the payment. */
  readonly status: string;
  readonly invoice: 'paid' | 'unpaid';
  /** The error code, if the merchant's request was refused. */
  readonly refused?: string;
  /** The sum of the payment's entries in the bank's transaction report. */
  readonly atBankMinor: number;
  /** As the merchant's server reads it. */
  readonly error?: unknown;
  readonly payerError?: unknown;
};

/** Every card in every flow with every ending; cards with a challenge also with a payer who refuses it. */
export function cardRuns(): CardRun[] {
  return payers().flatMap((payer) =>
    flows.flatMap((flow) => endings.map((ending) => ({ ...payer, flow, ending }))),
  );
}

function payers(): Pick<CardRun, 'card' | 'decision'>[] {
  return testCards.flatMap((card) =>
    isChallenged(card)
      ? (['confirm', 'refuse'] as const).map((decision) => ({ card: card.number, decision }))
      : [{ card: card.number }],
  );
}

function isChallenged({ authentication }: TestCard): boolean {
  return typeof authentication === 'object';
}

export function expectedResult({ card, decision, flow, ending }: CardRun): CardResult {
  const decline = declineOf(card, decision);
  if (decline) {
    const failure = failureOfDecline(decline);
    const isOfBank = !decline.code.startsWith('3ds');
    const { code } = decline;
    const error = {
      ...merchantError(failure),
      ...(isOfBank ? { declineClass: classOf(decline) } : {}),
      bank: { code, ...defined({ text: declineTexts[code] }) },
    };
    const errors = { error, payerError: payerError(failure) };
    const failed = { status: 'failed', invoice: 'unpaid', atBankMinor: 0, ...errors } as const;
    return ending === 'nothing' ? failed : { ...failed, refused: 'invalidPaymentStatus' };
  }
  const captured = (atBankMinor: number) => ({ status: 'captured', invoice: 'paid', atBankMinor }) as const;
  if (flow === 'instant' && (ending === 'cancel' || ending === 'capture' || ending === 'capture part')) {
    return { ...captured(heldMinor), refused: 'invalidPaymentStatus' };
  }
  switch (ending) {
    case 'nothing':
      if (flow === 'instant') return captured(heldMinor);
      return { status: 'processed', invoice: 'unpaid', atBankMinor: 0 };
    case 'capture':
      return captured(heldMinor);
    case 'capture part':
      return captured(capturedPartMinor);
    case 'cancel':
      return { status: 'cancelled', invoice: 'unpaid', atBankMinor: 0 };
    case 'refund':
      return { status: 'refunded', invoice: 'paid', atBankMinor: 0 };
    case 'refund part':
      return captured(heldMinor - refundedPartMinor);
  }
}

/** The tables of today. The classes of test cards have no later changes. */
function classOf(decline: { readonly network: string; readonly code: string }): string {
  return declineClassOf(decline, systemClock.now());
}

function declineOf(number: string, decision: Decision | undefined) {
  const card = testCards.find((known) => known.number === number);
  if (!card) throw new Error(`the simulated bank has no card ${number}`);
  const { network, authentication, declined } = card;
  const code =
    authentication === 'fails' || decision === 'refuse'
      ? '3ds-failed'
      : authentication === 'times out'
        ? '3ds-not-finished'
        : declined;
  return code === undefined ? undefined : { network, code };
}

export function cardResultsText(): string {
  const [headings = [], ...rows] = cardResultRows();
  return `# Test card results

${printedFrom('tools/documents/card-results.ts')}

Every card of [the simulated bank](simulated-bank.md), in both payment flows, with an invoice of ${heldMinor} minor units. A test runs
every row against \`mandate serve\` and \`mandate bank\`. It compares the payment, the invoice, the error and the bank's
transaction report.

- _Challenge_ is what the payer does on the issuer's page.
- The columns from _nothing_ to _refund part_ are what the merchant does next. _Capture part_ captures ${capturedPartMinor}, and _refund part_
  refunds ${refundedPartMinor}. A hold is captured in full before it is refunded.
- A cell is the final status of the payment and the amount that the bank has charged.
- _refused_ means that the request got \`invalidPaymentStatus\` and changed nothing.
- The invoice is \`paid\` if the payment is \`captured\` or \`refunded\`, else \`unpaid\`.

${table(headings, rows)}
`;
}

/** The headings come first. */
function cardResultRows(): string[][] {
  const rows = payers().flatMap((payer) =>
    flows.map((flow) => {
      const results = endings.map((ending) => expectedResult({ ...payer, flow, ending }));
      const payerText =
        payer.decision === undefined ? '' : payer.decision === 'confirm' ? 'confirms' : 'refuses';
      return [payer.card, payerText, flow, ...results.map(cellOf), errorText(results[0]?.error)];
    }),
  );
  return [['Card', 'Challenge', 'Flow', ...endings, 'Error'], ...rows];
}

function cellOf({ status, refused, atBankMinor }: CardResult): string {
  return `${refused === undefined ? '' : 'refused: '}${status} ${atBankMinor}`;
}

function errorText(error: unknown): string {
  const { code, subError } = (error ?? {}) as { code?: string; subError?: unknown };
  if (code === undefined) return '';
  return subError === undefined ? code : `${code}:${errorText(subError)}`;
}
