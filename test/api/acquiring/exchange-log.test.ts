// The exchange log of a running service: a bank that forgets, a log that is lost, and what a bank reports later.
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { abilitiesOfVersion1 } from '../../../src/acquiring/domain/abilities.ts';
import type { Bank } from '../../../src/acquiring/domain/bank-port.ts';
import type { BankUpdate, UpdateOutcome } from '../../../src/acquiring/domain/bank-updates.ts';
import type { ExchangeState } from '../../../src/acquiring/exchange-log/domain/exchange.ts';
import {
  exchangeParameters,
  exchangesOf,
  findExchange,
  recordExchanges,
} from '../../../src/acquiring/exchange-log/store/exchange-rows.ts';
import { statement } from '../../../src/platform/database/statement.ts';
import { contradictions } from '../../../src/acquiring/exchange-log/store/notes.ts';
import { readUpdates, type UpdatesDeps } from '../../../src/acquiring/exchange-log/read-updates.ts';
import {
  findWatchedBank,
  storeConfirmation,
  storeSharing,
} from '../../../src/acquiring/exchange-log/store/watched-banks.ts';
import { whyOnlyInquired } from '../../../src/acquiring/send-or-inquire.ts';
import { askLate, hearLateAnswer } from '../../../src/acquiring/exchange-log/hear-late-answer.ts';
import { waylay } from '../../support/bank/faulty-bank.ts';
import { bankOfVersion1 } from '../../support/bank/bank-of-version-1.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type Paying, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const card = '4242424242424242';
const day = 24 * 60 * 60_000;
const recordAlone = statement({
  name: 'test_record_exchanges',
  parameters: exchangeParameters,
  row: {},
  text: `with alone as (select) ${recordExchanges('alone')}`,
});
const applyInTest = statement({
  name: 'test_apply_update',
  parameters: { bank: 'text', sequence: 'int4' },
  row: {},
  text: 'insert into applied_update values (:bank, :sequence)',
});
let world: PaymentWorld;

beforeAll(async () => {
  world = await startPaymentWorld();
});
afterAll(() => world.close());

const query = async (text: string, values: unknown[] = []): Promise<any[]> =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text, values))).rows;
/** What no node may do. */
const force = async (text: string, values: unknown[] = []) => {
  await query('alter table exchange disable trigger user');
  await query(text, values);
  await query('alter table exchange enable trigger user');
};
const logOf = async ({ id }: Paying) =>
  (await exchangesOf(world.service.database, id)).map(
    ({ operationId, state }) => `${operationId.slice(id.length + 1)} ${state}`,
  );

async function refund({ id }: Paying): Promise<void> {
  const { service, merchant } = world;
  const answer = await service.call('POST', `${invoicesUrl}/${id}/payments/1/refunds`, {
    token: merchant.apiKey,
    body: { amount: 1_000, currency: 'RUB' },
  });
  expect(answer.status, answer.text).toBe(201);
}

describe('the log', () => {
  test('has a payment and its refund, with what the bank returned and without a card number', async () => {
    const paying = await world.paid(card);
    world.service.clock.advance(1_000);
    await refund(paying);
    await world.service.jobs.whenIdle();
    expect(await logOf(paying)).toEqual(['1.a approved', '1.100 approved']);
    const charge = await findExchange(world.service.database, `${paying.id}.1.a`);
    expect(charge).toMatchObject({
      kind: 'authorise',
      bankId: 'BANK',
      terminalId: 'T1',
      answer: { outcome: 'approved', reference: expect.stringMatching(/^[A-Za-z0-9]{12}$/) },
    });
    const rows = await query('select * from exchange where aggregate_id = $1 order by begun_at', [paying.id]);
    expect(inspect(rows)).not.toContain(card);
    expect(rows).toMatchObject([
      {
        wire_keys: { id: `${paying.id}.1.a`, merchant: 'TEST' },
        not_after: expect.any(String),
        far_reference: expect.stringMatching(/^SIM/),
      },
      { wire_keys: { id: `${paying.id}.1.100` }, not_after: null },
    ]);
  });

  test('keeps what is proved, and adds a row that an older node left out', async () => {
    const { database, clock } = world.service;
    const terminal = { id: 'T1', bankId: 'BANK', merchantId: 'TEST' };
    const write = async (state: ExchangeState, at = clock.now()) => {
      const content = { operationId: 'KEPT.1.a', kind: 'authorise', terminal } as const;
      await database.run(recordAlone, { exchanges: [{ content, at, state }] });
      return (await findExchange(database, 'KEPT.1.a'))?.state;
    };
    expect(await write('givenUp')).toBe('givenUp');
    expect(await write('takenBack')).toBe('takenBack');
    for (const state of ['begun', 'approved', 'declined', 'settled'] as const)
      expect(await write(state)).toBe('takenBack');
    await force(`delete from exchange where aggregate_id = 'KEPT'`);
  });
});

