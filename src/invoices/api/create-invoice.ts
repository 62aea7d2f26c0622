// POST /v2/processing/invoices: creates an invoice and its access token.
import { endpoint } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';
import { accept } from '../../refusal.ts';
import { findInvoiceByExternalId } from '../store/invoices.ts';
import {
  decisiveOf,
  errorsOfNewInvoice,
  invoiceIdentity,
  invoiceProblem,
  makeInvoice,
  type NewInvoiceDeps,
} from './new-invoice.ts';
import { InvoiceAndToken, invoiceAndToken, invoiceBody, invoiceExample, InvoiceParams } from './schema.ts';

type Deps = NewInvoiceDeps & {
  readonly tokens: AccessTokens;
  readonly jobs: Pick<JobRunner, 'wake'>;
};

export const createInvoice = endpoint({
  operation: 'createInvoice',
  access: { scope: 'invoices:write' },
  method: 'POST',
  path: '/v2/processing/invoices',
  tag: 'Invoices',
  summary: 'Create an invoice',
  description:
    'What is to be paid, to which shop and until when. The access token is for a browser, for three days. Unpaid at its due ' +
    'date, it is cancelled.',
  body: InvoiceParams,
  validateBody: (body) => invoiceProblem(body),
  bodyExample: invoiceExample,
  status: 201,
  response: InvoiceAndToken,
  errors: errorsOfNewInvoice,
  handle: async ({ caller, body, now }, deps: Deps) => {
    const { db, merchants, tokens, jobs } = deps;
    const { partyId } = caller;
    const fingerprint = requestFingerprint(invoiceIdentity(body));
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'makeFirst',
      find: (externalId) => findInvoiceByExternalId(db, partyId, externalId),
      respond: async (invoice) => {
        const trading = await merchants.trading(invoice);
        return trading.ok ? accept(invoiceAndToken(invoice, tokens)) : trading;
      },
      compared: (invoice) => ({ sent: decisiveOf(body), kept: invoiceBody(invoice) }),
      make: async () => {
        const made = await makeInvoice(body, fingerprint, { partyId, now }, deps);
        if (made === 'externalIdTaken' || !made.ok) return made;
        if (made.value.dueDate <= now) db.afterCommit(() => jobs.wake());
        return accept(invoiceAndToken(made.value, tokens), made.warnings);
      },
    });
  },
});
