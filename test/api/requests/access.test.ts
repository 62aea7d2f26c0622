// Who may call what: every operation with every kind of token, for its own, a foreign and an unknown entity. The result is compared with
// a table written from the contract.
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { epochMsOf, laterBy } from '../../../src/clock.ts';
import { routes, sandboxRoutes } from '../../../src/app/routes.ts';
import type { TokenKind } from '../../../src/caller.ts';
import { accessTokens } from '../../../src/platform/keys/access-token.ts';
import {
  asset,
  entities,
  expectations,
  get,
  payment,
  scopes,
  unauthorized,
  type Entity,
  type Expected,
  type Names,
  type Request,
  type Row,
} from '../../support/requests/access-table.ts';
import { customersUrl } from '../../support/worlds/customer-world.ts';
import { forgedTokens } from '../../support/requests/forged-tokens.ts';
import {
  fixedPrice,
  invoicesUrl,
  makeInvoice,
  makeInvoiceThatIs,
  makeTemplate,
  singleLine,
  templatesUrl,
} from '../../support/worlds/invoices.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import { copyWebhook, makeWebhook, webhooksUrl } from '../../support/receivers/webhooks.ts';
import type { Answer, Merchant, TestService } from '../../support/service/test-service.ts';

const threeDaysMs = 3 * 24 * 3_600_000;
/** A caller: what it sends, and who it is. */
type CallerKind =
  | { readonly kind: 'stranger'; readonly hasToken: boolean; readonly says?: string }
  | { readonly kind: 'key'; readonly scopes: readonly string[] }
  | { readonly kind: 'token'; readonly of: TokenKind; readonly entity?: 'own' | 'foreign' };
type Caller = CallerKind & { readonly name: string; readonly authorization: string | undefined };

let world: PayoutWorld;
let service: TestService;
let merchant: Merchant;
let names: Names;
let callers: Caller[];

beforeAll(async () => {
  world = await startPayoutWorld();
  ({ service, merchant } = world);
  const other = await world.createMerchant();
  const ownWebhookId = await webhookOf(merchant, undefined);
  const own = { ...(await ended(merchant, 'own')), webhookId: ownWebhookId };
  const foreign = { ...(await ended(other, 'foreign')), webhookId: await webhookOf(other, ownWebhookId) };

  const { token: cardToken, session: cardSession } = await world.tokenize('4242424242424242');
  // Their shop is suspended next, so no template is changed, and none makes an invoice.
  const inEuro = { shopID: 'TEST_EUR', details: singleLine({ ...fixedPrice, currency: 'EUR' }) };
  const ownTemplate = await makeTemplate(service, merchant, inEuro);
  const foreignTemplate = await makeTemplate(service, other, inEuro);
  const [ownCustomer, foreignCustomer] = [
    await withdrawn(merchant, 'own'),
    await withdrawn(other, 'foreign'),
  ];
  await service.database.withClient((client) =>
    client.query(`update shop set shop_id = 'ONLY_OTHERS' where party_id = $1 and shop_id = 'TEST'`, [
      other.partyId,
    ]),
  );
  const [payingOut, othersPayingOut] = [await paidOut(merchant, 'own'), await paidOut(other, 'foreign')];
  const receiverId = othersPayingOut.walletId;
  names = {
    own: {
      ...payingOut,
      invoiceId: own.id,
      templateId: ownTemplate.id,
      customerId: ownCustomer.id,
      bindingId: ownCustomer.bindingId,
      webhookId: own.webhookId,
      externalId: 'own',
      shopId: 'TEST',
      categoryId: '1',
      cardToken,
      receiverId,
      cardSession,
    },
    foreign: {
      invoiceId: foreign.id,
      templateId: foreignTemplate.id,
      customerId: foreignCustomer.id,
      bindingId: foreignCustomer.bindingId,
      webhookId: foreign.webhookId,
      externalId: 'foreign',
      shopId: 'ONLY_OTHERS',
      categoryId: '998',
      cardToken,
      receiverId,
      ...othersPayingOut,
      provider: 'none',
      currency: 'XXQ',
      cardSession,
    },
    unknown: {
      invoiceId: '1Cg2mCUVy4m',
      templateId: '1Cg2mCUVy4n',
      customerId: '1DEpdIW9Y9o',
      bindingId: '1DEpdIW9Y9p',
      webhookId: '107498',
      externalId: 'unknown',
      shopId: 'NOWHERE',
      categoryId: '999',
      cardToken,
      receiverId,
      identityId: 'stranger',
      challengeId: 'none',
      walletId: 'nothing',
      bankCard: `r1.${'x'.repeat(23)}`,
      destinationId: 'nowhere',
      withdrawalId: 'none',
      transferId: 'none',
      provider: 'none',
      currency: 'XXQ',
      cardSession,
    },
  };
  callers = await allCallers({ own, foreign, ownCustomer, foreignCustomer, ownTemplate, foreignTemplate });
});
afterAll(() => world.close());

