// The status of an invoice or a binding, computed from its events in order. Pure: the same events give the same
// status on every load.
import type { Order } from '../../src/checkout/domain/checkout-page.ts';
import { defined } from '../../src/defined.ts';
import { termsIn, type TermsBody } from '../../src/receipts/domain/terms-body.ts';

export type Interaction = {
  readonly url: string;
  /** Where it goes by POST. */
  readonly form?: readonly { readonly name: string; readonly value: string }[];
};

/** One attempt with one card. */
export type Attempt = {
  readonly id: string;
  readonly state: 'pending' | 'held' | 'succeeded' | 'failed' | 'cancelled';
  readonly isHold: boolean;
  readonly isRecurring: boolean;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly card?: { readonly lastDigits: string; readonly paymentSystem: string };
  readonly amountMinor?: number;
  readonly interaction?: Interaction;
  readonly errorCode?: string;
};

export type Progress = {
  readonly lastEventId: number;
  /** Of an invoice. */
  readonly order?: Order;
  readonly invoice?: 'unpaid' | 'paid' | 'cancelled';
  /** What the page is about: the latest of an invoice, which has one at a time; of a customer the one that is followed. */
  readonly attempt?: Attempt;
  /** Of a customer, by id: several may be in progress together. */
  readonly bindings?: Readonly<Record<string, Attempt>>;
};

export type FeedEvent = {
  readonly id: number;
  readonly createdAt: string;
  readonly changes: readonly Change[];
};
type Change = { readonly changeType: string } & Readonly<Record<string, unknown>>;

export const nothingYet: Progress = { lastEventId: 0 };

export function after(progress: Progress, events: readonly FeedEvent[]): Progress {
  return events.reduce(
    (known, { id, createdAt, changes }) => ({
      ...changes.reduce((before, change) => afterChange(before, change, createdAt), known),
      lastEventId: id,
    }),
    progress,
  );
}

/** Changes of an unknown kind are skipped. */
function afterChange(progress: Progress, change: Change, at: string): Progress {
  switch (change.changeType) {
    case 'InvoiceCreated': {
      return { ...progress, invoice: 'unpaid', order: orderOf(change['invoice'] as InvoiceBody) };
    }
    case 'InvoiceStatusChanged': {
      const status = change['status'] as string;
      return { ...progress, invoice: status === 'cancelled' || status === 'unpaid' ? status : 'paid' };
    }
    case 'PaymentStarted':
      return { ...progress, attempt: paymentAttempt(change['payment'] as PaymentBody, at) };
    case 'CustomerBindingStarted':
      return withBinding(progress, bindingAttempt(change['customerBinding'] as BindingBody, at));
    case 'PaymentInteractionRequested':
      return changed(progress, change, { interaction: interactionOf(change['userInteraction']) });
    case 'PaymentStatusChanged':
      return changed(progress, change, ended(change, at));
    case 'CustomerBindingInteractionRequested':
      return changedBinding(progress, change, { interaction: interactionOf(change['userInteraction']) });
    case 'CustomerBindingStatusChanged':
      return changedBinding(progress, change, ended(change, at));
    default:
      return progress;
  }
}

/** Changes of an earlier attempt are ignored. */
function changed(progress: Progress, change: Change, members: Partial<Attempt>): Progress {
  const { attempt } = progress;
  const isOfIt = attempt?.id === change['paymentID'];
  return attempt && isOfIt ? { ...progress, attempt: { ...attempt, ...members } } : progress;
}

function changedBinding(progress: Progress, change: Change, members: Partial<Attempt>): Progress {
  const binding = progress.bindings?.[change['customerBindingID'] as string];
  return binding ? withBinding(progress, { ...binding, ...members }) : progress;
}

function withBinding(progress: Progress, binding: Attempt): Progress {
  return { ...progress, bindings: { ...progress.bindings, [binding.id]: binding } };
}

/** The progress of one binding, whatever other pages do. */
export function ofBinding(progress: Progress, id: string | undefined): Progress {
  const attempt = id === undefined ? undefined : progress.bindings?.[id];
  return attempt ? { ...progress, attempt } : progress;
}

