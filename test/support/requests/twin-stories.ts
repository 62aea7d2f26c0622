// One story of a merchant over every operation. For two merchants, with members added to the requests of one, all
// responses and rows must be the same except for IDs and secrets.
import type { PayoutWorld } from '../worlds/payout-world.ts';
import type { Answer } from '../service/test-service.ts';
import { card } from '../worlds/payout-world.ts';
import { cardBody } from '../worlds/cards.ts';
import { order, rangePrice, singleLine, templatesUrl } from '../worlds/invoices.ts';
import { insufficientFunds } from '../worlds/recurring.ts';
import { exportsUrl } from './exports.ts';
import { nowhere } from '../receivers/webhooks.ts';
import { withMembers } from './internal-names.ts';
import { operationFinder, schemaOf, type Document, type Operation } from './openapi.ts';

/** Changes a request on its way: the body and the query of an operation. */
export type Spoil = (operation: Operation, body: unknown, url: string) => { body: unknown; url: string };

export const asItIs: Spoil = (_, body, url) => ({ body, url });

/** Adds members to every object of a body, and parameters of the same names to the query. */
export function adding(document: Document, strangers: Readonly<Record<string, unknown>>): Spoil {
  // No parameter ends with a full stop.
  const parameters = Object.keys(strangers)
    .map((name) => `${encodeURIComponent(name)}.=1`)
    .join('&');
  return ({ requestBody }, body, url) => {
    const schema = schemaOf(requestBody);
    return {
      body: schema && withMembers(body, schema, document, strangers),
      url: `${url}${url.includes('?') ? '&' : '?'}${parameters}`,
    };
  };
}

export type StoryResult = {
  /** The operations that were called. */
  readonly operations: ReadonlySet<string>;
  /** Each response in order, as text without IDs and secrets. */
  readonly answers: readonly string[];
  /** Every row of the merchant, likewise. */
  readonly rows: readonly string[];
};

/** The same for every story. */
const startsAt = Date.UTC(2026, 1, 1);
const contactInfo = { email: 'payer@example.com', phoneNumber: '+79990000000', firstName: 'Ada' };
const consent = { ticked: true, tickedAt: '2026-01-19T10:00:00Z', text: 'I agree', version: '1' };
const amountRule = { kind: 'variable', text: 'by the meter' };
const recurrentTerms = { schedule: 'P1M', validUntil: '2040-12-31', amountRule, consent };
const cart = [
  { product: 'One', quantity: 2, price: 1_000, taxMode: { type: 'InvoiceLineTaxVAT', rate: '20%' } },
  { product: 'Other', price: 4_000 },
];
const later = '2030-01-01T00:00:00Z';
const asset = { amount: 1_000, currency: 'RUB' };
const metadata = { note: { partyId: 'mine', amountMinor: -1 } };

