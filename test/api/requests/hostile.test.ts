// Tens of thousands of hostile requests (HOSTILE_REQUESTS, HOSTILE_SEED or SEED) over every route. None may break the service, get an
// undocumented response, or show one merchant the data of another.
import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { laterBy } from '../../../src/clock.ts';
import { scopes } from '../../../src/platform/http/access.ts';
import { accessTokens } from '../../../src/platform/keys/access-token.ts';
import { often } from '../../support/service/campaign.ts';
import { chosenSeed } from '../../support/service/chosen-seed.ts';
import { answerChecker, type AnswerCheck, type Received } from '../../support/checks/answer-check.ts';
import { customersUrl } from '../../support/worlds/customer-world.ts';
import { forgedTokens } from '../../support/requests/forged-tokens.ts';
import {
  invoicesUrl,
  makeInvoice,
  makeInvoiceThatIs,
  makeTemplate,
  payInvoice,
  rangePrice,
  singleLine,
} from '../../support/worlds/invoices.ts';
import { internalNames } from '../../support/requests/internal-names.ts';
import { adding, asItIs, runStory, type StoryResult } from '../../support/requests/twin-stories.ts';
import { operationFinder, type Document } from '../../support/requests/openapi.ts';
import { storm, type StormRequest, type StormWorld } from '../../support/requests/fuzz-runner.ts';
import { card, startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import type { Merchant, TestService } from '../../support/service/test-service.ts';
import { copyWebhook, makeWebhook } from '../../support/receivers/webhooks.ts';

const requests = Number(process.env['HOSTILE_REQUESTS'] ?? often(2_000, 10_000));
const seed = chosenSeed('HOSTILE_SEED');
/** No request hangs. Moving the test clock by years runs everything due in them, on however slow a machine. */
const slowestMs = 60_000;
const secrets = [
  'MARKED-PRODUCT',
  'MARKED-TEXT',
  'MARKED-VALUE',
  'MARKED-LINE',
  'MARKED-REASON',
  'MARKED-SHOP',
];

/** Values that can be stored: a body with any other is refused whole. */
const storable = fc.oneof(
  fc.constantFrom<unknown>('story-1', -100, '2020-01-01T00:00:00Z', null, 0.5),
  fc.string(),
  fc.integer(),
  fc.boolean(),
);
/** A few internal names, or many, with any values. */
const strangers = fc.dictionary(
  fc.constantFrom(...internalNames()),
  fc.oneof(storable, fc.array(storable), fc.record({ id: storable, amount: storable })),
  { minKeys: 1, maxKeys: 60, size: 'max' },
);

const newTerms = { schedule: 'P1M', amountRule: { kind: 'upTo', amount: 9_900 } };
/** After every time the test clock is likely to be moved to. */
const farAway = '2080-01-01T00:00:00Z';

let payments: PayoutWorld;
let service: TestService;
let document: Document;
let victim: Merchant;
let victimIds: string[];
let world: StormWorld & { readonly ownIds: string[] };
let check: AnswerCheck;
let nameOf: (method: string, url: string) => string;

const known = {
  categoryID: ['1', '1', '2'],
  shopID: [...Array.from({ length: 10 }, () => 'TEST'), 'TEST_USD', 'NOWHERE'],
  currency: [...Array.from({ length: 10 }, () => 'RUB'), 'USD'],
  partyID: [undefined],
  externalID: Array.from({ length: 300 }, (_, index) => `name-${index}`),
  dueDate: ['2026-01-19T10:00:00Z', '2026-03-01T00:00:00+03:00', farAway, farAway, farAway],
  amount: [6_000, 6_000, undefined],
  cart: [undefined, undefined, [{ product: 'Thing', quantity: 2, price: 3_000 }], undefined, []],
  metadata: [undefined, {}, { order_id: '12345' }],
  allocation: [undefined],
  limit: [1, 10, 1_000],
  eventID: [0, 1, 2],
  now: ['2026-01-19T10:00:00.123Z', '2026-02-01T00:00:00Z', '2026-04-01T00:00:00Z'],
  cardNumber: ['4242424242424242', '5555555555554444', '4000000000000002', '4242424242424241'],
  expDate: ['12/40', '12/2040', '12/25'],
  cvv: ['123', undefined],
  cardHolder: ['LEXA SVOTIN', undefined],
  url: [undefined, 'https://shop.example/pay?x=1'],
  email: ['payer@example.com', undefined],
  processingDeadline: [undefined, undefined, '30m'],
  paymentSession: [undefined],
  /** Filled in once the cards and customers exist. */
  paymentResource: [] as object[],
  customerID: [] as string[],
  customerBindingID: [] as string[],
  bindingID: [] as (string | undefined)[],
  recurrentTerms: [undefined, undefined, { schedule: 'P1M', validUntil: '2040-12-31' }],
  paymentID: ['1'],
  terms: [newTerms],
  expiresAt: [undefined],
  redirectUrl: [undefined],
  /** Filled in once the series exist. */
  seriesID: [] as string[],
  consentLinkID: [] as string[],
  /** Payments that can be parents; filled in once they exist. */
  invoiceID: [] as string[],
  /** Filled in once they exist. */
  invoiceTemplateID: [] as string[],
  topic: ['InvoicesTopic', 'InvoicesTopic', 'InvoicesTopic', 'WithdrawalsTopic', 'WithdrawalsTopic'],
  eventTypes: [
    ['InvoicePaid'],
    ['WithdrawalFailed'],
    ['WithdrawalFailed'],
    ['InvoiceCreated', 'PaymentFailed'],
    ['RefundCreated'],
    [],
  ],
  since: ['2026-01-19T10:00:00Z', undefined],
  fromEventID: [undefined, undefined, 7],
  afterHours: [0, 24],
  objectID: [undefined],
  after: ['0'],
  state: ['parked', 'done'],
  /** Filled in once the webhooks exist. */
  webhookID: [] as string[],
  /** Filled in once the cards exist. */
  paymentToolToken: [] as string[],
  provider: ['test', 'test', 'test', 'dpl', 'none'],
  class: ['person', 'person', 'company', 'none'],
  'IdentityChallenge.type': ['esia', 'in-person', 'none'],
  'IdentityProof.type': ['RUSDomesticPassport'],
  validUntil: [farAway, farAway, '2020-01-01T00:00:00Z'],
  walletGrant: [undefined],
  destinationGrant: [undefined],
  providerID: ['test', 'dpl'],
  identityClassID: ['person', 'company'],
  residence: ['RUS', 'rus'],
  currencyID: ['RUB', 'RUB', 'USD'],
  /** Filled in once the wallets exist. */
  identity: [] as string[],
  identityID: [] as string[],
  challengeID: [] as string[],
  wallet: [] as string[],
  walletID: [] as string[],
  'W2WTransferParameters.sender': [] as string[],
  sender: [undefined],
  purpose: [undefined],
  receiver: [] as string[],
  destination: [] as string[],
  destinationID: [] as string[],
  withdrawalID: [] as string[],
  w2wTransferID: [] as string[],
  token: [] as string[],
};

beforeAll(async () => {
  // Few enough that card testing is refused with 429.
  payments = await startPayoutWorld({ BINDINGS_PER_CARD_PER_DAY: '20' });
  ({ service } = payments);
  document = (await service.call('GET', '/openapi.json')).body as Document;
  victim = await payments.createMerchant();
  victimIds = await plantInvoices();
  world = await makeWorld();
  check = answerChecker(document, { secrets: [...secrets, ...victimIds], slowestMs });
  const find = operationFinder(document);
  nameOf = (method, url) => {
    const found = find(method, url);
    return typeof found === 'string' ? found : found.operationId;
  };
}, 120_000);
afterAll(() => payments.close());

/** What other merchants must never see: the victim's invoices in every state, with a marker in every free field. */
async function plantInvoices(): Promise<string[]> {
  await service.database.withClient((client) =>
    client.query(
      `update shop set name = 'MARKED-SHOP', url = 'https://MARKED-SHOP.example' where party_id = $1`,
      [victim.partyId],
    ),
  );
  const marked = {
    amount: undefined,
    product: 'MARKED-PRODUCT',
    description: 'MARKED-TEXT',
    metadata: { 'MARKED-VALUE': ['MARKED-VALUE'] },
    cart: [{ product: 'MARKED-LINE', price: 100 }],
  };
  const ofVictim = await makeTemplate(service, victim, {
    name: 'MARKED-TEXT',
    description: 'MARKED-TEXT',
    metadata: { 'MARKED-VALUE': 'MARKED-VALUE' },
    details: { ...singleLine(rangePrice), product: 'MARKED-PRODUCT' },
    externalID: 'name-0',
  });
  const ids: string[] = [];
  for (let number = 0; number < 10; number++) {
    const { id } = await makeInvoice(service, victim, { ...marked, externalID: `name-${number}` });
    ids.push(id);
  }
  for (const id of ids.slice(0, 3)) {
    const card = await payments.tokenize('4242424242424242', victim.apiKey);
    await hold(victim, id, card.token, { metadata: { 'MARKED-VALUE': 'MARKED-VALUE' } });
  }
  const person = { shopID: 'TEST', contactInfo: { firstName: 'MARKED-TEXT' }, externalID: 'name-0' };
  const customer = await makeCustomer(victim, { ...person, metadata: { 'MARKED-VALUE': 1 } });
  await bind(victim, customer);
  for (const id of ids.slice(5)) {
    const body = { reason: 'MARKED-REASON' };
    await service.call('POST', `${invoicesUrl}/${id}/rescind`, { token: victim.apiKey, body });
  }
  return [
    ...ids,
    ofVictim.id,
    customer,
    ...(await plantWallet(victim, { name: 'MARKED-PRODUCT', externalID: 'name-0' })),
  ];
}

/** One of each payout object; returns their IDs. */
async function plantWallet(by: Merchant, more: { name: string; externalID: string }): Promise<string[]> {
  const metadata = { note: `${more.name.startsWith('MARKED') ? 'MARKED-VALUE' : 'nothing special'}` };
  const make = async (path: string, body: object): Promise<any> => {
    const answer = await payments.post(path, body, by.apiKey);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    await service.jobs.whenIdle();
    return answer.body;
  };
  const identity = await make('/wallet/v0/identities', {
    ...more,
    provider: 'test',
    class: 'person',
    metadata,
  });
  const of = { ...more, identity: identity.id, currency: 'RUB', metadata };
  const wallet = await make('/wallet/v0/wallets', of);
  const { token } = await make('/payres/v0/bank-cards', card('4242424242424242'));
  const resource = { type: 'BankCardDestinationResource', token };
  const destination = await make('/wallet/v0/destinations', { ...of, resource });
  const { externalID } = more;
  const withdrawal = await make('/wallet/v0/withdrawals', {
    wallet: wallet.id,
    destination: destination.id,
    body: { amount: 6_000, currency: 'RUB' },
    metadata,
    externalID,
  });
  return [identity.id, wallet.id, destination.id, withdrawal.id, token];
}

/** What merchants of the fuzz run pay out from, and to. */
async function plantPayouts(by: Merchant, names: number): Promise<void> {
  const [identity = '', wallet = '', destination = '', withdrawal = '', token = ''] = await plantWallet(by, {
    name: 'Own',
    externalID: 'name-0',
  });
  const make = async (path: string, body: object) => (await payments.post(path, body, by.apiKey)).body;
  const proofs = [{ type: 'RUSDomesticPassport', token: 'any' }];
  const challenge = await make(`/wallet/v0/identities/${identity}/challenges`, { type: 'esia', proofs });
  const second = await make('/wallet/v0/wallets', { name: 'Second', identity, currency: 'RUB' });
  const body = { amount: 6_000, currency: 'RUB' };
  const moved = await make('/wallet/v0/w2w/transfers', { sender: wallet, receiver: second.id, body });
  const resource = { type: 'BankCardDestinationResource', token };
  const others = Array.from({ length: names - 1 }, (_, number) => `name-${number + 1}`);
  await Promise.all(
    others.map(async (externalID) => {
      const of = { name: 'Own', identity, currency: 'RUB', externalID };
      await make('/wallet/v0/destinations', { ...of, resource });
      await make('/wallet/v0/wallets', of);
      await make('/wallet/v0/withdrawals', { wallet, destination, body, externalID });
    }),
  );
  known.identity.push(identity);
  known.identityID.push(identity);
  known.challengeID.push(challenge.id);
  known.wallet.push(wallet);
  known.walletID.push(wallet);
  known['W2WTransferParameters.sender'].push(wallet);
  known.receiver.push(second.id);
  known.destination.push(destination);
  known.destinationID.push(destination);
  known.withdrawalID.push(withdrawal);
  known.w2wTransferID.push(moved.id);
  known.token.push(token);
}

/** Starts a payment with a hold. */
async function hold(by: Merchant, invoiceId: string, token: string, more: Record<string, unknown> = {}) {
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} };
  const body = { flow: { type: 'PaymentFlowHold' }, payer, ...more };
  const url = `${invoicesUrl}/${invoiceId}/payments`;
  const started = await service.call('POST', url, { token: by.apiKey, body });
  if (started.status !== 201)
    throw new Error(`the payment was not started: ${started.status} ${started.text}`);
}

