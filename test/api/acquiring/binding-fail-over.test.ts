// A shop with two banks, one of them unreachable: the verification charge of a binding is rerouted like a payment.
// The bank that charged the payer also refunds them.
import { bankOfVersion1 } from '../../support/bank/bank-of-version-1.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Bank, BankResponse, BankOperation } from '../../../src/acquiring/domain/bank-port.ts';
import { everyInvariant } from '../../../src/app/composition/invariants.ts';
import { runBindingJob, type BindingJobDeps } from '../../../src/customers/worker.ts';
import { checkLedger } from '../../../src/platform/ledger/check-ledger.ts';
import {
  startCustomerWorld,
  type CustomerWorld,
  type MadeBinding,
} from '../../support/worlds/customer-world.ts';
import { secret } from '../../support/worlds/payment-world.ts';

const visa = '4242424242424242';
const first = { id: 'T0', merchantId: 'M0', descriptor: 'SHOP', bankId: 'AWAY' };
const second = { id: 'T1', merchantId: 'TEST', descriptor: 'TEST SHOP', bankId: 'BANK' };
const away: BankResponse = { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true };

/** No server listens there. A port that the kernel gave could be given again. */
const nowhere = 'http://127.0.0.1:9';

let world: CustomerWorld;
beforeAll(async () => {
  world = await startCustomerWorld();
  const { banks } = world.service;
  await banks.putBank({ id: 'AWAY', url: nowhere, secret });
  await banks.putTerminal({ ...first, partyId: world.merchant.partyId, shopId: 'TEST', priority: 0 });
});
afterAll(() => world.close());

async function query(text: string, values: unknown[]): Promise<any[]> {
  return (await world.service.database.withClient((client) => client.query(text, values))).rows;
}
const rowOf = async ({ bindingId }: MadeBinding) =>
  (await query('select status, version, attempts, terms from binding where binding_id = $1', [bindingId]))[0];
const factsOf = async ({ id }: MadeBinding): Promise<string[]> =>
  (await query('select facts from event where aggregate_id = $1 order by sequence', [id])).flatMap(
    ({ facts }) => facts.map(({ type }: { type: string }) => type),
  );

test('succeeds at the second bank, and the ledger agrees with the bank', async () => {
  const binding = await world.bound(await world.createCustomer(), visa);
  expect(await rowOf(binding)).toMatchObject({ status: 'succeeded', terms: { terminal: second } });
  expect(await factsOf(binding)).toEqual([
    'customer_created',
    'binding_started',
    'binding_rerouted',
    'binding_charged',
    'binding_succeeded',
    'customer_ready',
  ]);
  // Internal facts are not sent.
  expect((await world.customerChanges(binding)).map(({ changeType }) => changeType)).toEqual([
    'CustomerBindingStarted',
    'CustomerBindingStatusChanged',
  ]);
  const lines = (await world.book()).filter(({ operationId }) => operationId.startsWith(binding.id));
  expect(lines.map(({ kind, sign }) => [kind, sign])).toEqual([
    ['authorise', 1],
    ['reverse', -1],
  ]);
  const findings = await checkLedger(world.service.database, 'all', everyInvariant);
  expect(findings.filter(({ violations }) => violations > 0n)).toEqual([]);
});

/** Runs one job of a node whose bank gives the set response. */
function nodeWith(answer: (operation: BankOperation) => BankResponse | Promise<BankResponse>) {
  const asked: string[] = [];
  const bank: Bank = {
    ...bankOfVersion1,
    async send(operation) {
      asked.push(`${operation.kind} at ${operation.terminal.id}`);
      return answer(operation);
    },
    async inquire({ terminal }) {
      asked.push(`inquire at ${terminal.id}`);
      return { outcome: 'notFound' };
    },
    stop: () => Promise.resolve(),
  };
  const { service } = world;
  const tools: BindingJobDeps = {
    db: service.database,
    nodeClock: service.clock,
    charging: service.charging,
    consents: service.consents,
    bankOf: () => Promise.resolve(bank),
    alternateTerminal: ({ terminal }) => Promise.resolve(terminal.id === first.id ? second : first),
    returnUrlOf: () => 'https://pay.example/return',
  };
  return {
    asked,
    step: ({ id, bindingId }: MadeBinding, attempt: number) =>
      runBindingJob(tools, { key: [id, bindingId], clock: service.clock, attempt }),
  };
}

