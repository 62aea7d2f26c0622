// A merchant with recurring charges, for their tests.
import { invoicesUrl, makeInvoice, type CreatedInvoice } from './invoices.ts';
import type { PaymentWorld } from './payment-world.ts';
import type { Answer, Merchant } from '../service/test-service.ts';

const visa = '4242424242424242';
export const mastercard = '5555555555554444';

/** Amounts for which the simulated bank declines, or loses the response. */
export const declinedWith = (code: string | number) => 100_000 + 99_000 + Number(code);
export const insufficientFunds = declinedWith(51);
export const waitFourDays = 199_908;
export const stoppedByPayer = 199_909;
export const connectionBreaks = 199_921;

export type Parent = { readonly invoiceID: string; readonly paymentID: string };

export type RecurringWorld = {
  /** A captured payment with the payer present, which can be a parent. */
  parent(cardNumber?: string, more?: Record<string, unknown>, by?: Merchant): Promise<Parent>;
  invoice(amount?: number, more?: Record<string, unknown>, by?: Merchant): Promise<CreatedInvoice>;
  /** For that invoice, or a new one of that amount. */
  charge(parent: Parent, invoice?: CreatedInvoice | number, more?: Charge): Promise<Answer>;
  /** The same, once the bank has responded; returns the status. */
  charged(parent: Parent, invoice?: CreatedInvoice | number, more?: Charge): Promise<string>;
};
type Charge = {
  readonly by?: Merchant;
  readonly body?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
};

export function recurringWorld(world: PaymentWorld): RecurringWorld {
  const { service } = world;
  const isInvoice = (given: CreatedInvoice | number): given is CreatedInvoice => typeof given === 'object';

  const self: RecurringWorld = {
    async parent(cardNumber = visa, more = {}, by = world.merchant) {
      const invoice = await makeInvoice(service, by, more);
      const { token: paymentToolToken } = await world.tokenize(cardNumber, by.apiKey);
      const made = await service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, {
        token: by.apiKey,
        body: {
          payer: {
            payerType: 'PaymentResourcePayer',
            paymentToolToken,
            contactInfo: { email: 'payer@example.com' },
          },
          makeRecurrent: true,
        },
      });
      if (made.status !== 201) throw new Error(`the parent was not created: ${made.text}`);
      await service.jobs.whenIdle();
      return { invoiceID: invoice.id, paymentID: '1' };
    },
    invoice: (amount = 6_000, more = {}, by = world.merchant) =>
      makeInvoice(service, by, { amount, ...more }),
    async charge(parent, given = 6_000, { by = world.merchant, body = {}, headers = {} } = {}) {
      const invoice = isInvoice(given) ? given : await self.invoice(given, {}, by);
      const payer = {
        payerType: 'RecurrentPayer',
        recurrentParentPayment: parent,
        contactInfo: { email: 'payer@example.com' },
      };
      return service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, {
        token: by.apiKey,
        body: { payer, ...body },
        headers,
      });
    },
    async charged(parent, given, more = {}) {
      const made = await self.charge(parent, given, more);
      if (made.status !== 201) return made.body.code;
      await service.jobs.whenIdle();
      const url = `${invoicesUrl}/${made.body.invoiceID}/payments/${made.body.id}`;
      const { apiKey: token } = more.by ?? world.merchant;
      return (await service.call('GET', url, { token })).body.status;
    },
  };
  return self;
}
