// GET /sandbox/outbox: the receipts sent to payers, or kept because no mail server is configured.
import { Type, type Static } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime, EntityID } from '../../platform/http/schemas.ts';
import { accept } from '../../refusal.ts';
import type { PayerEmail } from '../domain/payer-email.ts';
import { findOutbox } from '../store/payer-emails.ts';
import { defined } from '../../defined.ts';
import type { Database } from '../../platform/database/database.ts';

const maxEmails = 1_000;

const PayerEmailSchema = Type.Object(
  {
    invoiceID: EntityID,
    paymentID: EntityID,
    createdAt: DateTime,
    to: Type.String(),
    status: Type.Enum(['waiting', 'kept', 'sent', 'refused'], {
      description:
        '`waiting`: to be sent or retried. `kept`: no mail server is configured, so it stays here. `sent`: the mail server ' +
        'accepted it. `refused`: the mail server rejected the address.',
    }),
    endedAt: Type.Optional(DateTime),
    refusal: Type.Optional(Type.String({ description: 'How the mail server rejected the address.' })),
    subject: Type.Optional(Type.String()),
    text: Type.Optional(Type.String()),
    html: Type.Optional(Type.String()),
  },
  { title: 'Letter' },
);

export const listOutbox = endpoint({
  operation: 'listOutbox',
  access: { scope: 'sandbox' },
  method: 'GET',
  path: '/sandbox/outbox',
  tag: 'Sandbox',
  summary: 'List the receipts emailed to payers',
  description: 'Newest first. With `SMTP_URL` they are also sent.',
  query: Type.Object({
    invoiceID: Type.Optional(EntityID),
    limit: Type.Optional(Type.Integer({ minimum: 1, default: 100, description: 'At most 1000.' })),
  }),
  status: 200,
  response: Type.Array(PayerEmailSchema),
  errors: [],
  handle: async ({ caller, query }, { db }: { db: Database }) => {
    const limit = Math.min(query.limit ?? 100, maxEmails);
    const payerEmails = await findOutbox(db, { partyId: caller.partyId, invoiceId: query.invoiceID, limit });
    return accept(payerEmails.map(payerEmailBody));
  },
});

function payerEmailBody(email: PayerEmail): Static<typeof PayerEmailSchema> {
  const { paid, createdAt, recipient: to, status, endedAt, refusal, written } = email;
  const { invoiceId: invoiceID, paymentId: paymentID } = paid;
  return { invoiceID, paymentID, createdAt, to, status, ...defined({ endedAt, refusal }), ...written };
}
