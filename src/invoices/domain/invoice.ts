// An invoice: what is to be paid, to which shop and until when, with its status. Pure.
import type { Instant } from '../../clock.ts';
import { largestAmountMinor, type Money } from '../../money.ts';
import { requireTrading, type Party, type Shop, type TradingRefusal } from '../../merchants/domain/party.ts';
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import { defined } from '../../defined.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { drawnAmount, rangeOf, type RandomAmount } from './random-amount.ts';

export type CartLine = {
  readonly product: string;
  readonly quantity: bigint;
  readonly priceMinor: bigint;
  readonly taxMode?: { readonly type: 'InvoiceLineTaxVAT'; readonly rate: string };
};

export type BankAccount = {
  readonly accountType: 'InvoiceRussianBankAccount';
  readonly account: string;
  readonly bankBik: string;
};
export type ClientInfo = { readonly trustLevel: 'wellKnown' | 'unknown' };

/** What is fixed when the invoice is created. */
export type InvoiceTerms = {
  readonly id: string;
  readonly partyId: string;
  readonly shopId: string;
  readonly createdAt: Instant;
  readonly dueDate: Instant;
  readonly amount: Money;
  readonly product: string;
  readonly description?: string;
  readonly cart?: readonly CartLine[];
  readonly bankAccount?: BankAccount;
  readonly clientInfo?: ClientInfo;
  readonly metadata: object;
  readonly externalId?: string;
  readonly templateId?: string;
  /** Its payment saves the card for later charges, on these terms. If they say nothing, those of the request or the shop apply. */
  readonly recurring?: MandateTerms;
  /** What the merchant sent, if they asked for an amount by chance. */
  readonly originalMinor?: bigint;
  /** It asks for a period of it. */
  readonly subscriptionId?: string;
};

export type InvoiceState =
  | { readonly status: 'unpaid' | 'paid' }
  | { readonly status: 'fulfilled' | 'cancelled'; readonly reason: string };

/** While a payment may still take its money, the invoice is neither cancelled as overdue nor rescinded. */
export type Invoice = InvoiceTerms & InvoiceState & { readonly paymentInProgress: boolean };
export type InvoiceStatus = InvoiceState['status'];

export type InvoiceFact =
  | { readonly type: 'invoice_created'; readonly terms: InvoiceTerms }
  | { readonly type: 'invoice_paid' }
  | { readonly type: 'invoice_fulfilled'; readonly reason: string }
  | { readonly type: 'invoice_cancelled'; readonly reason: string };

/** All allowed transitions. Any other is a bug. */
export const invoiceLifecycle = {
  absent: { invoice_created: 'unpaid' },
  unpaid: { invoice_paid: 'paid', invoice_cancelled: 'cancelled' },
  paid: { invoice_fulfilled: 'fulfilled' },
  fulfilled: {},
  cancelled: {},
} as const satisfies Record<InvoiceStatus | 'absent', Partial<Record<InvoiceFact['type'], InvoiceStatus>>>;

export const maxCartLines = 100;
const overdueReason = 'overdue';

export type CreateInvoice = Omit<
  InvoiceTerms,
  'partyId' | 'shopId' | 'createdAt' | 'amount' | 'originalMinor'
> & {
  readonly partyId?: string;
  readonly amountMinor?: bigint;
  readonly currency: string;
  readonly allocation?: unknown;
  readonly randomAmount?: RandomAmount;
};

export type CreateRefusal =
  | TradingRefusal
  | 'invalidPartyID'
  | 'invalidRequest'
  | 'allocationNotPermitted'
  | 'invalidInvoiceCart'
  | 'invalidInvoiceCost';

export function decideCreate(
  party: Party,
  shop: Shop | undefined,
  command: CreateInvoice,
  now: Instant,
): Outcome<InvoiceFact & { type: 'invoice_created' }, CreateRefusal> {
  if (command.partyId !== undefined && command.partyId !== party.id) return refuse('invalidPartyID');
  const trading = requireTrading(party, shop);
  if (!trading.ok) return trading;
  if (command.currency !== trading.value.currency) return wrongCurrency(trading.value);
  if (command.allocation !== undefined) return refuse('allocationNotPermitted');
  const cost = costOf(command);
  if (!cost.ok) return cost;
  const drawn = drawnCost(command, cost.value);
  if (!drawn.ok) return drawn;
  return accept(invoiceCreated(trading.value, { ...command, ...drawn.value }, drawn.value.costMinor, now));
}

export function wrongCurrency({ currency }: Pick<Shop, 'currency'>) {
  return refuse('invalidRequest', { message: 'Invalid currency', hint: `The shop takes ${currency}.` });
}

/** A due date in the past is accepted: the invoice is overdue immediately. */
export function invoiceCreated(
  shop: Shop,
  command: Omit<InvoiceTerms, 'partyId' | 'shopId' | 'createdAt' | 'amount'>,
  amountMinor: bigint,
  now: Instant,
): InvoiceFact & { type: 'invoice_created' } {
  const { description, cart, bankAccount, clientInfo, externalId, templateId, recurring, originalMinor } =
    command;
  const { subscriptionId } = command;
  return {
    type: 'invoice_created',
    terms: {
      id: command.id,
      partyId: shop.partyId,
      shopId: shop.id,
      createdAt: now,
      dueDate: command.dueDate,
      amount: { minor: amountMinor, currency: shop.currency },
      product: command.product,
      metadata: command.metadata,
      ...defined({
        description,
        cart,
        bankAccount,
        clientInfo,
        externalId,
        templateId,
        recurring,
        originalMinor,
        subscriptionId,
      }),
    },
  };
}

