// A service with a bank: the simulated one, in memory, behind real HTTP, with the clock of the test. The steps of a merchant's server and
// a payer's browser are functions here.
import {
  protocolVersion,
  sign,
  signatureHeader,
  versionHeader,
} from '../../../src/acquiring/adapters/http/signature.ts';
import { epochMsOf } from '../../../src/clock.ts';
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import { settlementAccount } from '../../../src/platform/ledger/domain/account.ts';
import { readBalance } from '../../../src/platform/ledger/store/journals.ts';
import type { Currency } from '../../../src/money.ts';
import {
  openSimulatedBank,
  type SimulatedBank,
  type SimulatedBankOptions,
} from '../../../src/sandbox/bank/simulated-bank.ts';
import { differences, readBook } from '../checks/ledger-check.ts';
import { cardBody, paymentResourcesUrl } from './cards.ts';
import { visitIssuer } from '../bank/issuer-page.ts';
import { invoicesUrl, makeInvoice, type CreatedInvoice } from './invoices.ts';
import type { TestDatabase } from '../database/test-database.ts';
import { startTestService, type Answer, type Merchant, type TestService } from '../service/test-service.ts';

const currencies: Record<string, Currency> = { TEST_USD: 'USD' as Currency, TEST_EUR: 'EUR' as Currency };
export const secret = 'a secret of the tests that is long enough';

export type Paying = CreatedInvoice & { readonly created: Answer };

export type PaymentWorld = {
  readonly service: TestService;
  readonly bank: SimulatedBank;
  /** The key with which the bank and the service sign their messages. */
  readonly bankSecret: string;
  readonly merchant: Merchant;
  /** A merchant whose shops have a terminal with the bank. */
  createMerchant(): Promise<Merchant>;
  tokenize(cardNumber: string, token?: string): Promise<{ token: string; session: string }>;
  /** An invoice and a payment of it with that card, created but not yet decided by the bank. */
  pay(cardNumber: string, more?: Record<string, unknown>, invoice?: Record<string, unknown>): Promise<Paying>;
  /** The same, once the bank has responded and no more jobs are due. */
  paid(cardNumber: string, more?: Record<string, unknown>): Promise<Paying>;
  payment(invoice: CreatedInvoice, id?: string): Promise<any>;
  /** The changes of the invoice's feed, flat. */
  changes(invoice: CreatedInvoice): Promise<any[]>;
  /** What a payer does on the issuer's page. */
  decide(invoice: CreatedInvoice, decision: 'confirm' | 'refuse' | 'cancel'): Promise<void>;
  /** The same; then the browser returns to the service. */
  authenticate(invoice: CreatedInvoice, decision: 'confirm' | 'refuse' | 'cancel'): Promise<void>;
  /** The same on the page of an interaction request. */
  decideAtIssuer(request: any, decision: 'confirm' | 'refuse' | 'cancel'): Promise<void>;
  /** The bank's transaction report. */
  book(): Promise<BookEntry[]>;
  /** The bank's callback that something has changed; resolves once it has been processed. 429: it came too soon. */
  callback(operationId: string): Promise<204 | 429>;
  /** Where the bank's report, the payments and the ledger differ: nowhere, once everything is final. */
  differences(): Promise<string[]>;
  /** The balance of a shop, and what of it is available for refunds. */
  balance(shopId?: string): Promise<{ own: number; available: number }>;
  close(): Promise<void>;
};

