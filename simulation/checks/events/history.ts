// Folds an aggregate's log into the states of its objects, by a table of legal moves of its own.
// Facts the table does not allow are noted; states have the names that the rows use.
import type { EventRow, Fact } from '../rows.ts';

export type Kind = 'invoice' | 'payment' | 'refund' | 'customer' | 'binding' | 'withdrawal' | 'destination';

/** An object by its log. */
export type ObjectState = {
  readonly kind: Kind;
  /** Its aggregate's ID, then its own, then its refund's, as in `I.1`. */
  readonly name: string;
  readonly status: string;
  readonly amount?: number;
  readonly isInstant?: boolean;
  readonly captured?: number | undefined;
  readonly refunded?: number;
  readonly active?: string;
};

/** The webhook event that a fact causes. */
export type WebhookEvent = { readonly type: string; readonly sequence: number; readonly statuses: Statuses };
type Statuses = Readonly<Partial<Record<Kind, string>>>;

export type History = {
  readonly aggregate: string;
  readonly objects: ReadonlyMap<string, ObjectState>;
  readonly illegal: readonly string[];
  readonly last: number;
  readonly webhookEvents: readonly WebhookEvent[];
  readonly facts: readonly (Fact & { readonly at: string })[];
};

type Move = readonly [kind: Kind, from: readonly string[], to: string, eventType?: string];

/** The object stays in its state. */
const same = 'same';

/** A charge before a step-up is undone whatever the payment does. */
const madePayments = [
  'authorising',
  'challenged',
  'reversing',
  'held',
  'capturing',
  'captured',
  'refunding',
  'cancelling',
  'cancelled',
  'refunded',
  'failed',
];

/** Every legal move, by its fact. */
const legalMoves: Readonly<Record<string, Move>> = {
  invoice_created: ['invoice', ['nothing'], 'unpaid', 'InvoiceCreated'],
  invoice_paid: ['invoice', ['unpaid'], 'paid', 'InvoicePaid'],
  invoice_fulfilled: ['invoice', ['paid'], 'fulfilled', 'InvoiceFulfilled'],
  invoice_cancelled: ['invoice', ['unpaid'], 'cancelled', 'InvoiceCancelled'],

  payment_started: ['payment', ['nothing'], 'authorising', 'PaymentStarted'],
  payment_rerouted: ['payment', ['authorising'], 'authorising'],
  payment_stepped_up: ['payment', ['authorising'], 'authorising'],
  payment_interaction_requested: ['payment', ['authorising'], 'challenged'],
  payment_interaction_completed: ['payment', ['challenged'], 'challenged'],
  payment_reversal_started: ['payment', ['authorising', 'challenged'], 'reversing'],
  payment_reversal_refused: ['payment', ['reversing', 'cancelling'], same],
  payment_given_back: ['payment', ['reversing', 'cancelling', 'failed'], same],
  payment_approved_late: ['payment', ['failed'], same],
  payment_processed: ['payment', ['authorising', 'challenged', 'reversing'], 'held', 'PaymentProcessed'],
  payment_capture_started: ['payment', ['held'], 'capturing'],
  payment_captured: ['payment', ['held', 'capturing'], 'captured', 'PaymentCaptured'],
  // From capturing: the bank did not capture the hold.
  payment_cancel_started: ['payment', ['held', 'capturing'], 'cancelling'],
  payment_cancelled: ['payment', ['cancelling'], 'cancelled', 'PaymentCancelled'],
  payment_capture_failed: ['payment', ['captured'], 'cancelled', 'PaymentCancelled'],
  payment_failed: ['payment', ['authorising', 'challenged', 'reversing'], 'failed', 'PaymentFailed'],
  payment_undo_started: ['payment', madePayments, same],
  payment_undo_refused: ['payment', madePayments, same],
  payment_undone: ['payment', madePayments, same],
  payment_refunded: ['payment', ['captured'], 'refunded', 'PaymentRefunded'],

  refund_started: ['refund', ['nothing'], 'pending', 'RefundCreated'],
  refund_funded: ['refund', ['pending'], 'pending'],
  refund_succeeded: ['refund', ['pending'], 'succeeded', 'RefundSucceeded'],
  refund_failed: ['refund', ['pending'], 'failed', 'RefundFailed'],
  // What the bank had approved fails days later.
  refund_returned: ['refund', ['succeeded'], 'failed', 'RefundFailed'],

  customer_created: ['customer', ['nothing'], 'unready', 'CustomerCreated'],
  customer_ready: ['customer', ['unready'], 'ready', 'CustomerReady'],
  active_binding_changed: ['customer', ['ready'], 'ready'],
  customer_unready: ['customer', ['ready'], 'unready'],
  customer_deleted: ['customer', ['unready', 'ready'], 'deleted', 'CustomerDeleted'],

  binding_started: ['binding', ['nothing'], 'authorising', 'CustomerBindingStarted'],
  binding_rerouted: ['binding', ['authorising'], 'authorising'],
  binding_interaction_requested: ['binding', ['authorising'], 'challenged'],
  binding_interaction_completed: ['binding', ['challenged'], 'challenged'],
  binding_reversal_started: ['binding', ['authorising', 'challenged'], 'reversing'],
  binding_charged: ['binding', ['authorising', 'challenged'], 'returning'],
  binding_refund_started: ['binding', ['returning'], 'refunding'],
  binding_succeeded: ['binding', ['returning', 'refunding'], 'succeeded', 'CustomerBindingSucceeded'],
  binding_failed: [
    'binding',
    ['authorising', 'challenged', 'reversing', 'returning', 'refunding'],
    'failed',
    'CustomerBindingFailed',
  ],
  binding_withdrawn: ['binding', ['succeeded'], 'withdrawn'],

  withdrawal_started: ['withdrawal', ['nothing'], 'sending', 'WithdrawalStarted'],
  withdrawal_succeeded: ['withdrawal', ['sending'], 'succeeded', 'WithdrawalSucceeded'],
  withdrawal_failed: ['withdrawal', ['sending'], 'failed', 'WithdrawalFailed'],
  withdrawal_returned: ['withdrawal', ['succeeded'], 'succeeded', 'WithdrawalReturned'],

  destination_created: ['destination', ['nothing'], 'checking', 'DestinationCreated'],
  destination_authorized: ['destination', ['checking'], 'authorized', 'DestinationAuthorized'],
  destination_refused: ['destination', ['checking'], 'refused'],
  destination_check_failed: ['destination', ['checking'], 'checking'],
};