describe('a bank that forgets what it was sent', () => {
  test('is not sent a refund again after its memory has ended', async () => {
    const { service } = world;
    const paying = await world.paid(card);
    const { bankOf } = service.banks;
    const asked: string[] = [];
    let isSilent = true;
    const forgetful: Bank = {
      ...bankOfVersion1,
      stop: () => Promise.resolve(),
      abilities: () => Promise.resolve({ ...abilitiesOfVersion1, repeatableMs: day }),
      send: ({ kind }) => {
        asked.push(kind);
        return Promise.resolve(
          isSilent
            ? { outcome: 'unknown', why: 'timeout' }
            : { outcome: 'approved', reference: '900000000009' },
        );
      },
      inquire: () => {
        asked.push('inquire');
        return Promise.resolve({ outcome: 'notFound' });
      },
    };
    Object.assign(service.banks, { bankOf: () => Promise.resolve(forgetful) });
    try {
      await refund(paying);
      await service.jobs.whenIdle();
      service.clock.advance(60_000);
      service.jobs.wake();
      await service.jobs.whenIdle();
      expect(asked).toEqual(['refund', 'refund']);
      service.clock.advance(day);
      isSilent = false;
      asked.length = 0;
      service.jobs.wake();
      await service.jobs.whenIdle();
      expect(asked).toEqual(['inquire']);
      const [row] = await query('select stuck_reason, status from payment where invoice_id = $1', [
        paying.id,
      ]);
      expect(row).toMatchObject({
        status: 'refunding',
        stuck_reason: expect.stringContaining(whyOnlyInquired),
      });
    } finally {
      Object.assign(service.banks, { bankOf });
      await query(`update payment set wake_at = null where invoice_id = $1`, [paying.id]);
    }
  });
});

describe('a node that stands still before it sends a refund again', () => {
  /** Its bank is real in all but what it remembers. */
  const forgetsAfterADay = (bank: Bank): Bank => ({
    ...bank,
    abilities: async () => ({ ...(await bank.abilities()), repeatableMs: day }),
  });

  test('sends nothing once the bank may have forgotten the first, and inquires next', async () => {
    const { service } = world;
    const paying = await world.paid(card);
    const { bankOf } = service.banks;
    Object.assign(service.banks, {
      bankOf: async (terminal: never) => forgetsAfterADay(await bankOf(terminal)),
    });
    const wayward = waylay(service.banks);
    const runAfter = async (ms: number) => {
      service.clock.advance(ms);
      service.jobs.wake();
      await service.jobs.whenIdle();
      const [row] = await query('select stuck_reason from payment where invoice_id = $1', [paying.id]);
      return row.stuck_reason;
    };
    try {
      service.clock.advance(1_000);
      wayward.happens('refund', 'message lost');
      await refund(paying);
      await service.jobs.whenIdle();
      wayward.meanwhile('refund', () => Promise.resolve(service.clock.advance(day)));
      expect(await runAfter(60_000)).toContain('its time to be sent has passed');
      expect(await logOf(paying)).toEqual(['1.a approved', '1.100 begun']);
      expect(wayward.asked).toEqual(['refund', 'refund']);
      expect(await runAfter(60_000)).toContain(whyOnlyInquired);
      expect(wayward.asked).toEqual(['refund', 'refund', 'inquire']);
      expect(await logOf(paying)).toEqual(['1.a approved', '1.100 begun']);
    } finally {
      Object.assign(service.banks, { bankOf });
      await query(`update payment set wake_at = null where invoice_id = $1`, [paying.id]);
    }
  });
});

