// Begins a binding: for a card that is saved, and for new terms that the payer confirms with the card of a series.
import { latest, type Instant } from '../clock.ts';
import type { Banks, TerminalRefusal } from '../acquiring/banks.ts';
import { wantedVerification } from '../acquiring/domain/missing-ability.ts';
import type { PayerAttempts } from '../cards/payer-attempts.ts';
import type { PaymentResource } from '../cards/domain/payment-resource.ts';
import type { Shop } from '../merchants/domain/party.ts';
import type { Database } from '../platform/database/database.ts';
import { initialClaim, type JobRunner } from '../platform/jobs/job-runner.ts';
import { defined } from '../defined.ts';
import { accept, refuse, type Outcome, type Refusal } from '../refusal.ts';
import { decideStart, type BindingRules, type StartBinding } from './domain/commands.ts';
import { findEarlierBindings, storeNewBinding, type StoredBinding } from './store/bindings.ts';
import type { StoredCustomer } from './store/customers.ts';

export type BeginBindingDeps = {
  readonly db: Database;
  readonly banks: Pick<Banks, 'terminalFor'>;
  readonly jobs: Pick<JobRunner<{ binding: StoredBinding }>, 'run'>;
  readonly bindingRules: BindingRules;
  readonly payerAttempts: PayerAttempts;
};

export type BindingToBegin = Omit<StartBinding, 'card' | 'terminal'> & {
  readonly card: PaymentResource;
  /** Of the request, stored with its external ID. */
  readonly fingerprint: Buffer;
};

export async function beginBinding(
  { db, banks, jobs, bindingRules, payerAttempts }: BeginBindingDeps,
  { stored, shop }: { readonly stored: StoredCustomer; readonly shop: Shop },
  { card: resource, fingerprint, ...terms }: BindingToBegin,
  now: Instant,
): Promise<
  Outcome<StoredBinding, TerminalRefusal | 'tooManyBindings' | 'invalidPaymentToolToken'> | 'versionConflict'
> {
  const waits = await payerAttempts.refusalBefore(stored.customer, resource.card, 0);
  if (waits) return tooMany(waits);
  const { chargeReason } = terms.recurrentTerms ?? {};
  const wanted = wantedVerification(shop.currency, resource.card.paymentSystem, chargeReason);
  const terminal = await banks.terminalFor(shop, wanted);
  if (!terminal.ok) return terminal;
  const { id: customerId } = stored.customer;
  const cardFingerprint = resource.fingerprint.hash;
  const recent = await findEarlierBindings(db, { customerId, cardFingerprint }, bindingRules, now);
  const { token, session, card: details, clientInfo } = resource;
  const command = { ...terms, card: { token, session, details, clientInfo }, terminal: terminal.value };
  const startedAt = latest(now, stored.changedAt);
  const decision = decideStart(stored.customer, shop, command, bindingRules, recent, startedAt);
  if (!decision.ok) return decision;
  const hasExternalId = terms.externalId !== undefined;
  const attempt = payerAttempts.attemptOf(resource);
  const store = (on: Database) =>
    storeNewBinding(on, stored, decision.value, {
      cardFingerprint,
      attempt,
      fingerprint: hasExternalId ? fingerprint : null,
      claim: initialClaim(now),
    });
  // A taken external ID fails its statement. The inner transaction keeps that from failing the one around it.
  const written = await (hasExternalId ? db.transaction(store) : store(db));
  if (written === 'versionConflict') return written;
  if ('why' in written) {
    const refused = await payerAttempts.refusalOf(db, written);
    return refused.refusal.code === 'tooManyAttempts' ? tooMany(refused) : refuse('invalidPaymentToolToken');
  }
  db.afterCommit(() => jobs.run('binding', [customerId, terms.id], now, written));
  return accept(written);
}

/** The code that this operation has had for its own limits. */
function tooMany({ refusal: { waitSeconds } }: { readonly refusal: Refusal<string> }) {
  return refuse('tooManyBindings', defined({ waitSeconds }));
}