/** The maximum number of webhooks; the returned one is rotating its keys. */
async function webhookOf(by: Merchant, first: string | undefined): Promise<string> {
  const { partyId, apiKey: token } = by;
  const owner = { partyId, shopId: 'TEST' };
  const id = first ?? (await makeWebhook(service, by));
  const ids = await copyWebhook(service, id, owner, first ? 10 : 9);
  const changing = ids[0]!;
  const rotated = await service.call('POST', `${webhooksUrl}/${changing}/rotate-keys`, { token, body: {} });
  expect(rotated.status).toBe(200);
  return changing;
}

/** A rescinded invoice with one payment that was held and cancelled; both have that external ID. */
async function ended(by: Merchant, externalID: string): Promise<{ id: string; token: string }> {
  const made = await makeInvoice(service, by, { externalID });
  const { token: cardToken } = await world.tokenize('4242424242424242', by.apiKey);
  const hold = { ...payment(cardToken), flow: { type: 'PaymentFlowHold' }, externalID };
  const body = { reason: 'for the walk' };
  for (const [path, status, sent] of [
    ['payments', 201, hold],
    ['payments/1/cancel', 202, body],
    ['rescind', 204, body],
  ] as const) {
    const url = `${invoicesUrl}/${made.id}/${path}`;
    const answer = await service.call('POST', url, { token: by.apiKey, body: sent });
    expect({ path, status: answer.status, text: answer.text }).toMatchObject({ path, status });
    await service.jobs.whenIdle();
  }
  return made;
}

/** A wallet with a withdrawal and a transfer; all have that external ID. */
async function paidOut(by: Merchant, externalID: string) {
  const make = async (path: string, body: object): Promise<any> => {
    const answer = await world.post(path, body, by.apiKey);
    expect({ path, status: answer.status < 300, text: answer.text }).toMatchObject({ path, status: true });
    await service.jobs.whenIdle();
    return answer.body;
  };
  const { identity, wallet } = await world.openWallet(by, { externalID });
  const proofs = [{ type: 'RUSDomesticPassport', token: 'any' }];
  const challenge = await make(`/wallet/v0/identities/${identity}/challenges`, { type: 'esia', proofs });
  const named = await make('/wallet/v0/wallets', { name: 'W', identity, currency: 'RUB', externalID });
  const bankCard = await world.storeCard('4242424242424242', by);
  const destination = await make('/wallet/v0/destinations', {
    name: 'D',
    identity,
    currency: 'RUB',
    resource: { type: 'BankCardDestinationResource', token: bankCard },
    externalID,
  });
  const body = asset;
  const withdrawal = await make('/wallet/v0/withdrawals', {
    wallet,
    destination: destination.id,
    body,
    externalID,
  });
  const transfer = await make('/wallet/v0/w2w/transfers', { sender: wallet, receiver: named.id, body });
  return {
    identityId: identity,
    challengeId: challenge.id as string,
    walletId: wallet,
    bankCard,
    destinationId: destination.id as string,
    withdrawalId: withdrawal.id as string,
    transferId: transfer.id as string,
    provider: 'test',
    currency: 'RUB',
  };
}

/** A customer with one revoked card, of a shop that may no longer trade. */
async function withdrawn(by: Merchant, externalID: string) {
  const token = by.apiKey;
  const person = { shopID: 'TEST_EUR', contactInfo: {}, externalID };
  const made = await service.call('POST', customersUrl, { token, body: person });
  const { customer, customerAccessToken } = made.body;
  const card = await world.tokenize('4242424242424242', token);
  const url = `${customersUrl}/${customer.id}/bindings`;
  const body = { paymentResource: { paymentToolToken: card.token, paymentSession: card.session } };
  const bound = await service.call('POST', url, { token, body });
  await service.jobs.whenIdle();
  expect((await service.call('DELETE', `${url}/${bound.body.id}`, { token })).status).toBe(204);
  await service.database.withClient((client) =>
    client.query(`update shop set is_suspended = true where party_id = $1 and shop_id = 'TEST_EUR'`, [
      by.partyId,
    ]),
  );
  service.merchants.forget(by.partyId, 'TEST_EUR');
  return {
    id: customer.id as string,
    bindingId: bound.body.id as string,
    token: customerAccessToken.payload,
  };
}

