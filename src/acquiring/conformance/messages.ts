// The messages of the conformance checks, as a merchant of this currency would send them.
import type { AuthoriseMessage, PayoutMessage } from '../adapters/http/messages.ts';

const merchant = { id: 'CONFORMANCE', terminal: 'CHECK0001', descriptor: 'CONFORMANCE CHECK' };

type Merchant = { readonly currency: string; readonly cards: { readonly approved: string } };

export function messagesFor({ currency, cards }: Merchant) {
  return {
    authorise(changes: Partial<AuthoriseMessage> = {}, number = cards.approved): AuthoriseMessage {
      return {
        kind: 'authorise',
        merchant,
        amount: 6_000,
        currency,
        capture: true,
        card: { number, expiry: '2049-12', holder: 'CONFORMANCE CHECK', securityCode: '123' },
        initiation: { by: 'payer', storesCard: false },
        authentication: 'preferred',
        returnUrl: 'https://merchant.example/return',
        payer: { ip: '192.0.2.1', email: 'payer@example.com' },
        ...changes,
      };
    },
    followUp(kind: 'capture' | 'refund', originalOperationId: string, amount: number) {
      return { kind, merchant, originalOperationId, amount, currency };
    },
    reverse: (originalOperationId: string) => ({ kind: 'reverse', merchant, originalOperationId }),
    release: (originalOperationId: string, amount: number) => ({
      kind: 'reverse',
      merchant,
      originalOperationId,
      amount,
      currency,
    }),
    payout: (amount: number, more: Partial<PayoutMessage> = {}): PayoutMessage => ({
      kind: 'payout',
      merchant,
      amount,
      currency,
      card: { number: cards.approved },
      ...more,
    }),
    verify: () => ({ kind: 'verify', merchant, currency, card: { number: cards.approved } }),
  };
}
