// Identities, wallets, cards and destinations over the API: their refusals, external IDs and lists.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { card, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import { brokenInvariants } from '../../support/database/ledger.ts';
import {
  refused,
  said,
  setBlocked,
  startTwoSides,
  type TwoSides,
} from '../../support/worlds/wallets-side.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { countWaiting } from '../../support/database/waiting.ts';
import { defined } from '../../../src/defined.ts';

let world: PayoutWorld;
let destination: string;
let other: Merchant;
let others: TwoSides['others'];
beforeAll(async () => {
  ({ world, destination, other, others } = await startTwoSides());
});
afterAll(() => world.close());

describe('invalid requests to the wallet API', () => {
  const bad = (errorType: string, name?: string) => ({
    status: 400,
    body: expect.objectContaining({ errorType, ...defined({ name }) }),
  });
  const body = { name: 'A', provider: 'test', class: 'person' };

  test.each<[string, Record<string, unknown>, string, string]>([
    ['a missing member', { name: undefined }, 'SchemaViolated', 'Identity'],
    ['a wrong type', { name: 1 }, 'SchemaViolated', 'Identity'],
    ['a blank name', { name: '  ' }, 'SchemaViolated', 'Identity'],
    ['a control character', { name: 'a\tb' }, 'SchemaViolated', 'Identity'],
    ['metadata that is not an object', { metadata: 'x' }, 'SchemaViolated', 'Identity'],
    ['metadata beyond 16 KiB', { metadata: { a: 'x'.repeat(17_000) } }, 'SchemaViolated', 'Identity'],
    ['an external ID beyond 64 characters', { externalID: 'x'.repeat(65) }, 'SchemaViolated', 'Identity'],
  ])('with %s are refused', async (_, changes, errorType, name) => {
    expect(said(await world.post('/wallet/v0/identities', { ...body, ...changes }))).toEqual(
      bad(errorType, name),
    );
  });

  test('an identity for another party is not created, for any party', async () => {
    const count = async (by: Merchant) =>
      (await world.get('/wallet/v0/identities', by.apiKey)).body.result.length;
    const before = [await count(world.merchant), await count(other)];
    for (const partyID of [other.partyId, 'unknown']) {
      const answer = await world.post('/wallet/v0/identities', { ...body, partyID });
      expect(answer).toMatchObject({
        status: 401,
        text: '',
        headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' },
      });
    }
    expect([await count(world.merchant), await count(other)]).toEqual(before);
    const own = await world.post('/wallet/v0/identities', { ...body, partyID: world.merchant.partyId });
    expect(own.status).toBe(201);
    expect(own.body).not.toHaveProperty('partyID');
  });

  test('with a missing body, invalid JSON or another content type are refused', async () => {
    const { service, merchant } = world;
    const send = (sent: string | undefined, headers = {}) =>
      service.call('POST', '/wallet/v0/identities', {
        token: merchant.apiKey,
        body: sent,
        headers: { 'content-type': 'application/json', ...headers },
      });
    expect(said(await send(undefined))).toEqual(bad('NotFound', 'Identity'));
    expect(said(await send('{'))).toEqual(bad('SchemaViolated', 'Identity'));
    expect((await send('{}', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  test('with invalid parameters or headers are refused', async () => {
    const { service, merchant, get } = world;
    expect(said(await get('/wallet/v0/wallets'))).toEqual(bad('NotFound', 'limit'));
    expect(said(await get('/wallet/v0/wallets?limit=abc'))).toEqual(bad('WrongType', 'limit'));
    expect(said(await get('/wallet/v0/wallets?limit=0'))).toEqual(bad('WrongSize', 'limit'));
    expect(said(await get('/wallet/v0/wallets?limit=1001'))).toEqual(bad('WrongSize', 'limit'));
    expect(said(await get('/wallet/v0/wallets?limit=5&currencyID=rub'))).toEqual(
      bad('NoMatch', 'currencyID'),
    );
    expect(said(await get('/wallet/v0/withdrawals?limit=5&status=Lost'))).toEqual(
      bad('NotInRange', 'status'),
    );
    expect(said(await get(`/wallet/v0/wallets/${'x'.repeat(41)}`))).toEqual(bad('WrongLength', 'walletID'));
    const range = 'createdAtFrom=2026-02-01T00:00:00Z&createdAtTo=2026-01-01T00:00:00Z';
    expect(said(await get(`/wallet/v0/withdrawals?limit=5&${range}`))).toEqual(bad('NoMatch'));
    const call = (headers: Record<string, string | undefined>) =>
      service.call('GET', '/wallet/v0/identities', { token: merchant.apiKey, headers });
    expect((await call({ 'x-request-id': undefined })).status).toBe(200);
    expect(said(await call({ 'x-request-id': 'x'.repeat(129) }))).toEqual(bad('WrongLength', 'X-Request-ID'));
    const long = await call({ 'x-request-id': 'x'.repeat(128) });
    expect(long.status).toBe(200);
    expect(long.headers['x-request-id']).toBe('x'.repeat(128));
    const late = await call({ 'x-request-deadline': '5h' });
    expect(said(late)).toEqual(bad('SchemaViolated', 'X-Request-Deadline'));
  });

  test('objects that do not exist or belong to another party get a 404 without a body', async () => {
    for (const path of [
      `/wallet/v0/wallets/${others.wallet}`,
      '/wallet/v0/wallets/nothing',
      `/wallet/v0/wallets/${others.wallet}/account`,
      `/wallet/v0/identities/${others.identity}`,
      `/wallet/v0/identities/${others.identity}/challenges`,
      '/wallet/v0/destinations/nothing',
      '/wallet/v0/destinations/nothing/events?limit=1',
      '/wallet/v0/withdrawals/nothing/events?limit=1',
      '/wallet/v0/external/wallets?externalID=nothing',
      '/wallet/v0/external-ids/withdrawals/nothing',
      '/payres/v0/bank-cards/r1.nothing',
      '/wallet/v0/currencies/XXQ',
      '/wallet/v0/residences/USA',
      '/wallet/v0/providers/nothing',
    ]) {
      const answer = await world.get(path);
      expect({ path, status: answer.status, text: answer.text }).toEqual({ path, status: 404, text: '' });
    }
  });

  test('a request without a valid key gets an empty 401', async () => {
    const answer = await world.service.call('GET', '/wallet/v0/identities', { token: 'garbage' });
    expect(answer).toMatchObject({ status: 401, text: '' });
  });
});

describe('identities and wallets', () => {
  test('an unknown provider or class is refused', async () => {
    const make = (provider: string, of: string) =>
      world.post('/wallet/v0/identities', { name: 'A', provider, class: of });
    expect(said(await make('ncoeps', 'person'))).toEqual(refused('noSuchProvider', 'No such provider'));
    expect(said(await make('test', 'bank'))).toEqual(
      refused('noSuchIdentityClass', 'No such identity class'),
    );
    expect((await make('dpl', 'company')).status).toBe(201);
  });

  test('a wallet of another provider opens empty', async () => {
    const { wallet } = await world.openWallet(world.merchant, { provider: 'dpl', class: 'company' });
    expect(await world.account(wallet)).toEqual({ own: 0, available: 0 });
  });

  test('a wallet needs an own identity that is not blocked, and a known currency', async () => {
    const open = (identity: string, currency = 'RUB') =>
      world.post('/wallet/v0/wallets', { name: 'W', identity, currency });
    expect(said(await open(others.identity))).toEqual(refused('noSuchIdentity', 'No such identity'));
    expect(said(await open(world.identity, 'XXQ'))).toEqual(
      refused('currencyNotSupported', 'Currency not supported'),
    );
    const { identity, wallet } = await world.openWallet(world.merchant);
    await setBlocked(world, identity, true);
    expect(said(await open(identity))).toEqual(refused('identityInaccessible', 'Identity inaccessible'));
    expect((await world.get(`/wallet/v0/wallets/${wallet}`)).body.isBlocked).toBe(true);
    expect(said(await world.withdraw(1_000, destination, { wallet }))).toEqual(
      refused('walletInaccessible', 'Wallet inaccessible'),
    );
  });

  test('an identification succeeds in the sandbox', async () => {
    const { identity } = await world.openWallet(world.merchant);
    const path = `/wallet/v0/identities/${identity}/challenges`;
    const proofs = [{ type: 'RUSDomesticPassport', token: 'any' }];
    expect(said(await world.post(path, { type: 'oracle', proofs }))).toEqual(
      refused('noSuchChallengeType', 'No such challenge type'),
    );
    expect(said(await world.post(path, { type: 'esia', proofs: [{ type: 'Library', token: 'x' }] }))).toEqual(
      refused('proofNotFound', 'Proof not found'),
    );
    expect(said(await world.post(path, { type: 'esia', proofs: [] }))).toEqual(
      refused('insufficientProof', 'Insufficient proof'),
    );
    const started = await world.post(path, { type: 'esia', proofs });
    expect(started).toMatchObject({ status: 202, body: { type: 'esia', status: 'Pending', proofs } });
    const { id } = started.body;
    expect((await world.get(`${path}/${id}`)).body).toEqual({ ...started.body, status: 'Completed' });
    expect((await world.get(path)).body).toHaveLength(1);
    expect((await world.get(`/wallet/v0/identities/${identity}`)).body).toMatchObject({
      level: 'partial',
      effectiveChallenge: id,
    });
    expect(said(await world.post(path, { type: 'esia', proofs }))).toEqual(
      refused('illegalChallengeType', 'Illegal identification type for current identity level'),
    );
    expect((await world.post(path, { type: 'in-person', proofs })).status).toBe(202);
    expect((await world.get(`/wallet/v0/identities/${identity}`)).body.level).toBe('identified');
  });

  test('of two concurrent identifications one succeeds and the other is refused', async () => {
    // Not the service's own connections, of which the two requests need one each.
    const { database } = world.service.testDatabase;
    const { identity } = await world.openWallet(world.merchant);
    const path = `/wallet/v0/identities/${identity}/challenges`;
    const body = { type: 'esia', proofs: [{ type: 'RUSDomesticPassport', token: 'any' }] };
    const answers = await database.withClient(async (holder) => {
      await holder.query('begin');
      // Otherwise the server ends the session if the requests take five seconds to come here.
      await holder.query('set local idle_in_transaction_session_timeout = 0');
      await holder.query('select from identity where identity_id = $1 for update', [identity]);
      const asked = [world.post(path, body), world.post(path, body)];
      await database.withClient(async (other) => {
        while ((await other.query(countWaiting)).rows[0].count < asked.length)
          await new Promise(setImmediate);
      });
      await holder.query('commit');
      return Promise.all(asked);
    });
    const [accepted, again] = answers.sort((a, b) => a.status - b.status);
    expect(accepted).toMatchObject({ status: 202, body: { type: 'esia', status: 'Pending' } });
    expect(said(again!)).toEqual(
      refused('illegalChallengeType', 'Illegal identification type for current identity level'),
    );
    expect((await world.get(path)).body).toHaveLength(1);
  });
});

describe('cards and destinations', () => {
  test.each<[string, { cardNumber?: string; expDate?: string; cvv?: string }, string, string]>([
    ['of no network', { cardNumber: '9999999999999995' }, 'unsupportedCard', 'Unsupported card'],
    [
      'with a wrong last digit',
      { cardNumber: '4242424242424241' },
      'invalidCardData',
      'Card data is invalid',
    ],
    [
      'with a number that is too long',
      { cardNumber: '55555555555544442' },
      'invalidCardData',
      'Card data is invalid',
    ],
    ['with an invalid month', { expDate: '13/30' }, 'invalidCardData', 'Card data is invalid'],
    ['with a long code', { cvv: '1234' }, 'invalidCardData', 'Card data is invalid'],
  ])('a card %s is refused', async (_, changes, code, message) => {
    const answer = await world.post('/payres/v0/bank-cards', { ...card('4242424242424242'), ...changes });
    expect(said(answer)).toEqual(refused(code, message));
    expect(answer.text).not.toContain(changes.cardNumber ?? '4242424242424242');
  });

  test('a card needs only its number, which appears nowhere, and no security code is stored', async () => {
    const alone = await world.post('/payres/v0/bank-cards', { cardNumber: '4242424242424242' });
    expect(alone.status).toBe(201);
    const coded = await world.post('/payres/v0/bank-cards', { ...card('4242424242424242'), cvv: '987' });
    expect(coded.status).toBe(201);
    const { rows } = await world.service.database.withClient((client) =>
      client.query('select count(*)::int as codes from security_code'),
    );
    expect(rows).toEqual([{ codes: 0 }]);
    const kept = await destinationWith(alone.body.token);
    await world.service.jobs.whenIdle();
    expect((await world.get(`/wallet/v0/destinations/${kept.body.id}`)).body.status).toBe('Authorized');
    expect(world.service.logged.join('')).not.toContain('4242424242424242');
    const tables = await world.service.database.withClient((client) =>
      client.query(`select row_to_json(card)::text as row from card union all select row_to_json(event)::text from event
                    union all select row_to_json(destination)::text from destination`),
    );
    expect(JSON.stringify(tables.rows)).not.toContain('4242424242424242');
  });

  const destinationWith = (token: string, more: Record<string, unknown> = {}) =>
    world.post('/wallet/v0/destinations', {
      name: 'Card',
      identity: world.identity,
      currency: 'RUB',
      resource: { type: 'BankCardDestinationResource', token },
      ...more,
    });
  const invalidToken = {
    status: 400,
    body: {
      errorType: 'InvalidResourceToken',
      name: 'BankCardDestinationResource',
      description: 'Specified resource token is invalid',
      code: 'invalidResourceToken',
    },
  };

  test('a token is valid for an hour, for its own party, and only for destinations', async () => {
    const token = await world.storeCard('4242424242424242');
    expect(said(await destinationWith('garbage'))).toEqual(invalidToken);
    expect(said(await destinationWith(await world.storeCard('4242424242424242', other)))).toEqual(
      invalidToken,
    );
    const { token: forPayment } = await world.tokenize('4242424242424242');
    expect(said(await destinationWith(forPayment))).toEqual(invalidToken);
    expect(said(await destinationWith(forPayment.replace('v1.', 'r1.')))).toEqual(invalidToken);
    const made = await destinationWith(token);
    expect(made.status).toBe(201);
    expect(said(await destinationWith(made.body.resource.token))).toEqual(invalidToken);
    const foreign = await world.get(`/payres/v0/bank-cards/${token}`, other.apiKey);
    expect(foreign.status).toBe(404);
    world.service.clock.advance(60 * 60_000);
    expect(said(await destinationWith(token))).toEqual(invalidToken);
    expect((await world.get(`/payres/v0/bank-cards/${token}`)).status).toBe(404);
  });

  test('a request with an external ID can be repeated after its token has expired, for the same card', async () => {
    const [token, another] = [
      await world.storeCard('4242424242424242'),
      await world.storeCard('5555555555554444'),
    ];
    const named = { externalID: 'made within the hour' };
    const { body: made } = await destinationWith(token, named);
    await destinationWith(another);
    await world.service.jobs.whenIdle();
    world.service.clock.advance(60 * 60_000);
    const repeated = await destinationWith(token, named);
    expect([repeated.status, repeated.body.id]).toEqual([201, made.id]);
    expect((await destinationWith(another, named)).status).toBe(409);
    expect(said(await destinationWith(token, { externalID: 'another' }))).toEqual(invalidToken);
    expect(said(await destinationWith('garbage', named))).toEqual(invalidToken);
  });

  test('a token of a payout card cannot make a payment', async () => {
    const { token } = { token: await world.storeCard('4242424242424242') };
    for (const paymentToolToken of [token, token.replace('r1.', 'v1.')]) {
      const invoice = await world.post('/v2/processing/invoices', {
        shopID: 'TEST',
        dueDate: '2030-01-01T00:00:00Z',
        amount: 1_000,
        currency: 'RUB',
        product: 'x',
      });
      const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
      const paid = await world.post(`/v2/processing/invoices/${invoice.body.invoice.id}/payments`, { payer });
      expect(paid.body.code).toBe('invalidPaymentToolToken');
    }
  });

  test('no string of a destination can contain a card number', async () => {
    const token = await world.storeCard('4242424242424242');
    const screened = async (more: Record<string, unknown>) => said(await destinationWith(token, more));
    const found = {
      status: 400,
      body: expect.objectContaining({ errorType: 'SchemaViolated', name: 'Destination' }),
    };
    expect(await screened({ name: 'abc4242424242424242' })).toEqual(found);
    expect(await screened({ identity: '4242424242424242' })).toEqual(found);
    expect(await screened({ metadata: { deep: ['x 4242424242424242'] } })).toEqual(found);
    expect(await screened({ metadata: { '4242424242424242': 1 } })).toEqual(found);
    expect((await screened({ name: '1231241241241244' })).status).toBe(201);
  });

  test('a destination needs an own identity and a known currency', async () => {
    const token = await world.storeCard('4242424242424242');
    expect(said(await destinationWith(token, { identity: others.identity }))).toEqual(
      refused('noSuchIdentity', 'No such identity'),
    );
    expect(said(await destinationWith(token, { currency: 'XXQ' }))).toEqual(
      refused('currencyNotSupported', 'Currency not supported'),
    );
  });
});

describe('external IDs', () => {
  test('make a repeat return the same object, and other parameters a conflict', async () => {
    const token = await world.storeCard('4242424242424242');
    const creates: [string, Record<string, unknown>, Record<string, unknown>, number][] = [
      ['/wallet/v0/identities', { name: 'A', provider: 'test', class: 'person' }, { name: 'B' }, 201],
      [
        '/wallet/v0/wallets',
        { name: 'W', identity: world.identity, currency: 'RUB' },
        { currency: 'USD' },
        201,
      ],
      [
        '/wallet/v0/destinations',
        {
          name: 'D',
          identity: world.identity,
          currency: 'RUB',
          resource: { type: 'BankCardDestinationResource', token },
        },
        {
          resource: { type: 'BankCardDestinationResource', token: await world.storeCard('5555555555554444') },
        },
        201,
      ],
      [
        '/wallet/v0/withdrawals',
        {
          wallet: world.wallet,
          destination,
          body: { amount: 500, currency: 'RUB' },
          metadata: { a: 1, b: 2 },
        },
        { metadata: { a: 1 } },
        202,
      ],
      [
        '/wallet/v0/w2w/transfers',
        { sender: world.wallet, receiver: others.wallet, body: { amount: 7, currency: 'RUB' } },
        { body: { amount: 8, currency: 'RUB' } },
        202,
      ],
    ];
    for (const [path, parameters, changes, status] of creates) {
      const body = { ...parameters, externalID: 'one name' };
      const made = await Promise.all(Array.from({ length: 8 }, () => world.post(path, body)));
      expect(made.map((answer) => answer.status)).toEqual(Array(8).fill(status));
      const ids = new Set(made.map((answer) => answer.body.id));
      expect({ path, ids: ids.size }).toEqual({ path, ids: 1 });
      await world.service.jobs.whenIdle();
      const turned = Object.fromEntries(Object.entries(body).reverse());
      const again = await world.post(path, turned);
      expect(again).toMatchObject({ status, body: { id: made[0]!.body.id, externalID: 'one name' } });
      const conflict = await world.post(path, { ...body, ...changes });
      expect(conflict.body.hint).toContain(`belongs to \`${made[0]!.body.id}\`, created with`);
      expect(said(conflict)).toEqual({
        status: 409,
        body: {
          externalID: 'one name',
          id: made[0]!.body.id,
          message: "This 'externalID' has been used by another request",
        },
      });
    }
    const withdrawal = await world.get('/wallet/v0/external-ids/withdrawals/one%20name');
    expect(withdrawal.body).toMatchObject({ status: 'Succeeded', externalID: 'one name' });
    expect((await world.get('/wallet/v0/external-ids/destinations/one%20name')).body.status).toBe(
      'Authorized',
    );
    expect((await world.get('/wallet/v0/external/wallets?externalID=one%20name')).body.name).toBe('W');
  });

  test('find the same destination for another token of the same card', async () => {
    const body = async (cardNumber: string) => ({
      name: 'D',
      identity: world.identity,
      currency: 'RUB',
      externalID: 'a card',
      resource: { type: 'BankCardDestinationResource', token: await world.storeCard(cardNumber) },
    });
    const first = await world.post('/wallet/v0/destinations', await body('2201382000000013'));
    const second = await world.post('/wallet/v0/destinations', await body('2201382000000013'));
    expect(second).toMatchObject({ status: 201, body: { id: first.body.id } });
  });

  test('stay free after a refused request, and two requests without one are two payouts', async () => {
    const named = { externalID: 'free again' };
    expect((await world.withdraw(50, destination, named)).status).toBe(422);
    expect((await world.withdraw(500, destination, named)).status).toBe(202);
    const ids = [await world.withdraw(500, destination), await world.withdraw(500, destination)];
    expect(new Set(ids.map(({ body }) => body.id)).size).toBe(2);
  });

  test('are independent of an Idempotency-Key, which repeats the first response with its Location', async () => {
    const send = () =>
      world.service.call('POST', '/wallet/v0/withdrawals', {
        token: world.merchant.apiKey,
        headers: { 'idempotency-key': 'payout-1' },
        body: { wallet: world.wallet, destination, body: { amount: 900, currency: 'RUB' } },
      });
    const first = await send();
    await world.service.jobs.whenIdle();
    const again = await send();
    expect(again.text).toBe(first.text);
    expect(again.headers['location']).toBe(first.headers['location']);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });
});

describe('lists', () => {
  test('return the party’s rows newest first, page by page, each once', async () => {
    const merchant = await world.createMerchant();
    const { wallet, identity } = await world.openWallet(merchant);
    const { id: to } = await world.destinationFor('4242424242424242', merchant, identity);
    const made: string[] = [];
    for (let number = 0; number < 7; number++) {
      const body = { wallet, destination: to, body: { amount: 1_000 + number, currency: 'RUB' } };
      made.unshift((await world.post('/wallet/v0/withdrawals', body, merchant.apiKey)).body.id);
      world.service.clock.advance(1_000);
    }
    await world.service.jobs.whenIdle();
    const page = async (query: string) =>
      (await world.get(`/wallet/v0/withdrawals?${query}`, merchant.apiKey)).body;
    const seen: string[] = [];
    let token = '';
    for (let pages = 0; pages < 4; pages++) {
      const { result, continuationToken } = await page(`limit=3${token && `&continuationToken=${token}`}`);
      seen.push(...result.map(({ id }: { id: string }) => id));
      if (continuationToken === undefined) break;
      token = continuationToken;
    }
    expect(seen).toEqual(made);
    expect(await page('limit=7')).not.toHaveProperty('continuationToken');
    const [one] = (await page('limit=1')).result;
    expect((await world.get(`/wallet/v0/withdrawals/${one.id}`, merchant.apiKey)).body).toEqual(one);

    const misused = await world.get(
      `/wallet/v0/withdrawals?limit=4&continuationToken=${token}`,
      merchant.apiKey,
    );
    expect(said(misused)).toMatchObject({ status: 400, body: { errorType: 'InvalidToken' } });
    for (const garbage of ['garbage', 'AAAA', Buffer.from('x|y|z').toString('base64url')]) {
      const answer = await world.get(`/wallet/v0/wallets?limit=4&continuationToken=${garbage}`);
      expect(said(answer)).toMatchObject({ status: 400, body: { errorType: 'InvalidToken' } });
    }

    const count = async (query: string) => (await page(`limit=100&${query}`)).result.length;
    expect(await count('amountFrom=1001&amountTo=1003')).toBe(3);
    expect(await count('status=Succeeded')).toBe(7);
    expect(await count('status=Failed')).toBe(0);
    expect(await count(`walletID=${wallet}&identityID=${identity}&destinationID=${to}&currencyID=RUB`)).toBe(
      7,
    );
    expect(await count(`walletID=${world.wallet}`)).toBe(0);
    const [from, till] = [made[5]!, made[2]!].map((id) => seen.indexOf(id)).map((place) => 6 - place);
    expect([from, till]).toEqual([1, 4]);
    const at = async (id: string) =>
      (await world.get(`/wallet/v0/withdrawals/${id}`, merchant.apiKey)).body.createdAt;
    expect(await count(`createdAtFrom=${await at(made[5]!)}&createdAtTo=${await at(made[2]!)}`)).toBe(3);

    expect((await world.get('/wallet/v0/wallets?limit=9', merchant.apiKey)).body.result).toHaveLength(1);
    expect((await world.get('/wallet/v0/identities', merchant.apiKey)).body.result).toHaveLength(1);
    expect((await world.get('/wallet/v0/identities?level=identified', merchant.apiKey)).body.result).toEqual(
      [],
    );
    expect((await world.get('/wallet/v0/destinations?limit=9', merchant.apiKey)).body.result).toHaveLength(1);
    expect((await world.get('/wallet/v0/deposits?limit=9', merchant.apiKey)).body.result).toEqual([
      expect.objectContaining({
        wallet,
        source: 'SANDBOX',
        status: 'Succeeded',
        body: { amount: 100_000_000, currency: 'RUB' },
      }),
    ]);
    expect(
      (await world.get('/wallet/v0/deposits?limit=9&status=Failed', merchant.apiKey)).body.result,
    ).toEqual([]);
  });
});

test('test money can be deposited in the sandbox', async () => {
  const before = await world.account();
  const top = await world.post('/wallet/v0/test/deposits', {
    wallet: world.wallet,
    body: { amount: 1_234, currency: 'RUB' },
  });
  expect(top).toMatchObject({ status: 202, body: { status: 'Succeeded', body: { amount: 1_234 } } });
  expect(await world.account()).toEqual({ own: before.own + 1_234, available: before.available + 1_234 });
});

test('a quote is refused', async () => {
  const cash = { amount: 1, currency: 'USD' };
  const body = { walletID: world.wallet, currencyFrom: 'RUB', currencyTo: 'USD', cash };
  const answer = await world.post('/wallet/v0/withdrawal-quotes', body);
  expect(answer).toMatchObject({ status: 501, body: { message: expect.stringContaining('not available') } });
});

test('providers, classes, residences and currencies can be read', async () => {
  const { get } = world;
  expect((await get('/wallet/v0/providers?residence=rus')).body.map(({ id }: any) => id)).toEqual([
    'test',
    'dpl',
  ]);
  expect((await get('/wallet/v0/providers?residence=USA')).body).toEqual([]);
  expect((await get('/wallet/v0/providers/test')).body).toMatchObject({ id: 'test', residences: ['RUS'] });
  expect((await get('/wallet/v0/providers/test/identity-classes')).body).toHaveLength(2);
  expect((await get('/wallet/v0/providers/test/identity-classes/person')).body).toEqual({
    id: 'person',
    name: 'Person',
  });
  expect((await get('/wallet/v0/residences/rus')).body).toMatchObject({ id: 'RUS' });
  expect((await get('/wallet/v0/currencies/rub')).body).toEqual({
    id: 'RUB',
    numericCode: '643',
    name: 'Russian Ruble',
    exponent: 2,
  });
});

test('in the end every ledger check holds', async () => {
  await world.service.jobs.whenIdle();
  expect(await brokenInvariants(world.service.database)).toEqual([]);
});