async function makeCustomer(by: Merchant, body: object): Promise<string> {
  const made = await service.call('POST', customersUrl, { token: by.apiKey, body });
  if (made.status !== 201) throw new Error(`the customer was not created: ${made.status} ${made.text}`);
  return made.body.customer.id as string;
}

/** Binds a card to that customer; returns once the bank has responded. */
async function bind(by: Merchant, customerId: string): Promise<string> {
  const { token, session } = await payments.tokenize('4242424242424242', by.apiKey);
  const body = { paymentResource: { paymentToolToken: token, paymentSession: session } };
  const url = `${customersUrl}/${customerId}/bindings`;
  const started = await service.call('POST', url, { token: by.apiKey, body });
  if (started.status !== 201)
    throw new Error(`the binding was not started: ${started.status} ${started.text}`);
  await service.jobs.whenIdle();
  return started.body.id as string;
}

/** One customer that cannot be deleted, with cards that are read and revoked, and many customers for any operation. */
async function plantCustomers(by: Merchant): Promise<void> {
  const kept = await makeCustomer(by, { shopID: 'TEST_EUR', contactInfo: {}, externalID: 'name-0' });
  for (let number = 0; number < 8; number++) known.customerBindingID.push(await bind(by, kept));
  known.bindingID.push(undefined, ...known.customerBindingID);
  await service.database.withClient((client) =>
    client.query(`update shop set is_suspended = true where party_id = $1 and shop_id = 'TEST_EUR'`, [
      by.partyId,
    ]),
  );
  // The service caches for a second that the shop may trade, and until then the one customer could be deleted.
  const body = { shopID: 'TEST_EUR', contactInfo: {} };
  while ((await service.call('POST', customersUrl, { token: by.apiKey, body })).status === 201);
  const numbers = Array.from({ length: 120 }, (_, number) => number + 1);
  await Promise.all(
    numbers.map(async (number) => {
      const person = { shopID: 'TEST', contactInfo: {}, externalID: `name-${number}` };
      known.customerID.push(kept, await makeCustomer(by, person));
      if (number > 40) return;
      const { token, session } = await payments.tokenize('4242424242424242', by.apiKey);
      known.paymentResource.push({ paymentToolToken: token, paymentSession: session });
    }),
  );
}

