// What is read by an ID is the object with that ID, of the object that the path names.
import type { Problem } from '../check.ts';
import type { Acknowledged } from '../world.ts';

/** Objects by what their paths are called, each with the member in which its parts name it. */
const namedIn: Readonly<Record<string, string>> = {
  invoices: 'invoiceID',
  payments: 'paymentID',
  refunds: 'refundID',
  customers: 'customerID',
  bindings: 'bindingID',
  'invoice-templates': 'invoiceTemplateID',
  'consent-links': 'consentLinkID',
  shops: 'shopID',
  webhooks: 'webhookID',
  identities: 'identity',
  wallets: 'wallet',
  destinations: 'destination',
  withdrawals: 'withdrawal',
  transfers: 'transfer',
};

export function readObjects(answers: readonly Acknowledged[]): Problem[] {
  return answers.flatMap(problemsOf);
}

function problemsOf({ method, path, status, body }: Acknowledged): Problem[] {
  if (method !== 'GET' || status !== 200 || typeof body !== 'object' || body === null) return [];
  const steps = path.split('?')[0]!.split('/').map(decodeURIComponent);
  // What follows there is the merchant's own name for it.
  if (steps.includes('external-ids')) return [];
  return steps.flatMap((things, place): Problem[] => {
    const id = steps[place + 1];
    const part = namedIn[things];
    if (part === undefined || id === undefined) return [];
    const member = place + 2 === steps.length ? 'id' : part;
    const said: unknown = Reflect.get(body, member);
    if (said === undefined || said === id) return [];
    return [[path, `the response has the ${member} ${JSON.stringify(said)}`]];
  });
}
