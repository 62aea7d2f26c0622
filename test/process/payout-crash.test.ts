// Kills the node (SIGKILL) in the middle of payouts, repeatedly, while the bank keeps running. Every accepted payout is sent once, or held
// back if the request never arrived, and bank, ledger and withdrawals agree.
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { whyNotFound } from '../../src/payouts/domain/bank-actions.ts';
import { often } from '../support/service/campaign.ts';
import { brokenInvariants } from '../support/database/ledger.ts';
import { card } from '../support/worlds/payout-world.ts';
import { eventually, request, sandboxKey, type Server, startServer } from '../support/processes/program.ts';
import { bankSecret, startBank } from '../support/bank/simulated-bank.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { createTestDatabase } from '../support/database/test-database.ts';

const clients = 16;
/** So many kills have to interrupt two payouts or more. Reaching the limit of rounds is a failure. */
const kills = 3;
const mostRounds = 9;
const acknowledgedBeforeKill = often(24, 40);
const amount = 1_000;

test(
  'a node killed while 16 clients pay out neither loses nor doubles a payout',
  { timeout: 180_000 },
  async () => {
    const { folder: data, remove } = temporaryFolder();
    onTestFinished(remove);
    const db = await createTestDatabase();
    onTestFinished(() => db.drop());
    const bank = await startBank({ clock: systemClock });
    const environment = {
      MANDATE_DATA: data,
      DATABASE_URL: db.url,
      BANK_URL: bank.url,
      BANK_SECRET: bankSecret,
      LOG_LEVEL: 'info',
    };
    let server: Server = await startServer(environment);
    const token = sandboxKey(environment);
    const post = (path: string, body: unknown) => request('POST', `${server.url}${path}`, { token, body });
    const get = (path: string) => request('GET', `${server.url}${path}`, { token });

    const { body: identity } = await post('/wallet/v0/identities', {
      name: 'A',
      provider: 'test',
      class: 'person',
    });
    const of = { name: 'W', identity: identity.id, currency: 'RUB' };
    const { body: wallet } = await post('/wallet/v0/wallets', of);
    const { body: stored } = await post('/payres/v0/bank-cards', card('4242424242424242'));
    const resource = { type: 'BankCardDestinationResource', token: stored.token };
    const { body: destination } = await post('/wallet/v0/destinations', { ...of, resource });
    const isAuthorized = async () =>
      (await get(`/wallet/v0/destinations/${destination.id}`)).body.status === 'Authorized' || undefined;
    await eventually(isAuthorized, 60_000, 'the destination is authorized');

    // Slow enough for kills before, during and after a bank request. Some callbacks come twice.
    bank.faults.order({ kind: 'latency', curve: { shape: 'uniform', leastMs: 0, mostMs: 40 } });
    bank.faults.order({ kind: 'duplicate-callback', rate: 0.3 });
    let arrived = 0;
    const { ofRequest } = bank.faults;
    bank.faults.ofRequest = (concerned, message) => {
      if (concerned === 'payout') arrived += 1;
      return ofRequest(concerned, message);
    };
    const acknowledged = new Map<string, string>();
    const asked = new Set<string>();
    let interrupting = 0;
    for (let round = 0; interrupting < kills && round < mostRounds; round++) {
      const before = acknowledged.size;
      let running = true;
      const client = async (number: number) => {
        for (let n = 0; running; n++) {
          const externalID = `${round}-${number}-${n}`;
          asked.add(externalID);
          const body = {
            wallet: wallet.id,
            destination: destination.id,
            body: { amount, currency: 'RUB' },
            externalID,
          };
          const answer = await post('/wallet/v0/withdrawals', body).catch(() => undefined);
          if (answer?.status === 202) acknowledged.set(externalID, answer.body.id);
        }
      };
      const all = Array.from({ length: clients }, (_, number) => client(number));
      const enough = () => Promise.resolve(acknowledged.size - before >= acknowledgedBeforeKill || undefined);
      await eventually(enough, 60_000, `${acknowledgedBeforeKill} payouts acknowledged`);
      await server.stop('SIGKILL');
      running = false;
      await Promise.all(all);
      // Expire the dead node's leases now, or the test would take minutes.
      const interrupted = await db.database.withClient(async (client) => {
        const { rowCount } = await client.query(
          'update withdrawal set wake_at = now() where wake_at is not null',
        );
        return rowCount ?? 0;
      });
      if (interrupted > 1) interrupting += 1;
      server = await startServer(environment);
    }

    expect(interrupting, `kills in the middle of payouts, of at most ${mostRounds}`).toBe(kills);

    // Repeat every request with its external ID, as a client without a response would.
    const ids = new Map<string, string>();
    for (const externalID of asked) {
      const body = {
        wallet: wallet.id,
        destination: destination.id,
        body: { amount, currency: 'RUB' },
        externalID,
      };
      const answer = await post('/wallet/v0/withdrawals', body);
      expect({ externalID, status: answer.status }).toEqual({ externalID, status: 202 });
      const known = acknowledged.get(externalID);
      if (known !== undefined) expect(answer.body.id).toBe(known);
      ids.set(externalID, answer.body.id);
    }
    expect(new Set(ids.values()).size).toBe(asked.size);
    const held = async (why: string) =>
      db.database.withClient(async (client) => {
        const { rows } = await client.query(
          `select withdrawal_id as id from withdrawal where status = 'sending' and ${why}`,
        );
        return rows.map(({ id }) => `${id}.p`);
      });
    const areAllKnown = async () =>
      (await held(`(stuck_reason is null or stuck_reason not like '%${whyNotFound}')`)).length === 0 ||
      undefined;
    await eventually(areAllKnown, 60_000, 'each payout is paid, or its bank does not find it');
    const heldBack = await held('true');
    const failed = (await get('/wallet/v0/withdrawals?limit=1&status=Failed')).body.result;
    expect(failed).toEqual([]);

    const paid = (await bank.book()).map(({ operationId }) => operationId);
    expect([...paid, ...heldBack].toSorted()).toEqual([...ids.values()].map((id) => `${id}.p`).toSorted());
    expect(heldBack.length, 'held back, of all').toBeLessThan(paid.length);
    expect(arrived, 'requests for payouts, each of which the bank has done').toBe(paid.length);
    const account = (await get(`/wallet/v0/wallets/${wallet.id}/account`)).body;
    const money = (spent: number) => ({ amount: 100_000_000 - spent * amount, currency: 'RUB' });
    expect(account).toEqual({ own: money(paid.length), available: money(asked.size) });
    expect(await brokenInvariants(db.database)).toEqual([]);
    expect(await server.stop()).toBe(0);
  },
);