async function makeWorld(): Promise<typeof world> {
  const [first, second] = [await payments.createMerchant(), await payments.createMerchant()];
  const { partyId } = first;
  const own: string[] = [];
  const made = await makeInvoice(service, first, { dueDate: farAway });
  own.push(made.id);
  // Enough that ending them takes a while.
  for (let number = 0; number < 40; number++) {
    const { id } = await makeInvoice(service, first, { dueDate: farAway });
    if (number % 2 === 0) await payInvoice(service, first, id);
    own.push(id);
  }
  // The third merchant's clock is never moved, so its cards stay valid and its holds stay open.
  const third = await payments.createMerchant();
  const trading = scopes.filter((scope) => scope !== 'sandbox');
  const thirdKey = await service.apiKeys.create({ partyId: third.partyId, name: 'trading', scopes: trading });
  for (let number = 0; number < 120; number++) {
    const { id } = await makeInvoice(service, third, { dueDate: farAway });
    own.push(id);
    if (number % 2 === 0) continue;
    const { token } = await payments.tokenize('4242424242424242', third.apiKey);
    if (number < 20) known.paymentToolToken.push(token);
    await hold(third, id, token, { externalID: `name-${number}` });
  }
  await service.jobs.whenIdle();
  // Existing refunds and series are read too.
  for (let number = 1; number < 60; number += 2) {
    const { token } = await payments.tokenize('4242424242424242', third.apiKey);
    const id = own[own.length - number - 1] ?? '';
    await hold(third, id, token, { flow: { type: 'PaymentFlowInstant' }, makeRecurrent: true });
    known.invoiceID.push(id);
    await service.jobs.whenIdle();
    known.seriesID.push(`${id}.1`);
    const body = { seriesID: `${id}.1`, terms: newTerms, externalID: `name-${number}` };
    const link = await service.call('POST', '/v2/processing/consent-links', { token: third.apiKey, body });
    if (link.status !== 201) throw new Error(`the consent link was not created: ${link.status} ${link.text}`);
    known.consentLinkID.push(link.body.id);
    const url = `${invoicesUrl}/${id}/payments/1/refunds`;
    await service.call('POST', url, {
      token: third.apiKey,
      body: { amount: 1, externalID: `name-${number}` },
    });
  }
  // The first merchant's clock is moved, which expires its tokens, but not those of the third.
  await plantPayouts(third, 60);
  await plantPayouts(first, 1);
  const [ofThird = '', ofFirst = ''] = known.identityID;
  known.webhookID.push(...(await makeWebhooks([first, ofFirst], [third, ofThird])));
  await service.jobs.whenIdle();
  await plantCustomers(third);
  const keyWith = (scope: string) => service.apiKeys.create({ partyId, name: 'narrow', scopes: [scope] });
  const ofTemplate = await makeTemplate(service, first, { details: singleLine(rangePrice) });
  const ownTemplates = await Promise.all(
    [first, third].flatMap((by) =>
      Array.from({ length: 20 }, () => makeTemplate(service, by, { details: singleLine(rangePrice) })),
    ),
  );
  known.invoiceTemplateID.push(...ownTemplates.map(({ id }) => id), ofTemplate.id);
  const tokens = accessTokens(service.keyring, service.clock);
  const past = { now: () => laterBy(service.clock.now(), -4 * 24 * 3_600_000) };
  const bearers = [
    // Most requests come from callers with some access.
    ...Array.from({ length: 60 }, () => first.apiKey),
    ...Array.from({ length: 60 }, () => thirdKey),
    ...Array.from({ length: 10 }, () => second.apiKey),
    ...Array.from({ length: 8 }, () => made.token),
    (await makeInvoice(service, second)).token,
    await keyWith('invoices:read'),
    await keyWith('invoices:write'),
    await keyWith('shops:read'),
    tokens.issue({ kind: 'customer', entityId: made.id, partyId }),
    ofTemplate.token,
    ofTemplate.token,
    accessTokens(service.keyring, past).issue({ kind: 'invoice', entityId: made.id, partyId }),
    ...Object.values(await forgedTokens(service, { invoiceId: made.id, partyId })).slice(0, 6),
    'garbage',
  ].map((token) => `Bearer ${token}`);
  return { callers: [...bearers, undefined, '', 'Basic eDp5'], ownIds: own, victimIds };
}

