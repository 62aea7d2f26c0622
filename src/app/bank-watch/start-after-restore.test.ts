// A node starts on a database that has lost operations, while another node runs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLink, type OpenLink } from '../../acquiring/adapters/http/link.ts';
import { buildService, type RunningService } from '../compose.ts';
import { openSender } from '../../webhooks/delivery/http-sender.ts';
import { callsTo } from '../../../test/support/service/test-service.ts';
import { invoicesUrl } from '../../../test/support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../../test/support/worlds/payment-world.ts';
import { waitMs } from '../../../tools/tests/waits.ts';

const card = '4242424242424242';
const sent: string[] = [];
const reportAsked = gate();
const reportAllowed = gate();
const sendingWaits = gate();
let world: PaymentWorld;
let starting: RunningService;

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

/** Holds up the report, and notes what is sent. */
const openHeldLink: OpenLink = (origin) => {
  const link = openLink(origin, waitMs);
  return {
    ...link,
    async ask(request) {
      if (request.method === 'PUT') {
        sent.push(request.target);
        sendingWaits.open();
      }
      if (request.target.includes('/book')) {
        reportAsked.open();
        await reportAllowed.opened;
      }
      return link.ask({ ...request, answerMs: waitMs });
    },
  };
};

const query = (text: string, values: unknown[] = []) =>
  world.service.testDatabase.database.withClient((client) => client.query(text, values));

beforeAll(async () => {
  world = await startPaymentWorld();
  const { service } = world;
  const ports = { ...service.ports, network: { openLink: openHeldLink, openSender } };
  starting = buildService({ ...service, ports });
  const { banks } = starting;
  const { sendAfter } = banks;
  // The reading, but it notes that something waits for it.
  Object.assign(banks, {
    sendAfter: (id: string, reading: PromiseLike<unknown>) => {
      let times = 0;
      const then: PromiseLike<unknown>['then'] = (...what) => {
        // First by `sendAfter` itself.
        if (times++ > 0) sendingWaits.open();
        return reading.then(...what);
      };
      return sendAfter(id, { then });
    },
  } satisfies Partial<typeof banks>);
  await starting.app.ready();
});
afterAll(async () => {
  reportAllowed.open();
  await starting.stop();
  await world.close();
});

test('a request to a node that starts reaches no bank whose report it has not read', async () => {
  const { service } = world;
  const known = await world.paid(card);
  service.clock.advance(60_000);
  await service.bankWatch.watch();
  const lost = await world.paid(card);
  for (const table of ['exchange', 'event', 'payment']) {
    const column = table === 'payment' ? 'invoice_id' : 'aggregate_id';
    await query(`alter table ${table} disable trigger user`);
    await query(`delete from ${table} where ${column} = $1`, [lost.id]);
    await query(`alter table ${table} enable trigger user`);
  }

  // The other node has just watched the bank.
  await starting.bankWatch.begin();
  await reportAsked.opened;
  const url = `${invoicesUrl}/${known.id}/payments/1/refunds`;
  const { apiKey: token } = world.merchant;
  expect(await callsTo(starting)('POST', url, { token, body: {} })).toMatchObject({ status: 201 });
  await sendingWaits.opened;
  expect(sent).toEqual([]);

  reportAllowed.open();
  await starting.jobs.whenIdle();
  expect(sent).toEqual([]);
  const { rows } = await query(`select stopped_because from bank where bank_id = 'BANK'`);
  expect(rows).toEqual([{ stopped_because: expect.stringContaining(`${lost.id}.1.a`) }]);
});
