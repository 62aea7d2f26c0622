// Everything endpoints depend on, put together once in composition/http-service.ts. Each endpoint names the members it uses, so only app/ imports this.
import type { Banks } from '../acquiring/banks.ts';
import type { CardTesting } from '../cards/card-testing.ts';
import type { PayerAttempts } from '../cards/payer-attempts.ts';
import type { Cards } from '../cards/vault.ts';
import type { Clock } from '../clock.ts';
import type { BindingRules } from '../customers/domain/commands.ts';
import type { ConsentLinks } from '../consent-links/port.ts';
import type { Customers } from '../customers/port.ts';
import type { Database } from '../platform/database/database.ts';
import type { Ids } from '../ids.ts';
import type { TemplateLimits } from '../invoices/template-limits.ts';
import type { TemplateTokens } from '../invoices/template-tokens.ts';
import type { AccessTokens } from '../platform/keys/access-token.ts';
import type { JobRunner } from '../platform/jobs/job-runner.ts';
import type { JobRows } from './job-handlers.ts';
import type { AcceptedNetworks } from '../merchants/domain/accepted-networks.ts';
import type { Merchants } from '../merchants/merchants.ts';
import type { Receipts } from '../receipts/receipts.ts';
import type { Charging, Consents } from '../recurring/port.ts';
import type { HandOnFault } from '../sandbox/fault-orders.ts';
import type { PayerPages } from '../subscriptions/port.ts';
import type { Exports } from '../search/exports/port.ts';
import type { PayerEmails } from '../subscriptions/payer-emails.ts';
import type { PageTokens } from '../search/page-tokens.ts';
import type { Turns } from '../search/turns.ts';
import type { Language } from '../timeline/domain/phrases.ts';
import type { TimelineSources } from '../timeline/port.ts';
import type { WebhookOperations, Webhooks } from '../webhooks/webhooks.ts';
import type { PayoutRules } from '../payouts/payout-rules.ts';

export type AppContext = {
  /** The pool, or the transaction a request with an Idempotency-Key runs in. */
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tokens: AccessTokens;
  readonly templateTokens: TemplateTokens;
  readonly templateLimits: TemplateLimits;
  readonly pageTokens: PageTokens;
  readonly searchTurns: Turns;
  readonly exports: Exports;
  readonly merchants: Merchants;
  /** The methods of the vault that return no card number. */
  readonly cards: Cards;
  readonly cardTesting: CardTesting;
  readonly payerAttempts: PayerAttempts;
  readonly banks: Banks;
  readonly networksFor: AcceptedNetworks;
  readonly handOnFault: HandOnFault;
  readonly customers: Customers;
  readonly bindingRules: BindingRules;
  /** Whether a recurring charge is allowed, and its outcome. */
  readonly charging: Charging;
  readonly consents: Consents;
  readonly receipts: Receipts;
  readonly payerEmails: PayerEmails;
  /** The pages on which payers agree to new terms. */
  readonly consentLinks: ConsentLinks;
  /** The pages on which payers look after their subscriptions. */
  readonly payerPages: PayerPages;
  /** Limits, fees and providers of payouts. */
  readonly payouts: PayoutRules;
  /** What is read for the timeline of a payment. */
  readonly timeline: TimelineSources;
  /** Of the texts of timelines. */
  readonly language: Language;
  readonly jobs: JobRunner<JobRows>;
  readonly webhooks: WebhookOperations;
  /** What the service's own pages begin with. */
  readonly publicUrl: () => string;
};

/**
 * Slow work without the database. Only an endpoint's `prepare` gets it: a handler may hold a transaction, and other requests wait for
 * its connection.
 */
export type PrepareContext = Pick<Webhooks, 'keyPairs'>;