export async function runStory(world: PayoutWorld, document: Document, spoil: Spoil): Promise<StoryResult> {
  const { service } = world;
  service.clock.set(startsAt);
  const { partyId, apiKey } = await world.createMerchant();
  // The world's merchants share their first terminal, and faults are ordered at one's own alone.
  const own = { id: 'OWN', merchantId: partyId, descriptor: 'STORY', bankId: 'BANK', priority: 2 };
  await service.banks.putTerminal({ ...own, partyId, shopId: 'TEST' });
  const find = operationFinder(document);
  const operations = new Set<string>();
  const answers: string[] = [];
  const secrets = new Set([partyId]);

  async function send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    sent?: unknown,
  ): Promise<Answer> {
    const operation = find(method, url);
    if (typeof operation === 'string')
      throw new Error(`The story calls ${method} ${url}, which does not exist`);
    operations.add(operation.operationId);
    // Lists are in the order of creation.
    service.clock.advance(1);
    const spoiled = spoil(operation, sent, url);
    const body = schemaOf(operation.requestBody) ? { body: spoiled.body } : {};
    const answer = await service.call(method, spoiled.url, { token: apiKey, ...body });
    await service.jobs.whenIdle();
    collectSecrets(answer.body, secrets);
    answers.push(`${operation.operationId} ${answer.status} ${answer.text}`);
    return answer;
  }
  const post = (url: string, body: unknown = {}) => send('POST', url, body);
  const put = (url: string, body: unknown) => send('PUT', url, body);
  const made = new Map<string, number>();
  /** Creates it twice: the repeat has to find what the first request created. */
  async function create(url: string, body: Record<string, unknown>): Promise<any> {
    const kind = url.replace(/.*\//, '');
    const number = (made.get(kind) ?? 0) + 1;
    made.set(kind, number);
    const named = { ...body, externalID: `story-${number}` };
    const first = await post(url, named);
    const repeat = await post(url, named);
    if (first.status >= 300 || idOf(first.body) !== idOf(repeat.body)) {
      throw new Error(`A repeat of POST ${url} got ${repeat.status} ${repeat.text} after ${first.text}`);
    }
    return first.body;
  }

  const processing = '/v2/processing';
  const invoice = async (more: object = {}): Promise<string> =>
    (
      await create(`${processing}/invoices`, {
        ...order,
        description: 'Two things',
        cart,
        bankAccount: {
          accountType: 'InvoiceRussianBankAccount',
          account: '12345678901234567890',
          bankBik: '123456789',
        },
        clientInfo: { trustLevel: 'wellKnown' },
        metadata,
        ...more,
      })
    ).invoice.id;
  const cardOf = async () => {
    const { paymentToolToken, paymentSession } = await create(`${processing}/payment-resources`, cardBody());
    return { paymentToolToken, paymentSession };
  };
  const pay = async (invoiceId: string, more: object = {}) =>
    create(`${processing}/invoices/${invoiceId}/payments`, {
      payer: {
        payerType: 'PaymentResourcePayer',
        ...(await cardOf()),
        contactInfo,
        sessionInfo: { redirectUrl: 'https://shop.example/back' },
      },
      metadata,
      ...more,
    });
  const flow = { type: 'PaymentFlowHold', onHoldExpiration: 'cancel' };
  const reason = { reason: 'for the story' };

  // Payments, refunds and charges.
  const sold = await invoice();
  const soldUrl = `${processing}/invoices/${sold}`;
  await pay(sold, { makeRecurrent: true, recurrentTerms, flow: { type: 'PaymentFlowInstant' } });
  const refund = await create(`${soldUrl}/payments/1/refunds`, { ...asset, ...reason, cart: undefined });
  const shipped = await invoice();
  await pay(shipped, { flow });
  await post(`${processing}/invoices/${shipped}/payments/1/capture`, {
    ...reason,
    amount: 2_000,
    currency: 'RUB',
    cart: [cart[0]],
  });
  const released = await invoice({ cart: undefined });
  await pay(released, { flow });
  await post(`${processing}/invoices/${released}/payments/1/cancel`, reason);
  await post(`${processing}/invoices/${released}/rescind`, reason);
  await post(`${soldUrl}/fulfill`, reason);
  const { seriesID } = (await send('GET', `${soldUrl}/payments/1/recurring`)).body;
  const newTerms = { schedule: 'P1M', amountRule: { kind: 'upTo', amount: 9_900 } };
  const consentLink = await create(`${processing}/consent-links`, { seriesID, terms: newTerms });
  const recurrentParentPayment = { invoiceID: sold, paymentID: '1' };
  const parentPayer = { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo };
  await pay(await invoice(), { payer: parentPayer });

  // Templates.
  const { invoiceTemplate } = await create(templatesUrl, {
    shopID: 'TEST',
    name: 'Tickets',
    description: 'Two things',
    lifetime: { days: 1, months: 2, years: 3 },
    details: { templateType: 'InvoiceTemplateMultiLine', cart, currency: 'RUB' },
    metadata,
  });
  const details = { ...singleLine(rangePrice), taxMode: cart[0]?.taxMode };
  await send('PUT', `${templatesUrl}/${invoiceTemplate.id}`, { name: 'Others', details });
  await create(`${templatesUrl}/${invoiceTemplate.id}/invoices`, { ...asset, metadata });

  // Customers.
  const { customer } = await create(`${processing}/customers`, { shopID: 'TEST', contactInfo, metadata });
  const customerUrl = `${processing}/customers/${customer.id}`;
  const binding = await create(`${customerUrl}/bindings`, {
    paymentResource: await cardOf(),
    sessionInfo: { redirectUrl: 'https://shop.example/back' },
    recurrentTerms,
  });
  const customerPayer = { payerType: 'CustomerPayer', customerID: customer.id, sessionInfo: {} };
  await pay(await invoice(), { payer: customerPayer });
  const charged = { ...order, description: 'Two things', cart, metadata, externalID: 'story-charge' };
  const charge = { invoice: charged, payment: { payer: customerPayer, flow, metadata } };
  for (const _ of ['first', 'repeat']) await post(`${processing}/charges`, charge);

  // Subscriptions.
  const subscription = await create(`${processing}/subscriptions`, {
    customerID: customer.id,
    items: [{ product: 'Tea', price: 1_000, quantity: 1, taxMode: cart[0]?.taxMode }],
    every: 'P1M',
    timeZone: 'UTC',
    anchorDay: 15,
    trialDays: 7,
    periods: 3,
    metadata,
  });
  const subscriptionUrl = `${processing}/subscriptions/${subscription.id}`;
  await post(`${subscriptionUrl}/links`);
  await send('PATCH', subscriptionUrl, { detailsVersion: 1, metadata, catchUp: 'all' });
  await post(`${subscriptionUrl}/cancel`, { when: 'periodEnd', by: 'payer' });
  await post(`${subscriptionUrl}/pause`, { resumesAt: '2027-01-01T00:00:00Z', openPeriods: 'keepTrying' });
  const change = {
    items: [{ product: 'Two teas', price: 1_500 }],
    when: 'nextPeriod',
    credit: 'none',
    timeZone: 'Europe/Moscow',
  };
  await post(`${subscriptionUrl}/preview`, change);
  await post(`${subscriptionUrl}/change`, change);
  await post(`${subscriptionUrl}/unchange`, undefined);
  const policyUrl = `${processing}/shops/TEST/dunning-policies`;
  const gentle = { tries: [2, 5], windowDays: 9, byClass: { funds: { onDays: [1, 15] } }, emailDays: [0] };
  const trial = { policy: 'gentle', percent: 50 };
  await put(`${policyUrl}/gentle`, gentle);
  await put(`${policyUrl}/both`, { ...gentle, at: { from: '07:00', until: '08:00' }, trial });
  await put(`${subscriptionUrl}/dunning-policy`, { policy: 'gentle' });
  // The bank declines this price.
  const unpaid = await create(`${processing}/subscriptions`, {
    customerID: customer.id,
    items: [{ product: 'Coffee', price: insufficientFunds }],
    every: 'P1M',
    timeZone: 'UTC',
  });
  const basis = { items: [{ product: 'Tea', price: 1_000 }], every: 'P1M', timeZone: 'UTC' };
  const continuesWith = { number: 8, startsOn: '2027-01-15' };
  await create(`${processing}/subscriptions`, {
    ...basis,
    customerID: customer.id,
    continuesWith,
    endsOn: '2028-01-15',
  });
  await create(`${processing}/subscriptions`, {
    ...basis,
    shopID: 'TEST',
    firstAmount: 100,
    uniqueKey: 'tea',
  });
  const periodUrl = `${processing}/subscriptions/${unpaid.id}/periods/1`;
  await post(`${periodUrl}/charge`, { afterDays: 3 });
  await post(`${periodUrl}/close`, { as: 'forgiven' });

  // Payouts.
  const person = { provider: 'test', class: 'person', name: 'Ada', metadata };
  const { id: identity } = await create('/wallet/v0/identities', person);
  const proofs = [{ type: 'RUSDomesticPassport', token: 'any' }];
  const challenge = await post(`/wallet/v0/identities/${identity}/challenges`, { type: 'esia', proofs });
  const holding = { name: 'Own', identity, currency: 'RUB', metadata };
  const { id: wallet } = await create('/wallet/v0/wallets', holding);
  const { id: receiver } = await create('/wallet/v0/wallets', holding);
  await post('/wallet/v0/test/deposits', { wallet, body: asset });
  const transfer = await create('/wallet/v0/w2w/transfers', { sender: wallet, receiver, body: asset });
  const { token } = (await post('/payres/v0/bank-cards', card('4242424242424242'))).body;
  const resource = { type: 'BankCardDestinationResource', token };
  const { id: destination } = await create('/wallet/v0/destinations', { ...holding, resource });
  await post(`/wallet/v0/wallets/${wallet}/grants`, { asset, validUntil: later });
  await post(`/wallet/v0/destinations/${destination}/grants`, { validUntil: later });
  const withdrawal = await create('/wallet/v0/withdrawals', { wallet, destination, body: asset, metadata });
  const cash = { cash: asset, currencyFrom: 'RUB', currencyTo: 'USD', walletID: wallet };
  await post('/wallet/v0/withdrawal-quotes', cash);

  // Webhooks.
  const scope = { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['InvoicePaid'] };
  const webhookID = (await post(`${processing}/webhooks`, { scope, url: nowhere })).body.id;
  await post(`${processing}/webhooks/${webhookID}/resume`, { objectID: sold });
  await post(`${processing}/webhooks/${webhookID}/replay`, { since: later, until: later });
  await post(`${processing}/webhooks/${webhookID}/rotate-keys`, { afterHours: 24 });
  const ofIdentity = { topic: 'WithdrawalsTopic', walletID: wallet, eventTypes: ['WithdrawalFailed'] };
  const walletWebhook = { identityID: identity, scope: ofIdentity, url: nowhere };
  const walletWebhookID = (await post('/wallet/v0/webhooks', walletWebhook)).body.id;

  // Whatever can be read, and what has no body.
  const ids: Record<string, string> = {
    invoiceID: sold,
    paymentID: '1',
    refundID: refund.id,
    chargebackID: '1',
    customerID: customer.id,
    customerBindingID: binding.id,
    identityID: identity,
    challengeID: challenge.body.id,
    walletID: wallet,
    destinationID: destination,
    withdrawalID: withdrawal.id,
    w2wTransferID: transfer.id,
    consentLinkID: consentLink.id,
    subscriptionID: subscription.id,
    invoiceTemplateID: invoiceTemplate.id,
    externalID: 'story-1',
    token,
    eventID: '1',
    limit: '10',
    shopID: 'TEST',
    policyName: 'gentle',
    categoryID: '1',
    providerID: 'test',
    identityClassID: 'person',
    residence: 'RUS',
    currencyID: 'RUB',
    fromTime: new Date(startsAt).toISOString(),
    toTime: new Date(startsAt + 24 * 3_600_000).toISOString(),
    splitUnit: 'day',
    by: 'policy',
  };
  await world.service.search.whenIdle();
  const { fromTime, toTime } = ids;
  await send('GET', `/v2/analytics/series?limit=10&fromTime=${fromTime}&toTime=${toTime}`);
  const of = 'payments';
  ids['exportID'] = (await post(exportsUrl, { of, shopID: 'TEST', fromTime, toTime })).body.id;
  await cancelOne(world, partyId, (id) => post(`${exportsUrl}/${id}/cancel`));
  // What is deleted comes last, and what is inside it before it.
  const inOrder = { get: 1, post: 2, delete: 3 };
  const others = Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    .filter(({ operation }) => !operations.has(operation.operationId) && !operation.requestBody)
    .sort(
      (one, other) =>
        inOrder[one.method as 'get'] - inOrder[other.method as 'get'] || other.path.length - one.path.length,
    );
  for (const { path, method, operation } of others) {
    const webhook = path.startsWith('/wallet/') ? walletWebhookID : webhookID;
    const valueOf = (name: string) => (name === 'webhookID' ? webhook : (ids[name] ?? `no ${name}`));
    const query = (operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'query')
      .filter(({ name, required }) => required || name === 'limit' || name === 'externalID')
      .map(({ name }) => `${name}=${encodeURIComponent(valueOf(name))}`);
    const url = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(valueOf(name)));
    await send(method.toUpperCase() as 'GET', query.length === 0 ? url : `${url}?${query.join('&')}`);
  }
  await post(`${soldUrl}/payments/1/recurring/withdraw`, reason);
  await post('/sandbox/limits/reset');
  await post('/sandbox/faults', { kind: 'decline', code: '51', card: '0000' });
  await post('/sandbox/clock', { now: '2026-02-01T00:01:00Z' });

  const without = (text: string) => withoutSecrets(text, secrets);
  return {
    operations,
    answers: answers.map(without),
    rows: (await rowsOf(world, partyId)).map(without).sort(),
  };
}