async function allCallers({
  own,
  foreign,
  ownCustomer,
  foreignCustomer,
  ownTemplate,
  foreignTemplate,
}: {
  own: { id: string; token: string };
  foreign: { token: string };
  ownCustomer: { token: string };
  foreignCustomer: { token: string };
  ownTemplate: { id: string; token: string };
  foreignTemplate: { token: string };
}): Promise<Caller[]> {
  const { partyId } = merchant;
  const keyWith = (given: readonly string[]) =>
    service.apiKeys.create({ partyId, name: 'walk', scopes: given });
  const tokenOf = (entityId: string) =>
    accessTokens(service.keyring, service.clock).issue({ kind: 'customer', entityId, partyId });
  const bearer = (name: string, token: string, who: CallerKind): Caller => ({
    name,
    authorization: `Bearer ${token}`,
    ...who,
  });
  const stranger = { kind: 'stranger', hasToken: true } as const;
  const hasExpired = { ...stranger, says: 'This token has expired.' };
  const tokenless = { kind: 'stranger', hasToken: false } as const;
  const anotherTemplate = await makeTemplate(service, merchant);
  const sibling = await makeInvoiceThatIs('cancelled', service, merchant);
  const key = merchant.apiKey;
  const revoked = await keyWith(scopes);
  await service.apiKeys.revoke(keyIdOf(revoked));
  const expired = await keyWith(scopes);
  await service.apiKeys.rotate(keyIdOf(expired), 0);
  const threeDaysAgo = { now: () => laterBy(service.clock.now(), -threeDaysMs) };
  const invoice = { kind: 'invoice', entityId: own.id, partyId } as const;
  const forged = await forgedTokens(service, { invoiceId: own.id, partyId });

  return [
    bearer('a key with every scope', key, { kind: 'key', scopes }),
    ...(await Promise.all(
      scopes.map(async (scope) =>
        bearer(`a key with only ${scope}`, await keyWith([scope]), { kind: 'key', scopes: [scope] }),
      ),
    )),
    bearer('a key with an unknown scope', await keyWith(['everything']), { kind: 'key', scopes: [] }),
    bearer('a key with all scopes', await keyWith(['*']), { kind: 'key', scopes }),
    bearer('the token of its own invoice', own.token, { kind: 'token', of: 'invoice', entity: 'own' }),
    bearer("the token of another's invoice", foreign.token, {
      kind: 'token',
      of: 'invoice',
      entity: 'foreign',
    }),
    bearer('the token of another invoice of the same party', sibling.token, { kind: 'token', of: 'invoice' }),
    bearer('the token of its own customer', ownCustomer.token, {
      kind: 'token',
      of: 'customer',
      entity: 'own',
    }),
    bearer("the token of another's customer", foreignCustomer.token, {
      kind: 'token',
      of: 'customer',
      entity: 'foreign',
    }),
    bearer('a customer token', tokenOf('another'), {
      kind: 'token',
      of: 'customer',
    }),
    bearer('a customer token with the ID of the invoice', tokenOf(own.id), {
      kind: 'token',
      of: 'customer',
    }),
    bearer('the token of its own template', ownTemplate.token, {
      kind: 'token',
      of: 'invoice-template',
      entity: 'own',
    }),
    bearer("the token of another's template", foreignTemplate.token, {
      kind: 'token',
      of: 'invoice-template',
      entity: 'foreign',
    }),
    bearer('a template token', anotherTemplate.token, { kind: 'token', of: 'invoice-template' }),
    bearer(
      'a template token with the ID of another',
      ownTemplate.token.replace(ownTemplate.id, anotherTemplate.id),
      stranger,
    ),
    bearer('an expired token', accessTokens(service.keyring, threeDaysAgo).issue(invoice), hasExpired),
    ...Object.entries(forged).map(([name, token]) =>
      bearer(`a token ${name}`, token, name.startsWith('that expire') ? hasExpired : stranger),
    ),
    bearer('a revoked key', revoked, { ...stranger, says: 'This API key is revoked.' }),
    bearer('an expired key', expired, hasExpired),
    bearer('a key that claims live mode', checksummed(key.replace('_test_', '_live_')), stranger),
    bearer('a key of no mode', checksummed(key.replace('_test_', '_none_')), stranger),
    bearer('a key with another secret', checksummed(changed(key, -10)), stranger),
    bearer('an unknown key', checksummed(changed(key, 15)), stranger),
    bearer('a mistyped key', changed(key, -10), stranger),
    bearer('a key cut short', key.slice(0, -1), stranger),
    bearer('a key with something after it', `${key}0`, stranger),
    bearer('garbage', 'garbage', stranger),
    bearer('two tokens', `${key} ${key}`, stranger),
    { name: 'an empty token', authorization: 'Bearer ', ...tokenless },
    { name: 'an empty header', authorization: '', ...tokenless },
    { name: 'the key without a scheme', authorization: key, ...tokenless },
    { name: 'the key as a Basic password', authorization: `Basic ${btoa(`${key}:`)}`, ...tokenless },
    { name: 'the key under another scheme', authorization: `Token ${key}`, ...tokenless },
    { name: 'no header', authorization: undefined, ...tokenless },
  ];
}