/** How the page came to be loaded. */
export type Loaded = 'opened' | 'reloaded' | 'returned';

/** The binding that a page continues: its own if pending, just confirmed or just saved, else the latest pending one. */
export function bindingToFollow(
  { bindings = {} }: Progress,
  before: string | undefined,
  loaded: Loaded,
): string | undefined {
  const own = before === undefined ? undefined : bindings[before];
  const hasReturned = loaded === 'returned';
  // A page that the shop opens once more is for another card.
  const isSaved = loaded === 'reloaded' && own?.state === 'succeeded';
  if (own && (hasReturned || isSaved || own.state === 'pending')) return own.id;
  const all = Object.values(bindings);
  const pending = all.filter(({ state }) => state === 'pending').at(-1);
  return (pending ?? (hasReturned ? all.at(-1) : undefined))?.id;
}

const stateOfStatus: Readonly<Record<string, Attempt['state']>> = {
  processed: 'held',
  captured: 'succeeded',
  succeeded: 'succeeded',
  refunded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

function ended(change: Change, at: string): Partial<Attempt> {
  const state = stateOfStatus[change['status'] as string] ?? 'pending';
  const { code } = (change['error'] ?? {}) as { code?: string };
  return { state, endedAt: at, ...(code === undefined ? {} : { errorCode: code }) };
}

type InvoiceBody = {
  readonly amount: number;
  readonly product: string;
  readonly description?: string;
  readonly cart?: readonly { readonly product: string; readonly quantity: number; readonly cost: number }[];
  readonly makeRecurrent?: boolean;
  readonly recurrentTerms?: TermsBody;
};

function orderOf({
  amount,
  product,
  description,
  cart,
  makeRecurrent,
  recurrentTerms = {},
}: InvoiceBody): Order {
  return {
    amountMinor: amount,
    product,
    ...defined({
      description,
      cart: cart?.map(({ cost, ...line }) => ({ ...line, costMinor: cost })),
      recurring: makeRecurrent ? termsIn(recurrentTerms) : undefined,
    }),
  };
}

type ToolDetails = { readonly lastDigits?: string; readonly paymentSystem?: string };
type PaymentBody = {
  readonly id: string;
  readonly amount: number;
  readonly makeRecurrent?: boolean;
  readonly flow: { readonly type: string };
  readonly payer: { readonly paymentToolDetails?: ToolDetails };
};
type BindingBody = {
  readonly id: string;
  readonly paymentResource?: { readonly paymentToolDetails?: ToolDetails };
};

function paymentAttempt({ id, amount, makeRecurrent, flow, payer }: PaymentBody, at: string): Attempt {
  return {
    id,
    state: 'pending',
    isHold: flow.type === 'PaymentFlowHold',
    isRecurring: makeRecurrent ?? false,
    startedAt: at,
    amountMinor: amount,
    ...cardOf(payer.paymentToolDetails),
  };
}

function bindingAttempt({ id, paymentResource }: BindingBody, at: string): Attempt {
  const card = cardOf(paymentResource?.paymentToolDetails);
  return { id, state: 'pending', isHold: false, isRecurring: false, startedAt: at, ...card };
}

function cardOf({ lastDigits, paymentSystem = '' }: ToolDetails = {}): Pick<Attempt, 'card'> {
  return lastDigits === undefined ? {} : { card: { lastDigits, paymentSystem } };
}

type UserInteraction = {
  readonly request: {
    readonly requestType: string;
    readonly uriTemplate: string;
    readonly form?: readonly { readonly key: string; readonly template: string }[];
  };
};

function interactionOf(userInteraction: unknown): Interaction {
  const { requestType, uriTemplate, form = [] } = (userInteraction as UserInteraction).request;
  const url = expanded(uriTemplate);
  if (requestType === 'BrowserGetRequest') return { url };
  return { url, form: form.map(({ key, template }) => ({ name: key, value: expanded(template) })) };
}

/** A template of RFC 6570 without values for its variables: they expand to nothing. */
function expanded(template: string): string {
  return template.replace(/\{[^}]*\}/g, '');
}