/** The state right after the creating node has claimed it. */
async function justMade(): Promise<MadeBinding> {
  const binding = await world.bind(await world.createCustomer(), visa);
  await world.service.jobs.whenIdle();
  await query(
    `update binding set status = 'authorising', state = '{}', refund_due_at = null, bound_at_version = null, attempts = 1,
       wake_at = $2, terms = jsonb_set(terms::jsonb, '{terminal}', $3)::json where binding_id = $1`,
    [binding.bindingId, world.service.clock.now(), JSON.stringify(first)],
  );
  await query(`update customer set status = 'unready', active_binding_id = null where customer_id = $1`, [
    binding.id,
  ]);
  await forgetExchanges(binding);
  return binding;
}
/** No node may do so. */
async function forgetExchanges({ id }: MadeBinding): Promise<void> {
  await world.service.testDatabase.database.withClient(async (client) => {
    await client.query('alter table exchange disable trigger user');
    await client.query('delete from exchange where aggregate_id = $1', [id]);
    await client.query('alter table exchange enable trigger user');
  });
}
const claimAgain = ({ bindingId }: MadeBinding) =>
  query('update binding set attempts = attempts + 1 where binding_id = $1', [bindingId]);

test('moves with its claim, so that a later attempt is not the first', async () => {
  const binding = await justMade();
  const node = nodeWith(({ terminal }) =>
    terminal.id === first.id ? away : { outcome: 'unknown', why: 'ECONNRESET' },
  );
  await expect(node.step(binding, 1)).rejects.toThrow('ECONNRESET');
  expect(node.asked).toEqual(['authorise at T0', 'authorise at T1']);
  expect(await rowOf(binding)).toMatchObject({ attempts: 1, terms: { terminal: second } });
});

test('moves even if another binding of the customer has changed meanwhile', async () => {
  const binding = await justMade();
  const node = nodeWith(async ({ terminal }) => {
    if (terminal.id !== first.id) return { outcome: 'unknown', why: 'ECONNRESET' };
    await query('update customer set version = version + 1 where customer_id = $1', [binding.id]);
    return away;
  });
  // This leaves a gap between log and version; the test checks only the terminal.
  await expect(node.step(binding, 1)).rejects.toThrow('ECONNRESET');
  expect(await rowOf(binding)).toMatchObject({ terms: { terminal: second } });
});

test('keeps the changes another binding has made to the customer', async () => {
  const binding = await justMade();
  const node = nodeWith(async ({ terminal }) => {
    if (terminal.id !== first.id) return { outcome: 'declined', network: 'bank', code: '05' };
    await query(
      `update customer set version = version + 1, status = 'ready', active_binding_id = $2 where customer_id = $1`,
      [binding.id, binding.bindingId],
    );
    return away;
  });
  await node.step(binding, 1);
  expect(await rowOf(binding)).toMatchObject({ status: 'failed', terms: { terminal: second } });
  const customers = await query('select status, active_binding_id from customer where customer_id = $1', [
    binding.id,
  ]);
  expect(customers).toEqual([{ status: 'ready', active_binding_id: binding.bindingId }]);
});

test('stays when another node has claimed it and may be sending it', async () => {
  const binding = await justMade();
  const node = nodeWith(async () => {
    await claimAgain(binding);
    return away;
  });
  await expect(node.step(binding, 1)).rejects.toThrow('ECONNREFUSED');
  expect(await rowOf(binding)).toMatchObject({ terms: { terminal: first } });
  expect(node.asked).toEqual(['authorise at T0']);
});

test('stays when another node has sent it and got pending', async () => {
  const binding = await justMade();
  const other = nodeWith(() => ({ outcome: 'pending' }));
  const node = nodeWith(async () => {
    await claimAgain(binding);
    await other.step(binding, 2);
    return away;
  });
  await expect(node.step(binding, 1)).rejects.toThrow('ECONNREFUSED');
  expect(other.asked).toEqual(['inquire at T0', 'authorise at T0']);
  expect(await rowOf(binding)).toMatchObject({ terms: { terminal: first } });
});

test('stays on a later attempt, although that attempt sent nothing', async () => {
  const binding = await justMade();
  await expect(nodeWith(() => away).step(binding, 2)).rejects.toThrow('ECONNREFUSED');
  expect(await rowOf(binding)).toMatchObject({ terms: { terminal: first } });
});