/** In the shops that the fuzz run seldom names, so that the other shop can have more. No server listens there. */
async function makeWebhooks(...merchants: [Merchant, identityId: string][]): Promise<string[]> {
  const ids: string[] = [];
  for (const [merchant, identityId] of merchants) {
    ids.push(ids[0] ?? (await makeWebhook(service, merchant)));
    for (const shopId of ['TEST_USD', 'TEST_EUR']) {
      const owner = { partyId: merchant.partyId, shopId };
      ids.push(...(await copyWebhook(service, ids[0] ?? '', owner, 10)));
    }
    const identity = { partyId: merchant.partyId, identityId };
    ids.push(...(await copyWebhook(service, ids[0] ?? '', identity, 9)));
  }
  return ids;
}

async function send({ method, url, headers, body }: StormRequest): Promise<Received> {
  const begun = performance.now();
  const answer = await service.app.inject({
    method: method as NonNullable<InjectOptions['method']>,
    url,
    headers,
    ...(body === undefined ? {} : { payload: body }),
  });
  const tookMs = performance.now() - begun;
  if (answer.statusCode === 201 && /invoices$/.test(url)) {
    world.ownIds.push((answer.json() as { invoice: { id: string } }).invoice.id);
  }
  return { status: answer.statusCode, headers: answer.headers, text: answer.body, tookMs };
}

