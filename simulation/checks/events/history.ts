// The objects of an aggregate as its log tells them: every fact is followed by a table of legal moves of our own, and what the
// table does not know is noted and passed over. The names of states are those of the rows.
import type { EventRow, Fact } from '../books.ts';

export type Kind = 'invoice' | 'payment' | 'refund' | 'customer' | 'binding' | 'withdrawal' | 'destination';

/** An object as its log says it is. */
export type Told = {
  readonly kind: Kind;
  /** `I.1`: its aggregate, its number there, its refund's number. */
  readonly name: string;
  readonly status: string;
  readonly amount?: number;
  readonly isInstant?: boolean;
  readonly captured?: number | undefined;
  readonly refunded?: number;
  readonly active?: string;
};

/** What a merchant is told of a fact, if he is. */
export type Notice = { readonly type: string; readonly sequence: number; readonly statuses: Statuses };
type Statuses = Readonly<Partial<Record<Kind, string>>>;

export type History = {
  readonly aggregate: string;
  readonly objects: ReadonlyMap<string, Told>;
  readonly illegal: readonly string[];
  readonly last: number;
  readonly notices: readonly Notice[];
  readonly facts: readonly (Fact & { readonly at: string })[];
};

type Move = readonly [kind: Kind, from: readonly string[], to: string, told?: string];

/** Every move there is, by the fact that makes it. */
const legalMoves: Readonly<Record<string, Move>> = {
  invoice_created: ['invoice', ['nothing'], 'unpaid', 'InvoiceCreated'],
  invoice_paid: ['invoice', ['unpaid'], 'paid', 'InvoicePaid'],
  invoice_fulfilled: ['invoice', ['paid'], 'fulfilled', 'InvoiceFulfilled'],
  invoice_cancelled: ['invoice', ['unpaid'], 'cancelled', 'InvoiceCancelled'],

  payment_started: ['payment', ['nothing'], 'authorising', 'PaymentStarted'],
  payment_rerouted: ['payment', ['authorising'], 'authorising'],
  payment_interaction_requested: ['payment', ['authorising'], 'challenged'],
  payment_reversal_started: ['payment', ['authorising', 'challenged'], 'reversing'],
  payment_processed: ['payment', ['authorising', 'challenged'], 'held', 'PaymentProcessed'],
  payment_capture_started: ['payment', ['held'], 'capturing'],
  payment_captured: ['payment', ['held', 'capturing'], 'captured', 'PaymentCaptured'],
  // Of a hold, and of one that the bank will not capture.
  payment_cancel_started: ['payment', ['held', 'capturing'], 'cancelling'],
  payment_cancelled: ['payment', ['cancelling'], 'cancelled', 'PaymentCancelled'],
  payment_failed: ['payment', ['authorising', 'challenged', 'reversing'], 'failed', 'PaymentFailed'],
  payment_refunded: ['payment', ['captured'], 'refunded', 'PaymentRefunded'],

  refund_started: ['refund', ['nothing'], 'pending', 'RefundCreated'],
  refund_succeeded: ['refund', ['pending'], 'succeeded', 'RefundSucceeded'],
  refund_failed: ['refund', ['pending'], 'failed', 'RefundFailed'],

  customer_created: ['customer', ['nothing'], 'unready', 'CustomerCreated'],
  customer_ready: ['customer', ['unready'], 'ready', 'CustomerReady'],
  active_binding_changed: ['customer', ['ready'], 'ready'],
  customer_unready: ['customer', ['ready'], 'unready'],
  customer_deleted: ['customer', ['unready', 'ready'], 'deleted', 'CustomerDeleted'],

  binding_started: ['binding', ['nothing'], 'authorising', 'CustomerBindingStarted'],
  binding_rerouted: ['binding', ['authorising'], 'authorising'],
  binding_interaction_requested: ['binding', ['authorising'], 'challenged'],
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

  destination_created: ['destination', ['nothing'], 'checking', 'DestinationCreated'],
  destination_authorized: ['destination', ['checking'], 'authorized', 'DestinationAuthorized'],
  destination_refused: ['destination', ['checking'], 'refused'],
  destination_check_failed: ['destination', ['checking'], 'checking'],
};

const ledAlone = new Set(['invoice', 'customer', 'withdrawal', 'destination']);

/** Of one aggregate; its events in order. */
export function historyOf(events: readonly EventRow[]): History {
  const objects = new Map<string, Told>();
  const illegal: string[] = [];
  const notices: Notice[] = [];
  const { aggregate_id: id = '', aggregate = '' } = events[0] ?? {};
  for (const { sequence, facts } of events) {
    const types = facts.map(({ type }) => type);
    for (const fact of facts) {
      const move = legalMoves[fact.type];
      if (!move) {
        if (ledAlone.has(aggregate)) illegal.push(`${fact.type} is no fact we know`);
        continue;
      }
      const [kind, from, status, told] = move;
      const name = nameOf(kind, id, fact);
      const before = objects.get(`${kind} ${name}`);
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
      if (told !== undefined) notices.push({ type: told, sequence, statuses });
      if (told === 'DestinationCreated')
        notices.push({ type: 'DestinationUnauthorized', sequence, statuses: {} });
    }
  }
  // The bank charges what is instant in one step: it may be held only between two events of one transaction.
  for (const { name, isInstant, status } of objects.values())
    if (isInstant && status === 'held') illegal.push(`${name} is instant, and only held`);
  const facts = events.flatMap((event) => event.facts.map((fact) => ({ ...fact, at: event.created_at })));
  return { aggregate, objects, illegal, last: events.at(-1)?.sequence ?? 0, notices, facts };
}

function nameOf(kind: Kind, id: string, fact: Fact): string {
  const paymentId = String(fact['paymentId']);
  if (kind === 'payment') return `${id}.${paymentId}`;
  if (kind === 'binding') return `${id}.${String(fact['bindingId'])}`;
  if (kind !== 'refund') return id;
  const refund = fact['refund'] as { id: string } | undefined;
  return `${id}.${paymentId}.${refund?.id ?? String(fact['refundId'])}`;
}

/** What a fact says of money. */
function moreOf(before: Told | undefined, fact: Fact): Partial<Told> {
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

/** A refund is a state of its payment too. */
function follow(objects: Map<string, Told>, fact: Fact, id: string): void {
  if (!fact.type.startsWith('refund_')) return;
  const key = `payment ${id}.${String(fact['paymentId'])}`;
  const payment = objects.get(key);
  const refund = objects.get(`refund ${nameOf('refund', id, fact)}`);
  if (!payment || !refund) return;
  const given = fact.type === 'refund_succeeded' ? (refund.amount ?? 0) : 0;
  const status = fact.type === 'refund_started' ? 'refunding' : 'captured';
  objects.set(key, { ...payment, status, refunded: (payment.refunded ?? 0) + given });
}

/** What is legal of each object alone, and not beside the others. */
function breachesOf(
  objects: ReadonlyMap<string, Told>,
  { name, amount = 0, captured = 0 }: Told,
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
      ), 'a payment beside another');
      require(amount === invoice?.amount, `${amount} is paid of ${invoice?.amount}`);
      break;
    case 'payment_captured':
      require(captured <= amount, `${captured} is captured of ${amount}`);
      require(together.includes('invoice_paid'), 'captured, and the invoice is not paid with it');
      break;
    case 'invoice_paid':
      require(together.includes('payment_captured'), 'the invoice is paid by nothing');
      break;
    case 'payment_capture_started':
    case 'payment_cancel_started':
      require(payment?.isInstant !== true, 'an instant payment is captured or cancelled by itself');
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
