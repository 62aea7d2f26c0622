// Sends junk until it is ended: the second caller of npm run bench:junk. It has a process of its own, so that its
// work is not measured.
import { invoiceExample } from '../../src/invoices/api/schema.ts';

const [url = '', apiKey = '', connections = '8'] = process.argv.slice(2);
const { cart: _, ...order } = invoiceExample as { cart?: unknown };
const unknown = Object.fromEntries(Array.from({ length: 15_000 }, (__, index) => [`name${index}`, index]));
const bodies = [
  { ...order, cart: Array.from({ length: 80_000 }, () => ({})) },
  { ...order, cart: Array.from({ length: 120_000 }, () => 1) },
  unknown,
  { ...order, ...unknown },
  { ...order, amount: 'much' },
].map((body) => JSON.stringify(body));
const headers = {
  authorization: `Bearer ${apiKey}`,
  'content-type': 'application/json',
  'x-request-id': 'junk',
};

async function send(): Promise<never> {
  for (let turn = 0; ; turn++) {
    const body = bodies[turn % bodies.length] ?? '';
    await fetch(url, { method: 'POST', headers, body })
      .then((answer) => answer.arrayBuffer())
      .catch(() => undefined);
  }
}

console.log('sending');
await Promise.all(Array.from({ length: Number(connections) }, send));