function run({
  over,
  ...more
}: {
  send: typeof send;
  requests: number;
  seed?: number;
  smallest?: boolean;
  /** Only these operations. */
  over?: readonly string[];
}) {
  const chosen = over ? { ...document, paths: pathsOf(over) } : document;
  return storm({ document: chosen, known, world, check, nameOf, seed, smallest: true, ...more });
}

function pathsOf(operationIds: readonly string[]): Document['paths'] {
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).filter(([, each]) => operationIds.includes(each.operationId))),
  ]);
  return Object.fromEntries(paths) as Document['paths'];
}

/** The responses that each operation must have given at some time, as `['getInvoice', '200']`. */
function answersOfEachOperation(): (readonly [operationId: string, answer: string])[] {
  return Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses }) => {
      // An operation with 501 never succeeds. No bank reports chargebacks, so there is none to get.
      const done = Object.keys(responses).find((status) =>
        status.startsWith('501' in responses ? '501' : '2'),
      );
      const wanted = operationId === 'getChargeback' ? '404' : (done ?? 'a 2xx');
      const refused = ['400 invalidRequest', '400 invalidDeadline', '401'];
      // Card testing is refused with 429.
      if (operationId === 'createBinding') refused.push('429');
      return [wanted, ...refused].map((answer) => [operationId, answer] as const);
    });
}