const ledAlone = new Set(['invoice', 'customer', 'withdrawal', 'destination']);

/** The history of one aggregate from its events, in order. */
export function historyOf(events: readonly EventRow[]): History {
  const objects = new Map<string, ObjectState>();
  const illegal: string[] = [];
  const webhookEvents: WebhookEvent[] = [];
  const { aggregate_id: id = '', aggregate = '' } = events[0] ?? {};
  for (const { sequence, facts } of events) {
    const types = facts.map(({ type }) => type);
    for (const fact of facts) {
      const move = legalMoves[fact.type];
      if (!move) {
        if (ledAlone.has(aggregate)) illegal.push(`${fact.type} is not a known fact`);
        continue;
      }
      const [kind, from, to, eventType] = move;
      const name = nameOf(kind, id, fact);
      const before = objects.get(`${kind} ${name}`);
      const status = to === same ? String(before?.status) : to;
      if (!from.includes(before?.status ?? 'nothing'))
        illegal.push(`${kind} ${name} was ${before?.status ?? 'nothing'}, and then ${fact.type}`);
      const after = { ...before, kind, name, status, ...moreOf(before, fact) };
      objects.set(`${kind} ${name}`, after);
      illegal.push(...breachesOf(objects, after, fact, types, id));
      follow(objects, fact, id);
      const isOf = (one: Kind, on: string) => objects.get(`${one} ${on}`)?.status;
      const statuses: Statuses = {
        ...given('invoice', isOf('invoice', id)),
        ...given('customer', isOf('customer', id)),
        ...given('payment', isOf('payment', `${id}.${String(fact['paymentId'])}`)),
        ...given('binding', kind === 'binding' ? status : undefined),
        ...given('refund', kind === 'refund' ? status : undefined),
      };
      if (eventType !== undefined) webhookEvents.push({ type: eventType, sequence, statuses });
      if (eventType === 'DestinationCreated')
        webhookEvents.push({ type: 'DestinationUnauthorized', sequence, statuses: {} });
    }
  }
  // The bank charges an instant payment in one step, so it is held only between two events of one transaction.
  for (const { name, isInstant, status } of objects.values())
    if (isInstant && status === 'held') illegal.push(`${name} is instant, and only held`);
  const facts = events.flatMap((event) => event.facts.map((fact) => ({ ...fact, at: event.created_at })));
  return { aggregate, objects, illegal, last: events.at(-1)?.sequence ?? 0, webhookEvents, facts };
}

function nameOf(kind: Kind, id: string, fact: Fact): string {
  const paymentId = String(fact['paymentId']);
  if (kind === 'payment') return `${id}.${paymentId}`;
  if (kind === 'binding') return `${id}.${String(fact['bindingId'])}`;
  if (kind !== 'refund') return id;
  const refund = fact['refund'] as { id: string } | undefined;
  return `${id}.${paymentId}.${refund?.id ?? String(fact['refundId'])}`;
}