describe('an answer that comes late', () => {
  const said = async (operationId: string) =>
    (
      await query(
        `select what, heard, meaning from exchange_note where operation_id = $1 and what <> 'callback'`,
        [operationId],
      )
    ).map(({ what, heard, meaning }) => `${what} ${meaning}: ${heard.why}`);

  test('of a bank that calls about a final operation and denies it is kept for the operator', async () => {
    const paying = await world.paid(card);
    const operationId = `${paying.id}.1.a`;
    await world.callback(operationId);
    expect(await said(operationId)).toEqual([]);
    const wayward = waylay(world.service.banks);
    wayward.always('inquire', { outcome: 'declined', network: 'bank', code: '05' });
    try {
      const bank = await world.service.banks.bankOf({
        id: 'T1',
        bankId: 'BANK',
        merchantId: 'TEST',
        descriptor: 'TEST SHOP',
      });
      for (let times = 0; times < 2; times++)
        await askLate(
          { db: world.service.database, clock: world.service.clock, log: world.service.log },
          bank,
          { operationId, bankId: 'BANK' },
        );
    } finally {
      wayward.always('inquire', undefined);
    }
    expect(await said(operationId)).toEqual(['answer contradiction: it is declined after it was approved']);
    expect(await world.payment(paying)).toMatchObject({ status: 'captured' });
    await query('delete from exchange_note where operation_id = $1', [operationId]);
  });

  test('is asked for once in a minute, however often the bank calls', async () => {
    const { service } = world;
    const paying = await world.paid(card);
    const operationId = `${paying.id}.1.a`;
    const { bankNamed } = service.banks;
    const bank = await bankNamed('BANK');
    if (!bank) throw new Error('there is no bank');
    const asked: string[] = [];
    const watched: Bank = {
      ...bank,
      inquire: (operation) => {
        asked.push(operation.operationId);
        return bank.inquire(operation);
      },
    };
    Object.assign(service.banks, { bankNamed: () => Promise.resolve(watched) });
    try {
      const calls = () => Promise.all(Array.from({ length: 5 }, () => world.callback(operationId)));
      expect((await calls()).sort()).toEqual([204, 429, 429, 429, 429]);
      expect(asked).toEqual([operationId]);
      service.clock.advance(59_999);
      expect(await world.callback(operationId)).toBe(429);
      service.clock.advance(1);
      expect((await calls()).sort()).toEqual([204, 429, 429, 429, 429]);
      expect(asked).toEqual([operationId, operationId]);
      // Also of an operation that no module knows.
      const foreign = [await world.callback('unknown'), await world.callback('unknown')];
      expect(foreign).toEqual([204, 429]);
      expect(asked).toHaveLength(2);
    } finally {
      Object.assign(service.banks, { bankNamed });
      await query(`delete from exchange_note where what = 'callback'`);
    }
  });

  test('of a slow request is compared with what an operator has recorded', async () => {
    const { service } = world;
    const paying = await world.paid(card);
    const wayward = waylay(service.banks);
    wayward.always('refund', 'answer lost');
    try {
      await refund(paying);
      await service.jobs.whenIdle();
      const operationId = `${paying.id}.1.100`;
      await force(`update exchange set state = 'declined' where aggregate_id = $1 and operation = '1.100'`, [
        paying.id,
      ]);
      const deps = { db: service.database, clock: service.clock, log: service.log };
      await hearLateAnswer(deps, operationId, { outcome: 'approved', reference: '900000000001' });
      await hearLateAnswer(deps, operationId, { outcome: 'pending' });
      expect(await said(operationId)).toEqual(['answer contradiction: it is approved after it was declined']);
      await query('delete from exchange_note where operation_id = $1', [operationId]);
    } finally {
      wayward.always('refund', undefined);
    }
  });

  const applied: UpdateOutcome = { outcome: 'applied' };
  const nothing: UpdateOutcome = { outcome: 'nothing' };
  const undone: UpdateOutcome = { outcome: 'nothing', isUndone: true };
  const conflict = new Error('was changed meanwhile');
  test.each([
    ['undone', [applied], true],
    ['undone already', [undone], true],
    ['undone at the second try', [conflict, applied], true],
    ['neither undone nor changed', [nothing], false],
    ['changed by others each time', [conflict, conflict, applied], false],
  ] as [string, (UpdateOutcome | Error)[], boolean][])(
    'and approves a charge after its decline is for the operator, unless the charge is %s',
    async (_, outcomes, isUndone) => {
      const { service } = world;
      const paying = await world.paid(card);
      const operationId = `${paying.id}.1.a`;
      const become = (state: ExchangeState) =>
        force('update exchange set state = $2 where aggregate_id = $1', [paying.id, state]);
      await become('declined');
      const coming = [...outcomes];
      const deps = {
        db: service.database,
        clock: service.clock,
        log: service.log,
        applyLate() {
          const next = coming.shift();
          return next && !(next instanceof Error) ? Promise.resolve(next) : Promise.reject(next!);
        },
      };
      const approved = { outcome: 'approved', reference: '900000000001' } as const;
      expect(await hearLateAnswer(deps, operationId, approved)).toBe(isUndone);
      const why = 'answer contradiction: it is approved after it was declined';
      expect(await said(operationId)).toEqual(isUndone ? [] : [why]);
      await query('delete from exchange_note where operation_id = $1', [operationId]);
      await become('approved');
    },
  );
});