async function readVictim(): Promise<string> {
  const { rows } = await service.database.withClient((client) =>
    client.query(
      `select row_to_json(invoice)::text as row from invoice where party_id = $1
       union all select row_to_json(payment)::text from payment where party_id = $1
       union all select row_to_json(refund)::text from refund where party_id = $1
       union all select row_to_json(identity)::text from identity where party_id = $1
       union all select row_to_json(wallet)::text from wallet where party_id = $1
       union all select row_to_json(destination)::text from destination where party_id = $1
       union all select row_to_json(withdrawal)::text from withdrawal where party_id = $1
       union all select row_to_json(card)::text from card where party_id = $1
       union all select row_to_json(customer)::text from customer where party_id = $1
       union all select row_to_json(binding)::text from binding where party_id = $1
       union all select row_to_json(event)::text from event where party_id = $1 order by row`,
      [victim.partyId],
    ),
  );
  return JSON.stringify(rows);
}

describe('a fuzz run of hostile requests', () => {
  test(
    `over every route (HOSTILE_SEED=${seed}) gets documented responses`,
    { timeout: 600_000 },
    async () => {
      console.log(`HOSTILE_SEED=${seed} HOSTILE_REQUESTS=${requests}`);
      const before = await readVictim();
      const { answers: met, sent, failure } = await run({ send, requests });
      const answers = new Map(met);
      if (process.env['HOSTILE_SEED'] !== undefined)
        console.log(sent, Object.fromEntries([...answers].sort()));
      expect(failure).toBeUndefined();
      expect(sent).toBeGreaterThan(requests * 0.8);
      await service.jobs.whenIdle();
      expect(await readVictim()).toBe(before);

      // A run that is always refused would find nothing, so each operation must have succeeded and each error occurred.
      if (requests < 5_000) return;
      const missing = () =>
        answersOfEachOperation().filter(([name, answer]) => !answers.has(`${name} ${answer}`));
      // For responses that chance has missed, the run continues over those operations only.
      for (let round = 1; round <= 10 && missing().length > 0; round++) {
        const more = await run({
          send,
          requests: 500,
          seed: seed + round,
          over: missing().map(([name]) => name),
        });
        expect(more.failure).toBeUndefined();
        for (const [answer, times] of more.answers) answers.set(answer, (answers.get(answer) ?? 0) + times);
      }
      expect(missing()).toEqual([]);
      const statuses = new Set([...answers.keys()].map((name) => name.split(' ')[1]));
      expect([...statuses].sort()).toEqual(
        [
          '200',
          '201',
          '202',
          '204',
          '400',
          '401',
          '404',
          '405',
          '409',
          '413',
          '415',
          '422',
          '429',
          '501',
        ].sort(),
      );
    },
  );

  test('leaves every invoice and every customer with all their events', async () => {
    const { rows } = await service.database.withClient((client) =>
      client.query(
        `select invoice_id from invoice left join event on aggregate_id = invoice_id
         group by invoice_id, version
         having count(sequence) <> version or min(sequence) <> 1 or max(sequence) <> version
         union all
         select customer_id from customer left join event on aggregate_id = customer_id
         group by customer_id, version
         having count(sequence) <> version or min(sequence) <> 1 or max(sequence) <> version
         union all
         select series_id from series left join event on aggregate_id = series_id
         group by series_id, version
         having count(sequence) <> version or min(sequence) <> 1 or max(sequence) <> version
         union all
         select aggregate_id from event where not exists (
           select from invoice where invoice_id = aggregate_id
           union all select from customer where customer_id = aggregate_id
           union all select from series where series_id = aggregate_id
           union all select from identity where identity_id = aggregate_id
           union all select from wallet where wallet_id = aggregate_id
           union all select from deposit where deposit_id = aggregate_id
           union all select from destination where destination_id = aggregate_id
           union all select from subscription where subscription_id = aggregate_id
           union all select from withdrawal where withdrawal_id = aggregate_id
           union all select from wallet_transfer where transfer_id = aggregate_id)
         union all
         select withdrawal_id from withdrawal left join event on aggregate_id = withdrawal_id
         group by withdrawal_id, version
         having count(sequence) <> version or max(sequence) <> version
         union all
         select operation || ' ' || external_id from external_id where not exists (
           select from invoice
             where operation in ('createInvoice', 'createInvoiceWithTemplate', 'createInvoiceByTemplateToken')
               and invoice_id = entity_id
           union all select from invoice_template
             where operation = 'createInvoiceTemplate' and invoice_template_id = entity_id
           union all select from payment
             where operation = 'createPayment' and invoice_id || '.' || payment_id = entity_id
           union all select from refund
             where operation = 'createRefund' and invoice_id || '.' || payment_id || '.' || refund_id = entity_id
           union all select from customer where operation = 'createCustomer' and customer_id = entity_id
           union all select from binding where operation = 'createBinding' and binding_id = entity_id
           union all select from card where operation = 'createPaymentResource' and card_id = entity_id
           union all select from identity where operation = 'createIdentity' and identity_id = entity_id
           union all select from wallet where operation = 'createWallet' and wallet_id = entity_id
           union all select from destination where operation = 'createDestination' and destination_id = entity_id
           union all select from consent_link where operation = 'createConsentLink' and consent_link_id = entity_id
           union all select from subscription where operation = 'createSubscription' and subscription_id = entity_id
           union all select from withdrawal where operation = 'createWithdrawal' and withdrawal_id = entity_id
           union all select from wallet_transfer where operation = 'createTransfer' and transfer_id = entity_id)`,
      ),
    );
    expect(rows).toEqual([]);
  });

  test('leaves no token and no key in the log, and no error', () => {
    const log = service.logged.join('');
    expect(log.length).toBeGreaterThan(requests);
    for (const caller of new Set(world.callers)) {
      const [, token = ''] = /^Bearer (.{10,})$/.exec(caller ?? '') ?? [];
      if (token !== '') expect(log).not.toContain(token);
    }
    for (const secret of secrets) expect(log).not.toContain(secret);
    // Some requests claim to come through a proxy.
    const expected = /"peer":"127\.0\.0\.1","msg":"forwarded header ignored/;
    const told = service.logged.filter((line) => /"level":"(warn|error)"/.test(line));
    expect(told.filter((line) => !expected.test(line))).toEqual([]);
  });

  test('leaves the service as fast and as correct as before', async () => {
    const { id } = await makeInvoiceThatIs('fulfilled', service, victim);
    const read = await service.call('GET', `${invoicesUrl}/${id}`, { token: victim.apiKey });
    expect(read.body).toMatchObject({ id, status: 'fulfilled' });
  });
});

