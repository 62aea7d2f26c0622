// GET /sandbox/outbox: the receipts and the emails about subscriptions, sent to payers or kept because no mail server is configured.
import { Type, type Static } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime, EntityID } from '../../platform/http/schemas.ts';
import { accept } from '../../refusal.ts';
import { messageIdOf, type PayerEmail } from '../../emails/domain/payer-email.ts';
import { findOutbox } from '../../emails/store/payer-emails.ts';
import { defined } from '../../defined.ts';
import type { Database } from '../../platform/database/database.ts';
import { emailKinds } from '../domain/duties/emails.ts';
import { emailContentIn } from '../store/email-content.ts';

const maxEmails = 1_000;

const OutboxEmailSchema = Type.Object(
  {
    id: Type.String({ description: 'The `Message-ID` begins with it.' }),
    kind: Type.Enum(['receipt', ...emailKinds]),
    subscriptionID: Type.Optional(EntityID),
    invoiceID: Type.Optional(EntityID),
    paymentID: Type.Optional(EntityID),
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
type OutboxEmail = Static<typeof OutboxEmailSchema>;

export const listOutbox = endpoint({
  operation: 'listOutbox',
  access: { scope: 'sandbox' },
  method: 'GET',
  path: '/sandbox/outbox',
  tag: 'Sandbox',
  summary: 'List the emails to payers',
  description: 'Newest first. With `SMTP_URL` they are also sent.',
  query: Type.Object({
    invoiceID: Type.Optional(EntityID),
    limit: Type.Optional(Type.Integer({ minimum: 1, default: 100, description: 'At most 1000.' })),
  }),
  status: 200,
  response: Type.Array(OutboxEmailSchema),
  errors: [],
  handle: async ({ caller, query }, { db }: { db: Database }) => {
    const limit = Math.min(query.limit ?? 100, maxEmails);
    const asked = { partyId: caller.partyId, invoiceId: query.invoiceID, limit };
    return accept((await findOutbox(db, asked)).map(emailBody));
  },
});

function emailBody(email: PayerEmail): OutboxEmail {
  const { createdAt, recipient: to, status, endedAt, refusal, written } = email;
  const outcome = { createdAt, to, status, ...defined({ endedAt, refusal }), ...written };
  return { id: messageIdOf(email), ...causeBody(email), ...outcome };
}

function causeBody(
  email: PayerEmail,
): Pick<OutboxEmail, 'kind' | `${'subscription' | 'invoice' | 'payment'}ID`> {
  const { about, aggregateId, emailId } = email;
  if (about === 'receipt') return { kind: 'receipt', invoiceID: aggregateId, paymentID: emailId };
  const { kind, invoiceId: invoiceID } = emailContentIn(email);
  return { kind, subscriptionID: aggregateId, ...defined({ invoiceID }) };
}