const keyIdOf = (key: string) => key.split('_')[2] ?? '';

/** With a valid checksum, which takes only the format to compute. */
function checksummed(key: string): string {
  const text = key.slice(0, -6);
  return text + crc32(text).toString(16).padStart(8, '0').slice(2);
}

/** With another character at that place, which also breaks the checksum. */
function changed(key: string, place: number): string {
  const at = place < 0 ? key.length + place : place;
  return key.slice(0, at) + (key[at] === '0' ? '1' : '0') + key.slice(at + 1);
}

function expectedOf(row: Row, caller: Caller, entity: Entity): Expected {
  if (caller.kind === 'stranger') return unauthorized;
  if (caller.kind === 'key')
    return neededBy(row).every((scope) => caller.scopes.includes(scope)) ? row.toKey[entity] : unauthorized;
  const toKind = row.toTokensOf?.[caller.of];
  if (toKind) return toKind;
  const isIts = caller.of === (row.itsTokenIsOf ?? 'invoice') && caller.entity === entity;
  return isIts && caller.entity && row.toItsToken ? row.toItsToken[caller.entity] : row.toOtherTokens;
}

/** What RFC 6750 says of the token, in the terms of the table of access. */
function neededBy({ scope, alsoScope }: Row): readonly string[] {
  return alsoScope === undefined ? [scope] : [scope, alsoScope];
}

function challengeTo(row: Row, caller: Caller): unknown {
  const scope = neededBy(row).join(' ');
  if (caller.kind === 'key') return `Bearer error="insufficient_scope", scope="${scope}"`;
  if (caller.kind === 'token') return 'Bearer error="insufficient_scope"';
  if (!caller.hasToken) return 'Bearer';
  const { says = 'This token is unknown or mistyped.' } = caller;
  return expect.stringContaining(`Bearer error="invalid_token", error_description="${says}`);
}

function call({ method, url, body }: Request, authorization: string | undefined): Promise<Answer> {
  return service.call(method, url, { headers: { authorization }, ...(body === undefined ? {} : { body }) });
}

/** A caller is refused before its entity is looked for, so these strangers show it for all: each refusal of the pipeline has one. */
const strangersForEach = ['an expired token', 'a revoked key', 'garbage', 'no header'];
const asksForEach = ({ kind, name }: Caller) => kind !== 'stranger' || strangersForEach.includes(name);
/** Its own, where a stranger would see most. */
const firstEntity = ['own'] as const;

const operations = [...routes, ...sandboxRoutes];

test('the strangers that ask for each entity are among the callers', () => {
  const names = callers.filter((one) => one.kind === 'stranger' && asksForEach(one)).map(({ name }) => name);
  expect(names).toEqual(strangersForEach);
});

test('every operation has its expectation, and no other expectation exists', () => {
  expect(operations.map(({ operation }) => operation).sort()).toEqual(Object.keys(expectations).sort());
});