describe('a lost log', () => {
  const watched = async () =>
    (await query(`select stopped_because, report_cursor from bank where bank_id = 'BANK'`))[0];
  const watch = async () => {
    world.service.clock.advance(60_000);
    await world.service.bankWatch.watch();
  };
  beforeEach(async () => {
    const bank = await findWatchedBank(world.service.database, 'BANK');
    await query(
      `update bank set stopped_at = null, stopped_because = null, report_cursor = $1 where bank_id = 'BANK'`,
      [(await world.book()).at(-1)?.sequence ?? Number(bank?.report_cursor ?? 0)],
    );
  });

  test('shows in the report, and the bank gets nothing until an operator confirms', async () => {
    const { service } = world;
    const known = await world.paid(card);
    await watch();
    expect(await watched()).toMatchObject({ stopped_because: null });
    const lost = await world.paid(card);
    const cursor = (await watched()).report_cursor;
    for (const table of ['exchange', 'event', 'payment']) {
      const column = table === 'exchange' || table === 'event' ? 'aggregate_id' : 'invoice_id';
      await query(`alter table ${table} disable trigger user`);
      await query(`delete from ${table} where ${column} = $1`, [lost.id]);
      await query(`alter table ${table} enable trigger user`);
    }
    await watch();
    expect(await watched()).toEqual({
      stopped_because: expect.stringContaining(`${lost.id}.1.a`),
      report_cursor: cursor,
    });
    expect(service.logged.filter((line) => line.includes('bank stopped'))).toHaveLength(1);

    const before = (await world.book()).length;
    const waiting = await world.paid(card);
    expect(await world.payment(waiting)).toMatchObject({ status: 'pending' });
    expect((await world.book()).length).toBe(before);
    // Inquiries continue.
    const bank = await service.banks.bankNamed('BANK');
    const terminal = { id: 'T1', bankId: 'BANK', merchantId: 'TEST', descriptor: 'TEST SHOP' };
    expect(await bank?.inquire({ operationId: `${known.id}.1.a`, terminal })).toMatchObject({
      outcome: 'approved',
    });

    await storeConfirmation(service.database, 'BANK', { reportCursor: before, reason: 'test' });
    await watch();
    service.jobs.wake();
    await service.jobs.whenIdle();
    expect(await world.payment(waiting)).toMatchObject({ status: 'captured' });
  });

  test('is not assumed for an operation that an older node has ended, and its exchange is closed', async () => {
    const paying = await world.paid(card);
    await force(`update exchange set state = 'begun', answer = null where aggregate_id = $1`, [paying.id]);
    await watch();
    expect(await watched()).toMatchObject({ stopped_because: null });
    expect(await logOf(paying)).toEqual(['1.a approved']);
  });

  test('is not assumed for an operation that an older node has begun', async () => {
    const paying = await world.paid(card);
    await force('delete from exchange where aggregate_id = $1', [paying.id]);
    await watch();
    expect(await watched()).toMatchObject({ stopped_because: null });
  });

  test('cannot be seen at a bank whose account is shared, nor at one without a report', async () => {
    const { database } = world.service;
    const paying = await world.paid(card);
    await force('delete from exchange where aggregate_id = $1', [paying.id]);
    await query(`update payment set payment_id = '9' where invoice_id = $1`, [paying.id]);
    await storeSharing(database, 'BANK', true);
    await watch();
    expect(await watched()).toMatchObject({ stopped_because: null });
    await storeSharing(database, 'BANK', false);
    await world.service.banks.putBank({
      id: 'NONE',
      url: 'http://127.0.0.1:1',
      secret: 'a secret that is long enough for a bank',
    });
    await watch();
    expect(await query(`select check_problem from bank where bank_id = 'NONE'`)).toEqual([
      { check_problem: expect.stringContaining('cannot be read') },
    ]);
    expect(await watched()).toMatchObject({ stopped_because: expect.stringContaining(paying.id) });
    await query(`delete from bank where bank_id = 'NONE'`);
    await query(`update bank set stopped_at = null, stopped_because = null`);
    await world.service.banks.forget('BANK');
  });
});

