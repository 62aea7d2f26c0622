// The payment's own log in words: how it began, 3-D Secure, each change of its status, and its refunds.
import { defined } from '../../defined.ts';
import type { PaymentFact, PaymentTerms } from '../../payments/domain/payment.ts';
import { declineHelp } from '../domain/decline-help.ts';
import type { TimelineLine } from '../domain/item.ts';
import { named, nothing, say, sentences, timeOf, type Text } from '../domain/text.ts';
import type { PaymentFacts } from '../port.ts';
import {
  adviceOn,
  authenticationLines,
  byOperator,
  challengeEndLine,
  challengeLine,
  codeOf,
  meaningOf,
  rerouteLine,
  secure,
  status,
  type UndatedLine as Line,
} from './words.ts';

type Fact<Type extends PaymentFact['type']> = Extract<PaymentFact, { readonly type: Type }>;

const refund = (id: string, text: Text, more: Partial<Line> = {}): Line => ({
  kind: 'refund',
  text,
  id,
  ...more,
});

const lines: { readonly [Type in PaymentFact['type']]: (fact: Fact<Type>) => readonly Line[] } = {
  payment_started: ({ terms }) => startLines(terms),
  payment_rerouted: () => [rerouteLine],
  payment_stepped_up: ({ network, code }) => [
    {
      ...secure(
        say('The issuer demands 3-D Secure: {network} code {code}. It is sent again with it.', {
          network,
          code,
        }),
      ),
      code,
    },
  ],
  payment_interaction_requested: ({ until }) => [challengeLine(until)],
  payment_interaction_completed: () => [challengeEndLine],
  payment_reversal_started: ({ failure }) => [
    status(say('Given up, and reversed: {meaning}', { meaning: meaningOf(failure) }), {
      code: codeOf(failure),
      isRequest: true,
    }),
  ],
  payment_processed: ({ approval }) => [status(say('Authorised.')), ...authenticationLines(approval)],
  payment_capture_started: ({ amount, reason }) => [
    status(say('Capture requested: {reason}', { reason }), { amount, isRequest: true }),
  ],
  payment_captured: ({ amount, settledBecause }) => [
    status(sentences(say('Captured.'), byOperator(settledBecause)), { amount }),
  ],
  payment_cancel_started: ({ reason, code }) => [
    status(say('Cancellation started: {reason}', { reason }), { ...defined({ code }), isRequest: true }),
  ],
  payment_reversal_refused: ({ code, isUncharged }) => [
    status(
      say(
        isUncharged
          ? 'The bank does not reverse it, and has taken no money.'
          : 'The bank does not reverse it, so what it took is refunded.',
      ),
      { code },
    ),
  ],
  payment_given_back: ({ amount, settledBecause }) => [
    status(sentences(say('The payer has the money back.'), byOperator(settledBecause)), defined({ amount })),
  ],
  payment_cancelled: ({ settledBecause }) => [
    status(sentences(say('Cancelled.'), byOperator(settledBecause))),
  ],
  payment_failed: ({ failure, declineClass, settledBecause }) => [
    status(
      sentences(
        say('Failed: {meaning}', { meaning: meaningOf(failure) }),
        declineClass ? say(declineHelp[declineClass]) : adviceOn(failure),
        byOperator(settledBecause),
      ),
      { code: codeOf(failure), ...defined({ declineClass }) },
    ),
  ],
  refund_started: ({ refund: { id, amount, reason, waitsUntil } }) => [
    refund(
      id,
      reason === undefined ? say('Refund requested.') : say('Refund requested: {reason}', { reason }),
      { amount, isRequest: true },
    ),
    ...(waitsUntil === undefined
      ? []
      : [refund(id, say('It waits for money of the shop, until {time}.', { time: timeOf(waitsUntil) }))]),
  ],
  refund_funded: ({ refundId }) => [
    refund(refundId, say('The money of the shop for the refund is reserved.')),
  ],
  refund_failed: ({ refundId, failure, settledBecause }) => [
    refund(
      refundId,
      sentences(say('Refund failed: {meaning}', { meaning: meaningOf(failure) }), byOperator(settledBecause)),
      {
        code: codeOf(failure),
      },
    ),
  ],
  refund_succeeded: ({ refundId, rrn, arn, settledBecause }) => [
    refund(
      refundId,
      sentences(
        say('Refunded{reference}{arn}.', {
          reference: rrn ? say(', reference {reference}', { reference: rrn }) : nothing,
          arn: arn ? say(', ARN {arn}', { arn }) : nothing,
        }),
        byOperator(settledBecause),
      ),
    ),
  ],
  payment_refunded: () => [status(say('Refunded in full.'))],
  payment_capture_failed: ({ amount, code }) => [
    status(say('The bank does not pay what it had captured.'), { amount, ...defined({ code }) }),
  ],
  payment_approved_late: () => [
    status(say('The bank approved it after it was given up. That charge is undone.')),
  ],
  payment_undo_started: ({ operation, amount, code }) => [
    status(
      say(
        operation === 'f'
          ? 'The bank approved the declined charge before the challenge. That charge is undone.'
          : 'The refund that undid a charge failed later. It is sent once more.',
      ),
      { ...defined({ amount, code }), isRequest: true },
    ),
  ],
  payment_undo_refused: ({ code }) => [
    status(say('The bank does not undo that charge, so an operator finds out why.'), { code }),
  ],
  payment_undone: ({ amount, settledBecause }) => [
    status(
      sentences(say('The payer has the money of that charge back.'), byOperator(settledBecause)),
      defined({ amount }),
    ),
  ],
  refund_returned: ({ refundId, amount }) => [
    refund(refundId, say('The money of the refund came back to the shop.'), { amount }),
  ],
};

export function paymentLines(facts: PaymentFacts): TimelineLine[] {
  return facts.flatMap(({ at, fact }) => linesOf(fact).map((line) => ({ at, ...line })));
}

function linesOf<Type extends PaymentFact['type']>(fact: Fact<Type>): readonly Line[] {
  return (lines[fact.type as Type] as (fact: Fact<Type>) => readonly Line[])(fact);
}

function startLines({ amount, flow, payer, threeDSecure, exemption, authenticated }: PaymentTerms): Line[] {
  const isHeld = flow.type === 'hold';
  const began =
    'seriesId' in payer
      ? say(isHeld ? 'Created without the payer, held first.' : 'Created without the payer, in one step.')
      : say(isHeld ? 'Created by the payer, held first.' : 'Created by the payer, in one step.');
  const wishes = {
    always: 'The bank is asked for 3-D Secure.',
    never: 'The bank is asked to do without 3-D Secure.',
  } as const;
  const warnings = 'warnings' in payer ? payer.warnings : [];
  return [
    { kind: 'payment', text: began, amount },
    ...(threeDSecure ? [secure(say(wishes[threeDSecure]))] : []),
    ...(exemption
      ? [
          secure(
            say('The bank is asked for an exemption from 3-D Secure: {exemption}.', {
              exemption: named(exemption),
            }),
          ),
        ]
      : []),
    ...(authenticated
      ? [secure(say('Authenticated elsewhere: status {status}, ECI {eci}.', authenticated))]
      : []),
    ...warnings.map((warning): Line => ({
      kind: 'rules',
      text: say('Allowed with a warning: {warning}.', { warning: named(warning) }),
    })),
  ];
}