describe.each(operations.map(({ operation }) => operation))('%s', (operation) => {
  const row = expectations[operation];
  if (!row) return test('has an expectation', () => expect.unreachable('write one from the contract'));

  test('accepts only the callers it should', async () => {
    for (const caller of callers) {
      for (const entity of asksForEach(caller) ? entities : firstEntity) {
        const expected = expectedOf(row, caller, entity);
        const answer = await call(row.request(names[entity]), caller.authorization);
        const at = { caller: caller.name, entity };
        const { status } = answer;
        expect({ ...at, status, body: answer.body }).toEqual({
          ...at,
          status: expected.status,
          body:
            [401, 204].includes(expected.status) || expected.isEmpty
              ? undefined
              : (expected.body ?? expect.anything()),
        });
        if (status === 401)
          expect({ ...at, text: answer.text, challenge: answer.headers['www-authenticate'] }).toEqual({
            ...at,
            text: '',
            challenge: challengeTo(row, caller),
          });
      }
    }
  });

  test("responds to another party's entity as to an unknown one", async () => {
    // The token of the foreign entity may access it.
    const others = callers.filter(({ name }) => !name.startsWith("the token of another's"));
    for (const caller of others.filter(asksForEach)) {
      const [foreign, unknown] = await Promise.all([
        call(row.request(names.foreign), caller.authorization),
        call(row.request(names.unknown), caller.authorization),
      ]);
      const seen = ({ status, text, headers: { date: _, ...headers } }: Answer) => ({
        status,
        text,
        headers,
      });
      if (foreign.status < 400) continue; // an operation that names no entity
      expect({ caller: caller.name, ...seen(foreign) }).toEqual({ caller: caller.name, ...seen(unknown) });
    }
  });
});

test.each([
  ['a webhook', webhooksUrl, 'webhookId', 'webhooks:write', 'Webhook not found'],
  ['a template', templatesUrl, 'templateId', 'invoices:write', 'Invoice template not found'],
] as const)(
  '%s is deleted only by a key of its own party with the scope for it',
  async (_, url, id, scope, message) => {
    const { own, foreign } = names;
    const remove = (entityId: string, authorization: string | undefined) =>
      call({ method: 'DELETE', url: `${url}/${entityId}` }, authorization);
    for (const { name, authorization, ...caller } of callers) {
      const mayCall = caller.kind === 'key' && caller.scopes.includes(scope);
      if (mayCall) continue;
      expect({ name, status: (await remove(own[id], authorization)).status }).toEqual({ name, status: 401 });
    }
    const key = `Bearer ${merchant.apiKey}`;
    expect(await remove(foreign[id], key)).toMatchObject({ status: 404, body: { message } });
    expect((await remove(own[id], key)).status).toBe(204);
    expect((await remove(own[id], key)).status).toBe(404);
    expect((await call(get(`${url}/${own[id]}`), key)).status).toBe(404);
  },
);

test('the scheme may be written in any case', async () => {
  for (const scheme of ['bearer', 'BEARER', 'bEaReR']) {
    expect((await call(get('/v2/processing/me'), `${scheme} ${merchant.apiKey}`)).status).toBe(200);
  }
});

test('an invoice token works for three days to the second', async () => {
  const { id } = await makeInvoice(service, merchant);
  // Tokens have whole seconds.
  service.clock.set(Math.ceil(epochMsOf(service.clock.now()) / 1000) * 1000);
  const issued = await service.call('POST', `${invoicesUrl}/${id}/access-tokens`, { token: merchant.apiKey });
  const token: string = issued.body.payload;
  const status = async () => (await service.call('GET', `${invoicesUrl}/${id}`, { token })).status;
  service.clock.advance(threeDaysMs - 1);
  expect(await status()).toBe(200);
  service.clock.advance(1);
  expect(await status()).toBe(401);
});

test('a token from before the rotation of the token key still works', async () => {
  const { id, token } = await makeInvoice(service, merchant);
  await service.keyring.rotate('access_token');
  const fresh = await makeInvoice(service, merchant);
  expect((await service.call('GET', `${invoicesUrl}/${id}`, { token })).status).toBe(200);
  expect((await service.call('GET', `${invoicesUrl}/${fresh.id}`, { token: fresh.token })).status).toBe(200);
});

test('a replaced key works until the overlap ends, a revoked one stops immediately', async () => {
  const { partyId } = merchant;
  const key = await service.apiKeys.create({ partyId, name: 'replaced', scopes: ['shops:read'] });
  const status = async (token: string) => (await service.call('GET', '/v2/processing/me', { token })).status;
  const next = await service.apiKeys.rotate(keyIdOf(key), 60_000);
  if (!next) throw new Error('the key was not replaced');
  service.clock.advance(59_999);
  expect(await status(key)).toBe(200);
  service.clock.advance(1);
  expect(await status(key)).toBe(401);
  expect(await status(next)).toBe(200);
  await service.apiKeys.revoke(keyIdOf(next));
  expect(await status(next)).toBe(401);
});