describe('updates of a bank', () => {
  const update = (sequence: number, operationId: string, what: BankUpdate['what']): BankUpdate => ({
    sequence,
    operationId,
    what,
    at: world.service.clock.now(),
  });
  const bankWith = (all: readonly BankUpdate[]) => ({
    ...bankOfVersion1,
    updates: (after: number) => {
      const updates = all.filter(({ sequence }) => sequence > after).slice(0, 2);
      return Promise.resolve({
        updates,
        unreadable: [],
        last: updates.at(-1)?.sequence ?? after,
        hasMore: updates.length === 2,
      });
    },
  });

  const certaintyOf = () => Promise.resolve('open' as const);

  /** Dies before, or right after, the n-th statement or commit. */
  function mortal(db: Database, dies: () => boolean): Database {
    const step = <T>(go: () => Promise<T>) => (dies() ? Promise.reject(new Error('killed')) : go());
    return {
      ...db,
      run: (statement, values) => step(() => db.run(statement, values)),
      transaction: (work) =>
        step(() =>
          db.transaction(async (tx) => {
            const value = await work(mortal(tx, dies));
            if (dies()) throw new Error('killed');
            return value;
          }),
        ),
    };
  }

  test('are noted once, and applied once, wherever the node dies', async () => {
    const { service } = world;
    const paying = await world.paid(card);
    const all = ['captureFailed', 'holdEnded', 'networkIds'].map((what, index) =>
      update(index + 1, `${paying.id}.1.a`, what as BankUpdate['what']),
    );
    await query('create table applied_update (bank text, sequence int)');
    await query('grant all on applied_update to public');
    for (let place = 1, isDead = true; isDead; place++) {
      const bankId = `B${place}`;
      await service.banks.putBank({
        id: bankId,
        url: 'http://127.0.0.1:1',
        secret: 'a secret that is long enough for a bank',
      });
      let left = place;
      const deps = (db: Database): UpdatesDeps => ({
        db,
        clock: service.clock,
        log: { error: () => {}, warn: () => {} },
        certaintyOf,
        apply: async (tx, { sequence }) => {
          await tx.run(applyInTest, { bank: bankId, sequence });
          return { outcome: 'applied' };
        },
        expedite: () => Promise.resolve(),
      });
      const read = async (db: Database) =>
        readUpdates(
          deps(db),
          bankId,
          bankWith(all),
          Number((await findWatchedBank(service.database, bankId))?.updates_cursor),
        );
      isDead = await read(mortal(service.database, () => --left <= 0)).then(
        () => false,
        () => true,
      );
      await read(service.database);
      expect(
        await query('select note_key, meaning from exchange_note where bank_id = $1 order by 1', [bankId]),
      ).toEqual(all.map(({ sequence }) => ({ note_key: `update ${sequence}`, meaning: 'applied' })));
      expect((await findWatchedBank(service.database, bankId))?.updates_cursor).toBe(3n);
      expect(await query('select sequence from applied_update where bank = $1 order by 1', [bankId])).toEqual(
        all.map(({ sequence }) => ({ sequence })),
      );
    }
  });

  test('wait for the approval that they are about, and contradictions change nothing', async () => {
    const { service } = world;
    const paying = await world.paid(card);
    const operationId = `${paying.id}.1.a`;
    await force(`update exchange set state = 'begun' where aggregate_id = $1`, [paying.id]);
    const [applied, expedited]: [string[], string[]] = [[], []];
    let isTooEarly = false;
    const outcomeOf = (what: string): UpdateOutcome => {
      if (isTooEarly) return { outcome: 'tooEarly' };
      applied.push(what);
      return { outcome: 'applied' };
    };
    const deps: UpdatesDeps = {
      db: service.database,
      clock: service.clock,
      log: service.log,
      certaintyOf,
      apply: (_, { what }) => Promise.resolve(outcomeOf(what)),
      expedite: (id) => Promise.resolve(void expedited.push(id)),
    };
    const first = [update(101, operationId, 'captureFailed')];
    await readUpdates(deps, 'BANK', bankWith(first), 100);
    expect([applied, expedited]).toEqual([[], [operationId]]);
    await force(`update exchange set state = 'approved' where aggregate_id = $1`, [paying.id]);
    isTooEarly = true;
    await readUpdates(deps, 'BANK', bankWith(first), 101);
    expect(applied).toEqual([]);
    isTooEarly = false;
    await readUpdates(deps, 'BANK', bankWith(first), 101);
    await readUpdates(deps, 'BANK', bankWith(first), 101);
    expect(applied).toEqual(['captureFailed']);
    expect(expedited).toEqual([operationId, operationId]);

    await force(`update exchange set state = 'declined' where aggregate_id = $1`, [paying.id]);
    await readUpdates(deps, 'BANK', bankWith([update(102, operationId, 'captureFailed')]), 101);
    await readUpdates(deps, 'BANK', bankWith([update(102, operationId, 'captureFailed')]), 101);
    expect(applied).toEqual(['captureFailed']);
    expect(await contradictions(service.database, { bankId: 'BANK', limit: 9 })).toMatchObject([
      { operation_id: operationId, heard: { why: 'captureFailed of an operation that was declined' } },
    ]);
    const told = service.logged.filter((line) => line.includes('captureFailed of an operation'));
    expect(told).toHaveLength(1);
    await force(`update exchange set state = 'approved' where aggregate_id = $1`, [paying.id]);
  });

  test.each([
    ['done', 'approved', 4_001],
    ['undone', 'givenUp', 4_002],
    ['never', 'declined', 4_003],
    ['may', 'settled', 4_004],
  ] as const)(
    'about an operation that an older node has ended, %s, do not wait',
    async (certainty, state, sequence) => {
      const { service } = world;
      const paying = await world.paid(card);
      const operationId = `${paying.id}.1.a`;
      // It knew no exchange log.
      const reopened = `update exchange set state = 'begun', answer = null, heard_at = null where aggregate_id = $1`;
      await force(reopened, [paying.id]);
      const seen: string[] = [];
      const deps: UpdatesDeps = {
        db: service.database,
        clock: service.clock,
        log: service.log,
        certaintyOf: (_, id) => Promise.resolve(id === operationId ? certainty : undefined),
        apply: (_, { what }) => Promise.resolve((seen.push(what), { outcome: 'applied' })),
        expedite: () => Promise.resolve(),
      };
      await readUpdates(
        deps,
        'BANK',
        bankWith([update(sequence, operationId, 'approvedLate')]),
        sequence - 1,
      );
      expect(seen).toEqual(['approvedLate']);
      expect(await logOf(paying)).toEqual([`1.a ${state}`]);
      expect((await findExchange(service.database, operationId))?.heardAt).toBe(service.clock.now());
    },
  );

  test('that cannot be read are kept for the operator, and hold up none after them', async () => {
    const { service } = world;
    const paying = await world.paid(card);
    const operationId = `${paying.id}.1.a`;
    const applied: number[] = [];
    const deps: UpdatesDeps = {
      db: service.database,
      clock: service.clock,
      log: service.log,
      certaintyOf,
      apply: (_, { sequence }) => {
        applied.push(sequence);
        return Promise.resolve({ outcome: 'applied' });
      },
      expedite: () => Promise.resolve(),
    };
    // Waits since a newer node wrote it, or since it was damaged.
    await query(
      `insert into exchange_note select 'BANK', 'update ' || sequence, $1, 'captureFailed',
         json_build_object('sequence', sequence, 'operationId', $1::text, 'what', what, 'at', '2026-11-24T09:00:00.000000Z'),
         'waits', now() - interval '1 day' + sequence * interval '1 second'
       from (select 1000 + n as sequence, case n when 150 then 'captureFailed' else 'moonRises' end as what
             from generate_series(1, 150) as n) as noted`,
      [operationId],
    );
    const later = update(2_001, operationId, 'captureFailed');
    const bank = {
      ...bankOfVersion1,
      updates: (after: number) =>
        Promise.resolve({
          updates: [later].filter(({ sequence }) => sequence > after),
          unreadable: [{ key: '2000', why: 'what does not match the protocol' }],
          last: 2_001,
          hasMore: false,
        }),
    };
    await readUpdates(deps, 'BANK', bank, 1_200);
    await readUpdates(deps, 'BANK', bank, 1_200);
    expect(applied).toEqual([1_150, 2_001]);
    expect(await query(`select meaning, heard from exchange_note where note_key = 'update 2000'`)).toEqual([
      { meaning: 'contradiction', heard: { why: 'what does not match the protocol' } },
    ]);
    const told = (what: string) => service.logged.filter((line) => line.includes(what)).length;
    expect(told('bank update unreadable')).toBe(1);
    expect(
      await query(
        `select count(*)::int as waiting from exchange_note where meaning = 'waits' and operation_id = $1`,
        [operationId],
      ),
    ).toEqual([{ waiting: 149 }]);
    await query('delete from exchange_note where operation_id = $1', [operationId]);
  });

  test('whose list cannot be read at all are a problem of the bank that operators see', async () => {
    const { service } = world;
    const { bankNamed } = service.banks;
    const bank: Bank = {
      ...bankOfVersion1,
      stop: () => Promise.resolve(),
      abilities: () => Promise.resolve({ ...abilitiesOfVersion1, hasUpdates: true }),
      send: () => Promise.resolve({ outcome: 'pending' }),
      inquire: () => Promise.resolve({ outcome: 'pending' }),
      updates: () => Promise.reject(new Error('The updates of the bank cannot be read.')),
    };
    const watchedProblem = async () => {
      service.clock.advance(60_000);
      await service.bankWatch.watch();
      return (await query(`select check_problem from bank where bank_id = 'BANK'`))[0].check_problem;
    };
    Object.assign(service.banks, { bankNamed: () => Promise.resolve(bank) });
    try {
      expect(await watchedProblem()).toContain('updates of the bank cannot be read');
    } finally {
      Object.assign(service.banks, { bankNamed });
    }
    expect(await watchedProblem()).toBeNull();
  });

  test('about an operation that is not of this service are refused by the module, and do not wait', async () => {
    const { service } = world;
    const seen: string[] = [];
    const deps: UpdatesDeps = {
      db: service.database,
      clock: service.clock,
      log: service.log,
      certaintyOf,
      apply: (_, { operationId }) => {
        seen.push(operationId);
        return Promise.resolve({ outcome: 'contradiction', why: 'there is no such operation' });
      },
      expedite: () => Promise.resolve(),
    };
    await readUpdates(deps, 'BANK', bankWith([update(3_001, 'stranger', 'captureFailed')]), 3_000);
    expect(seen).toEqual(['stranger']);
  });
});