export async function startPaymentWorld(
  environment: Record<string, string> = {},
  bankOptions: Partial<SimulatedBankOptions> = {},
  prepare?: Parameters<typeof startTestService>[1],
  database?: TestDatabase,
): Promise<PaymentWorld> {
  const service = await startTestService(environment, prepare, database);
  const { clock, banks, jobs } = service;
  const bank = await openSimulatedBank({ clock, secret, log: { warn: () => {} }, ...bankOptions });
  await banks.putBank({ id: 'BANK', url: bank.url, secret });

  async function createMerchant(): Promise<Merchant> {
    const merchant = await service.createMerchant();
    for (const shopId of ['TEST', 'TEST_USD', 'TEST_EUR']) {
      const terminal = { id: 'T1', merchantId: shopId, descriptor: 'TEST SHOP' };
      await banks.putTerminal({
        ...terminal,
        partyId: merchant.partyId,
        shopId,
        bankId: 'BANK',
        priority: 1,
      });
    }
    await banks.putPayoutTerminal({
      id: 'P1',
      merchantId: 'PAYOUTS',
      descriptor: 'TEST PAYOUTS',
      partyId: merchant.partyId,
      bankId: 'BANK',
      priority: 1,
    });
    return merchant;
  }

  const merchant = await createMerchant();
  const token = merchant.apiKey;

  async function tokenize(cardNumber: string, by = token): Promise<{ token: string; session: string }> {
    const body = cardBody({ cardNumber });
    const made = await service.call('POST', paymentResourcesUrl, { token: by, body });
    if (made.status !== 201) throw new Error(`the card was not tokenised: ${made.status} ${made.text}`);
    return { token: made.body.paymentToolToken, session: made.body.paymentSession };
  }

  async function pay(
    cardNumber: string,
    more: Record<string, unknown> = {},
    terms: Record<string, unknown> = {},
  ): Promise<Paying> {
    const invoice = await makeInvoice(service, merchant, terms);
    const card = await tokenize(cardNumber);
    const body = {
      flow: { type: 'PaymentFlowInstant' },
      payer: {
        payerType: 'PaymentResourcePayer',
        paymentToolToken: card.token,
        contactInfo: { email: 'payer@example.com' },
      },
      ...more,
    };
    const created = await service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, { token, body });
    return { ...invoice, created };
  }

  async function payment(invoice: CreatedInvoice, id = '1'): Promise<any> {
    return (await service.call('GET', `${invoicesUrl}/${invoice.id}/payments/${id}`, { token })).body;
  }

  async function changes(invoice: CreatedInvoice): Promise<any[]> {
    const { body } = await service.call('GET', `${invoicesUrl}/${invoice.id}/events?limit=1000`, { token });
    return body.flatMap((event: { changes: unknown[] }) => event.changes);
  }

  async function decide(invoice: CreatedInvoice, decision: 'confirm' | 'refuse' | 'cancel'): Promise<void> {
    const asked = (await changes(invoice)).find(
      ({ changeType }) => changeType === 'PaymentInteractionRequested',
    );
    await visitIssuer(asked.userInteraction.request, decision);
  }

  const book = () => readBook(bank.url, secret, epochMsOf(clock.now()));

  return {
    service,
    bank,
    bankSecret: secret,
    merchant,
    createMerchant,
    tokenize,
    pay,
    async paid(cardNumber, more) {
      const paying = await pay(cardNumber, more);
      await jobs.whenIdle();
      return paying;
    },
    payment,
    changes,
    decide,
    async authenticate(invoice, decision) {
      await decide(invoice, decision);
      await service.call('GET', `/payer/return/${invoice.id}/1`);
      await jobs.whenIdle();
    },
    book,
    decideAtIssuer: async (request, decision) => void (await visitIssuer(request, decision)),
    async callback(operationId) {
      const target = '/bank/callbacks/BANK';
      const text = JSON.stringify({ operationId });
      const message = { method: 'POST', target, body: Buffer.from(text) };
      const signature = sign(secret, message, Math.floor(epochMsOf(clock.now()) / 1_000));
      const headers = {
        [versionHeader]: protocolVersion,
        [signatureHeader]: signature,
        'content-type': 'application/json',
      };
      const heard = await service.call('POST', target, { body: text, headers });
      const { status } = heard;
      if (status !== 204 && status !== 429) throw new Error(`the callback got status ${status}`);
      await jobs.whenIdle();
      return status;
    },
    async differences() {
      return differences(service.database, await book());
    },
    async balance(shopId = 'TEST') {
      const account = settlementAccount({
        livemode: false,
        currency: currencies[shopId] ?? ('RUB' as Currency),
        partyId: merchant.partyId,
        shopId,
      });
      const { own, available } = await readBalance(service.database, account);
      return { own: Number(own), available: Number(available) };
    },
    async close() {
      await service.close();
      await bank.stop();
    },
  };
}