/** An export that no job takes, so that it can be cancelled. */
async function cancelOne(
  { service }: PayoutWorld,
  partyId: string,
  cancel: (id: string) => Promise<unknown>,
): Promise<void> {
  const id = service.ports.ids.next();
  const at = '2026-02-01T00:00:00.000000Z';
  const terms = { of: 'withdrawals', from: at, to: at, filters: {}, timeZone: 'UTC', delimiter: ',' };
  await service.testDatabase.database.withClient((client) =>
    client.query(
      `insert into export (party_id, export_id, slot, terms, made_by, created_at) values ($1, $2, 3, $3, 'story', $4)`,
      [partyId, id, JSON.stringify({ ...terms, hasByteOrderMark: false }), at],
    ),
  );
  await cancel(id);
}

function idOf(body: any): unknown {
  return (
    body?.id ?? body?.invoice?.id ?? body?.invoiceTemplate?.id ?? body?.customer?.id ?? body?.paymentToolToken
  );
}

/** IDs of all kinds, what is random or follows from an ID, and the bank's numbers. */
const secretName =
  /^(id|(?!external)\w+ID|token|payload|authData|signingSecret|\w*(Token|Session|[kK]ey)|rrn|reference|approvalCode|nextActionAt|dueAt|chargeAt)$/;