describe(`members that no schema declares change no response and no row (HOSTILE_SEED=${seed})`, () => {
  let apart: PayoutWorld;
  let plain: StoryResult;
  beforeAll(async () => {
    apart = await startPayoutWorld();
    plain = await runStory(apart, document, asItIs);
  });
  afterAll(() => apart.close());

  /** A refusal may name a member that resembles an added one. */
  const withoutHint = (answer: string) => answer.replace(/,"hint":"Did you mean [^"]*"/, '');

  // A test each, so that no limit of time is for all of them together.
  test.each(Array.from({ length: requests / 1_000 }, (_, round) => round))('in round %i', async (round) => {
    const [members] = fc.sample(strangers, { seed: seed + round, numRuns: 1 });
    const result = await runStory(apart, document, adding(document, members ?? {}));
    expect(result.answers.map(withoutHint), JSON.stringify(members)).toEqual(plain.answers);
    expect(result.rows, JSON.stringify(members)).toEqual(plain.rows);
  });
});

describe('the same fuzz run detects', () => {
  const right = (answer: Received) => answer;
  const broken: Record<string, (answer: Received) => Received> = {
    'an endpoint that sometimes fails': (answer) => ({ ...answer, status: 500, text: '' }),
    "an endpoint that shows another's invoice": (answer) => ({
      ...answer,
      text: answer.text.replace('"id"', '"product":"MARKED-PRODUCT","id"'),
    }),
    'an endpoint that returns an undocumented member': (answer) => ({
      ...answer,
      text: answer.text.replace('"id"', '"partyId":"x","id"'),
    }),
  };

  test.each(Object.entries(broken))('%s', async (_, spoil) => {
    let sent = 0;
    const sendBroken = async (request: StormRequest) => {
      const answer = await send(request);
      const isChosen = answer.status === 200 && answer.text.includes('"id"') && ++sent % 20 === 0;
      return (isChosen ? spoil : right)(answer);
    };
    const { failure } = await run({ send: sendBroken, requests: 2_000, seed: 1, smallest: false });
    expect(failure).toMatch(/HOSTILE_SEED=1: \w+: /);
  });
});

test('in the end the bank’s report, the payments and the ledger agree', async () => {
  expect(await payments.differences()).toEqual([]);
});
