// What the upgrade makes of emails to payers: those about subscriptions move to the outbox of receipts.
import { expect, onTestFinished, test } from 'vitest';
import { messageIdOf } from '../../../src/emails/domain/payer-email.ts';
import { findOutbox } from '../../../src/emails/store/payer-emails.ts';
import type { DatabasePool } from '../../../src/platform/database/database.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { emailContentIn } from '../../../src/subscriptions/store/email-content.ts';
import { migrateFirst } from '../../support/database/first-migrations.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';

const lastBefore = 49;

/** As 0.2.0 writes it, also after the migration. */
const receiptOf020 = (invoiceId: string) => `
insert into payer_email (invoice_id, payment_id, party_id, series_id, status, created_at, recipient, paid_at, amount_minor, currency,
  reference, approval_code, wake_at, attempts)
values ('${invoiceId}', '1', 'P', 'S', 'waiting', '2026-01-01', 'payer@example.com', '2026-01-01', 100, 'RUB', 'R', null, '2026-01-01', 1)`;

const content = {
  kind: 'declined',
  product: 'Tea',
  currency: 'RUB',
  every: 'P1M',
  timeZone: 'UTC',
  priceMinor: 49900,
  shopId: 'TEST',
  language: 'en',
  invoiceId: 'unpaid',
};
const ofSubscriptions = `
insert into subscription_email (subscription_id, email_id, party_id, status, created_at, recipient, content, ended_at, subject,
  text_body, html_body, wake_at, attempts, stuck_at, stuck_reason)
values
  ('Z', '3.declined', 'P', 'waiting', '2026-01-03', 'payer@example.com', '${JSON.stringify(content)}', null, null, null, null,
    '2026-01-04', 2, null, '451'),
  ('Z', '4.declined', 'P', 'waiting', '2026-01-04', 'payer@example.com', '${JSON.stringify(content)}', null, null, null, null,
    null, 15, '2026-01-05', '451'),
  ('Z', '1.declined', 'P', 'sent', '2026-01-02', 'payer@example.com', '${JSON.stringify(content)}', '2026-01-02', 'S', 'T', 'H',
    null, 0, null, null)`;

const run = (database: DatabasePool, text: string) => database.withClient((client) => client.query(text));

test('emails about subscriptions move with their state, and an older node still writes receipts', async () => {
  const { database, drop } = await createTestDatabase('empty');
  onTestFinished(drop);
  await migrateFirst(database, lastBefore);
  await run(database, receiptOf020('before'));
  await run(database, ofSubscriptions);
  expect((await migrate(database))[0]).toMatch(/^0050/);
  await run(database, receiptOf020('later'));

  const all = await findOutbox(database, { partyId: 'P', invoiceId: undefined, limit: 10 });
  expect(all.map((email) => [messageIdOf(email), email.status])).toEqual([
    ['subscription.Z.4.declined', 'waiting'],
    ['subscription.Z.3.declined', 'waiting'],
    ['subscription.Z.1.declined', 'sent'],
    ['receipt.before.1', 'waiting'],
    ['receipt.later.1', 'waiting'],
  ]);
  expect(all[2]).toMatchObject({ written: { subject: 'S', text: 'T', html: 'H' } });
  expect(emailContentIn(all[0]!)).toEqual({ ...content, priceMinor: 49_900n });
  expect(all[3]?.paid).toEqual({
    at: '2026-01-01T00:00:00.000000Z',
    amount: { minor: 100n, currency: 'RUB' },
    reference: 'R',
  });
  const ofInvoice = await findOutbox(database, { partyId: 'P', invoiceId: 'unpaid', limit: 10 });
  expect(ofInvoice).toHaveLength(3);
  const { rows } = await run(
    database,
    'select payment_id, attempts, wake_at is null as is_off, stuck_at is null as is_free from payer_email order by attempts desc',
  );
  expect(rows.slice(0, 2)).toEqual([
    { payment_id: '4.declined', attempts: 15, is_off: true, is_free: false },
    { payment_id: '3.declined', attempts: 2, is_off: false, is_free: true },
  ]);
});

test('a receipt without its payment, or an email without content, is refused', async () => {
  const { database, drop } = await createTestDatabase();
  onTestFinished(drop);
  const columns = 'invoice_id, payment_id, party_id, about, status, created_at, recipient';
  for (const about of ['receipt', 'subscription', 'else'])
    await expect(
      run(
        database,
        `insert into payer_email (${columns}) values ('I', '1', 'P', '${about}', 'waiting', now(), 'payer@example.com')`,
      ),
    ).rejects.toThrow('payer_email_about_check');
});