/** The amounts that a fact sets, and the active binding. */
function moreOf(before: ObjectState | undefined, fact: Fact): Partial<ObjectState> {
  const terms = fact['terms'] as Record<string, unknown> | undefined;
  const amountIn = (of: unknown) => (of as { minor: number } | undefined)?.minor ?? 0;
  switch (fact.type) {
    case 'invoice_created':
    case 'withdrawal_started':
      return { amount: Number(terms?.['amountMinor']) };
    case 'payment_started':
      return {
        amount: amountIn(terms?.['amount']),
        isInstant: (terms?.['flow'] as { type: string } | undefined)?.type === 'instant',
        refunded: 0,
      };
    case 'binding_started':
      return { amount: amountIn(terms?.['amount']) };
    case 'payment_capture_started':
    case 'payment_captured':
      return { captured: amountIn(fact['amount']) };
    case 'payment_cancel_started':
    case 'payment_capture_failed':
      return { captured: undefined };
    case 'refund_started':
      return { amount: amountIn((fact['refund'] as { amount: unknown }).amount) };
    case 'customer_ready':
    case 'active_binding_changed':
      return { active: String(fact['bindingId']) };
    default:
      return before?.kind === 'customer' ? { active: '' } : {};
  }
}

/** A refund also changes the state of its payment. */
function follow(objects: Map<string, ObjectState>, fact: Fact, id: string): void {
  if (!fact.type.startsWith('refund_')) return;
  const key = `payment ${id}.${String(fact['paymentId'])}`;
  const payment = objects.get(key);
  const refund = objects.get(`refund ${nameOf('refund', id, fact)}`);
  if (!payment || !refund) return;
  const { amount = 0 } = refund;
  const given = fact.type === 'refund_succeeded' ? amount : fact.type === 'refund_returned' ? -amount : 0;
  // Another refund may be in progress when the money of an earlier one comes back.
  const isNext = fact.type === 'refund_returned' && payment.status === 'refunding';
  const isOpen = isNext || fact.type === 'refund_started' || fact.type === 'refund_funded';
  const status = isOpen ? 'refunding' : 'captured';
  objects.set(key, { ...payment, status, refunded: (payment.refunded ?? 0) + given });
}

/** What a fact breaks among the other objects of its aggregate. */
function breachesOf(
  objects: ReadonlyMap<string, ObjectState>,
  { name, amount = 0, captured = 0 }: ObjectState,
  fact: Fact,
  together: readonly string[],
  id: string,
): string[] {
  const invoice = objects.get(`invoice ${id}`);
  const payment = objects.get(`payment ${id}.${String(fact['paymentId'])}`);
  const others = [...objects.values()].filter((one) => one.kind === 'payment' && one.name !== payment?.name);
  const breaches: string[] = [];
  const require = (holds: boolean, what: string) => void (holds || breaches.push(`${name}: ${what}`));
  switch (fact.type) {
    case 'payment_started':
      require(invoice?.status === 'unpaid', `a payment of an invoice that is ${invoice?.status}`);
      require(others.every(
        ({ status }) => status === 'failed' || status === 'cancelled',
      ), 'a payment next to another');
      require(amount === invoice?.amount, `${amount} is paid of ${invoice?.amount}`);
      break;
    case 'payment_capture_failed':
      require(payment?.isInstant !== true, 'an instant payment was not captured separately');
      require(payment?.refunded === 0, 'money was refunded that the bank does not pay');
      break;
    case 'payment_captured':
      require(captured <= amount, `${captured} is captured of ${amount}`);
      require(together.includes('invoice_paid'), 'captured without the invoice being paid');
      break;
    case 'invoice_paid':
      require(together.includes('payment_captured'), 'the invoice is paid without a capture');
      break;
    // An instant payment may be cancelled: the merchant asked for it while the outcome was unknown.
    case 'payment_capture_started':
      require(payment?.isInstant !== true, 'an instant payment is captured separately');
      break;
    case 'refund_started': {
      const left = (payment?.captured ?? 0) - (payment?.refunded ?? 0);
      require(payment?.status === 'captured', `a refund of a payment that is ${payment?.status}`);
      require(amount <= left, `${amount} is refunded, and ${left} is left`);
      break;
    }
    case 'payment_refunded':
      require(payment?.refunded === payment?.captured, 'refunded, and something is left');
      break;
    case 'invoice_cancelled':
      require(others.every(
        ({ status }) => status === 'failed' || status === 'cancelled',
      ), 'cancelled while a payment may take its money');
      break;
    case 'binding_started':
      require(objects.get(`customer ${id}`)?.status !== 'deleted', 'a binding of a deleted customer');
      break;
    default:
  }
  return breaches;
}

function given(kind: Kind, status: string | undefined): Statuses {
  return status === undefined ? {} : { [kind]: status };
}
