// GET /sandbox/outbox: the receipts that were mailed to payers, or would have been, to look at.
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
        '`waiting`: to be sent, or tried again. `kept`: no mail server is set, so it stays here. `sent`: the mail server has it. ' +
        '`refused`: the mail server knows nobody there.',
    }),
    endedAt: Type.Optional(DateTime),
    refusal: Type.Optional(Type.String({ description: 'What the mail server said of the address.' })),
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
  summary: 'Look at the receipts your payers get by mail',
  description:
    'The newest first. A sandbox keeps them here; with `SMTP_URL` it sends them too. The sandbox alone has this operation: ' +
    'elsewhere `GET …/receipt` says what became of the letter.',
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