function collectSecrets(value: unknown, secrets: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    // A short one, such as payment 1, is the same for both.
    if (typeof member === 'string' && secretName.test(name) && member.length > 5)
      secrets.add(JSON.stringify(member).slice(1, -1));
    else collectSecrets(member, secrets);
  }
}

function withoutSecrets(text: string, secrets: ReadonlySet<string>): string {
  let rest = text;
  for (const secret of secrets) rest = rest.replaceAll(secret, '#');
  // Identifiers, keys and hashes, some of which no response shows. A long token may have no digit by chance.
  return (
    rest
      .replace(/(\/exports\/[^/"]+\/)[^"]+/g, '$1#')
      .replace(/[\w+/=-]{14,}/g, (word) => (/\d/.test(word) || word.length >= 40 ? '#' : word))
      .replace(/"(durationMs|reference|approvalCode|made_by|bytes|byte_count)":("[^"]*"|\d+)/g, '"$1":"#"')
      .replace(/^(subscription .*"wake_at":)"[^"]*"/, '$1"#"')
      .replace(/"chargeAt":"[^"]*"/g, '"chargeAt":"#"')
      .replace(/"(SIM\.|ds-)\d+"/g, '"$1#"')
      // In the words of a timeline.
      .replace(/\b(reference|approval code) \d+/g, '$1 #')
  );
}

/** Every row with the party's ID, without encrypted and hashed columns and transaction numbers. */
async function rowsOf({ service }: PayoutWorld, partyId: string): Promise<string[]> {
  return service.database.withClient(async (client) => {
    const { rows: tables } = await client.query<{ name: string; columns: string }>(
      `select table_name as name, string_agg(quote_ident(column_name), ', ' order by ordinal_position) as columns
       from information_schema.columns
       where table_schema = current_schema() and data_type not in ('bytea', 'xid8') and column_default is distinct from 'now()' and table_name in (
           select table_name from information_schema.columns
           where table_schema = current_schema() and column_name = 'party_id') and table_name <> 'api_key'
       group by table_name`,
    );
    const all: string[] = [];
    for (const { name, columns } of tables) {
      const { rows } = await client.query<{ row: string }>(
        `select row_to_json(one)::text as row from (select ${columns} from ${name} where party_id = $1) as one`,
        [partyId],
      );
      all.push(...rows.map(({ row }) => `${name} ${row}`));
    }
    return all;
  });
}
