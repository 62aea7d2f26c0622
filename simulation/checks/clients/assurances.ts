// What a response assures, by the paths and bodies of the public API: an object exists, with an amount and a state.
// Or it assures that what the client requested has started.
import type { Acknowledged } from '../world.ts';
import { defined } from '../../../src/defined.ts';

export type Assurance = {
  /** `payment I.1` */
  readonly about: string;
  /** As the API shows it. */
  readonly status?: string;
  readonly amount?: number;
  /** A fact that must be in its log. */
  readonly fact?: string;
  /** A payment that will take no money: it was cancelled, perhaps before its outcome was known. */
  readonly isCancelled?: true;
};

/** The members of bodies that are read here. */
type Body = {
  readonly id?: string;
  readonly status?: unknown;
  readonly amount?: unknown;
  readonly body?: { readonly amount?: unknown };
  readonly invoice?: Body;
  readonly payment?: Body;
  readonly customer?: Body;
};

/** The assurances of one response, often none. */
export function assurancesOf({ method, path, status, body }: Acknowledged): Assurance[] {
  if (status < 200 || status >= 300) return [];
  const [, side, version, ...steps] = path.split('?')[0]!.split('/').map(decodeURIComponent);
  if (side === 'wallet') return ofWallets(method, steps, body as Body);
  return version === 'processing' ? ofProcessing(method, steps, body as Body) : [];
}

/** The aggregate an assurance is about. */
export function aggregateOf({ about }: Assurance): string {
  return (about.split(' ')[1] ?? '').split('.')[0] ?? '';
}

function ofProcessing(method: string, steps: readonly string[], body: Body): Assurance[] {
  const [things, id = '', part, partId, action, actionId] = steps;
  if (things === 'customers') return ofCustomers(method, steps, body);
  if (things === 'charges') {
    const { invoice = {}, payment: made = {} } = body;
    return [object('invoice', invoice.id ?? '', invoice), payment(invoice.id ?? '', made)];
  }
  if (things !== 'invoices') return [];
  if (method === 'GET') {
    if (part === undefined) return id === '' ? [] : [object('invoice', id, body)];
    if (part !== 'payments' || partId === undefined) return [];
    if (action === undefined) return [payment(id, body)];
    if (action !== 'refunds' || actionId === undefined) return [];
    return [object('refund', `${id}.${partId}.${actionId}`, body)];
  }
  if (id === '') return [object('invoice', body.invoice?.id ?? '', body.invoice ?? {})];
  if (part === 'fulfill') return [{ about: `invoice ${id}`, fact: 'invoice_fulfilled' }];
  if (part === 'rescind') return [{ about: `invoice ${id}`, fact: 'invoice_cancelled' }];
  if (part !== 'payments') return [];
  if (partId === undefined) return [payment(id, body)];
  const about = `payment ${id}.${partId}`;
  if (action === 'capture') return [{ about, fact: 'payment_capture_started' }];
  if (action === 'cancel') return [{ about, isCancelled: true }];
  return action === 'refunds' ? [object('refund', `${id}.${partId}.${body.id}`, body)] : [];
}

function ofCustomers(method: string, [, id = '', part, partId]: readonly string[], body: Body): Assurance[] {
  if (part === undefined) {
    if (method === 'DELETE') return [{ about: `customer ${id}`, fact: 'customer_deleted' }];
    const { id: customerId } = method === 'POST' ? (body.customer ?? {}) : body;
    return customerId === undefined ? [] : [{ about: `customer ${customerId}` }];
  }
  if (part !== 'bindings') return [];
  if (method === 'DELETE') return [{ about: `binding ${id}.${partId}`, fact: 'binding_withdrawn' }];
  return body.id === undefined ? [] : [object('binding', `${id}.${body.id}`, body)];
}

const walletThings: Readonly<Record<string, string>> = {
  identities: 'identity',
  wallets: 'wallet',
  destinations: 'destination',
  withdrawals: 'withdrawal',
};

function ofWallets(method: string, [things = '', id, part]: readonly string[], body: Body): Assurance[] {
  if (things === 'w2w' && (method === 'POST' || part !== undefined))
    return [object('transfer', body.id ?? '', body)];
  if (things === 'test' && id === 'deposits') return [object('deposit', body.id ?? '', body)];
  const kind = walletThings[things];
  if (!kind || part !== undefined || typeof body !== 'object' || body.id === undefined) return [];
  return [object(kind, body.id ?? '', body)];
}

function payment(invoiceId: string, body: Body): Assurance {
  const { about, status } = object('payment', `${invoiceId}.${body.id}`, body);
  // A partial capture changes its amount.
  return { about, ...defined({ status }) };
}

function object(kind: string, name: string, body: Body): Assurance {
  const { status, amount } = body;
  const inBody = body.body?.amount;
  const minor = typeof inBody === 'number' ? inBody : amount;
  return {
    about: `${kind} ${name}`,
    ...(typeof status === 'string' ? { status } : {}),
    ...(typeof minor === 'number' ? { amount: minor } : {}),
  };
}