/** The name of a line may be longer than that of an invoice. */
const maxProductCharacters = 100;

/** What an invoice of a cart is for: its first line. A character outside the basic plane is not cut in two. */
export function productOf(cart: readonly CartLine[]): string {
  return Array.from(cart[0]?.product ?? '')
    .slice(0, maxProductCharacters)
    .join('');
}

/** Lines that no invoice may have. */
export function wrongCart(cart: readonly CartLine[]) {
  return cart.length === 0 || cart.length > maxCartLines ? refuse('invalidInvoiceCart') : undefined;
}

/** The amount, or the total of the cart. If both are given, they must be equal. */
function costOf(command: CreateInvoice): Outcome<bigint, 'invalidInvoiceCart' | 'invalidInvoiceCost'> {
  const { amountMinor, cart } = command;
  const wrong = (hint: string) => refuse('invalidInvoiceCost', { hint });
  if (!cart) return amountMinor === undefined ? wrong('Send `amount` or `cart`.') : accept(amountMinor);
  const unfit = wrongCart(cart);
  if (unfit) return unfit;
  const total = cart.reduce((sum, line) => sum + lineCostMinor(line), 0n);
  if (total > largestAmountMinor)
    return wrong(`The cart adds up to ${total}. The largest amount is ${largestAmountMinor}.`);
  if (amountMinor !== undefined && amountMinor !== total)
    return wrong(`The cart adds up to ${total}, but \`amount\` is ${amountMinor}.`);
  return accept(total);
}

/** The amount by chance, if the request asks for that. The one line of a cart costs the same. */
function drawnCost(
  { randomAmount, cart }: CreateInvoice,
  costMinor: bigint,
): Outcome<
  { readonly costMinor: bigint; readonly cart?: readonly CartLine[]; readonly originalMinor?: bigint },
  'invalidInvoiceCart' | 'invalidInvoiceCost'
> {
  if (!randomAmount) return accept({ costMinor });
  const [line, ...others] = cart ?? [];
  if (cart && (others.length > 0 || line?.quantity !== 1n))
    return refuse('invalidInvoiceCart', {
      hint: 'With `randomizeAmount`, a cart has one line of quantity 1.',
    });
  const [lowest, highest] = rangeOf(costMinor, randomAmount);
  if (lowest < 1n || highest > largestAmountMinor)
    return refuse('invalidInvoiceCost', {
      hint: `With \`randomizeAmount\` the amount could become ${lowest < 1n ? lowest : highest}. Send a smaller deviation.`,
    });
  const drawnMinor = drawnAmount(costMinor, randomAmount);
  return accept({
    costMinor: drawnMinor,
    originalMinor: costMinor,
    ...(line ? { cart: [{ ...line, priceMinor: drawnMinor }] } : {}),
  });
}

export function lineCostMinor(line: CartLine): bigint {
  return line.priceMinor * line.quantity;
}

export function decideFulfill(
  invoice: Invoice,
  reason: string,
): Outcome<InvoiceFact, 'invalidInvoiceStatus'> {
  if (invoice.status !== 'paid') return wrongStatus(invoice);
  return accept({ type: 'invoice_fulfilled', reason });
}

export function decideRescind(
  invoice: Invoice,
  reason: string,
): Outcome<InvoiceFact, 'invalidInvoiceStatus' | 'invoicePaymentPending'> {
  if (invoice.status !== 'unpaid') return wrongStatus(invoice);
  if (invoice.paymentInProgress) return refuse('invoicePaymentPending');
  return accept({ type: 'invoice_cancelled', reason });
}

export function wrongStatus({ status }: Pick<Invoice, 'status'>) {
  return refuse('invalidInvoiceStatus', {
    hint: `The invoice is ${status}.`,
    since: { type: `invoice_${status}` },
  });
}

/** Cancelled by its due date. Before that, a merchant may give the same reason. */
export function isOverdue(invoice: Invoice, now: Instant): boolean {
  return invoice.status === 'cancelled' && invoice.reason === overdueReason && invoice.dueDate <= now;
}

/** An unpaid invoice is cancelled at its due date. */
export function nextAction(
  invoice: Invoice,
): { readonly at: Instant; readonly fact: InvoiceFact } | undefined {
  if (invoice.status !== 'unpaid' || invoice.paymentInProgress) return undefined;
  return { at: invoice.dueDate, fact: { type: 'invoice_cancelled', reason: overdueReason } };
}

/** The invoice after a fact. Throws if the lifecycle does not allow the fact: the code or the data has a bug. */
export function evolve(invoice: Invoice | undefined, fact: InvoiceFact): Invoice {
  const from = invoice?.status ?? 'absent';
  const moves: Partial<Record<InvoiceFact['type'], InvoiceStatus>> = invoiceLifecycle[from];
  if (moves[fact.type] === undefined)
    throw new Error(`An invoice in state ${from} cannot have fact ${fact.type}.`);
  if (fact.type === 'invoice_created') return { ...fact.terms, status: 'unpaid', paymentInProgress: false };
  if (!invoice) throw new Error(`Fact ${fact.type} came before the invoice was created.`);
  switch (fact.type) {
    case 'invoice_paid':
      return { ...invoice, status: 'paid' };
    case 'invoice_fulfilled':
      return { ...invoice, status: 'fulfilled', reason: fact.reason };
    case 'invoice_cancelled':
      return { ...invoice, status: 'cancelled', reason: fact.reason };
  }
}
