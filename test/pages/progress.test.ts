// Which status and view the checkout derives from events, of an invoice and of a binding.
import { describe, expect, test } from 'vitest';
import {
  after,
  bindingToFollow,
  nothingYet,
  ofBinding,
  type FeedEvent,
  type Loaded,
  type Progress,
} from '../../pages/checkout/progress.ts';
import { viewOf, type Doing } from '../../pages/checkout/view-of.ts';

const at = '2026-01-19T10:00:00.000000Z';
let nextId = 0;
const event = (...changes: FeedEvent['changes'][number][]): FeedEvent => ({
  id: ++nextId,
  createdAt: at,
  changes,
});
const read = (...events: FeedEvent[]): Progress => after(nothingYet, events);

const created = () => event({ changeType: 'InvoiceCreated', invoice: { amount: 6000, product: 'Order 1' } });
const started = (id = '1', flow = 'PaymentFlowInstant') =>
  event({
    changeType: 'PaymentStarted',
    payment: {
      id,
      amount: 6000,
      makeRecurrent: false,
      flow: { type: flow },
      payer: { paymentToolDetails: { lastDigits: '4242', paymentSystem: 'visa' } },
    },
  });
const asked = (
  id = '1',
  request: object = { requestType: 'BrowserGetRequest', uriTemplate: 'https://bank/' },
) =>
  event({
    changeType: 'PaymentInteractionRequested',
    paymentID: id,
    userInteraction: { interactionType: 'Redirect', request },
  });
const status = (state: string, id = '1', error?: object) => ({
  changeType: 'PaymentStatusChanged',
  paymentID: id,
  status: state,
  ...(error ? { error } : {}),
});
const invoiceIs = (state: string) => ({ changeType: 'InvoiceStatusChanged', status: state });
const failed = (id = '1') => event(status('failed', id, { code: 'InsufficientFunds' }));

const idle: Doing = {
  isSending: false,
  begunHere: false,
  hasLeftChallenge: false,
  confirmedAttempt: undefined,
};
const here = { ...idle, begunHere: true };

describe('the view', () => {
  test.each<[string, Progress, Doing, object]>([
    ['of a new invoice', read(created()), idle, { view: 'form' }],
    ['while a card is on its way', read(created()), { ...idle, isSending: true }, { view: 'waiting' }],
    ['of a payment the bank is asked about', read(created(), started()), here, { view: 'waiting' }],
    ['of a challenge', read(created(), started(), asked()), here, { view: 'challenge' }],
    [
      'of a challenge that was put off',
      read(created(), started(), asked()),
      { ...here, hasLeftChallenge: true },
      { view: 'left' },
    ],
    [
      'back from a challenge',
      read(created(), started(), asked()),
      { ...here, confirmedAttempt: '1' },
      { view: 'waiting' },
    ],
    [
      'of a decline',
      read(created(), started(), failed()),
      here,
      { view: 'form', declined: 'InsufficientFunds' },
    ],
    ['of a decline of another day', read(created(), started(), failed()), idle, { view: 'form' }],
    [
      'of a second try',
      read(created(), started(), failed()),
      { ...here, isSending: true },
      { view: 'waiting' },
    ],
    [
      'of a second challenge, after the first failed',
      read(created(), started(), failed(), started('2'), asked('2')),
      { ...here, confirmedAttempt: '1' },
      { view: 'challenge' },
    ],
    [
      'of an instant payment between approval and capture',
      read(created(), started(), event(status('processed'))),
      here,
      { view: 'waiting' },
    ],
    [
      'of a hold',
      read(created(), started('1', 'PaymentFlowHold'), event(status('processed'))),
      here,
      { view: 'done', ending: 'held' },
    ],
    [
      'of a hold that was given back',
      read(
        created(),
        started('1', 'PaymentFlowHold'),
        event(status('processed')),
        event(status('cancelled')),
      ),
      here,
      { view: 'form' },
    ],
    [
      'of a payment made here',
      read(created(), started(), event(status('captured'), invoiceIs('paid'))),
      here,
      { view: 'done', ending: 'paid' },
    ],
    [
      'of an invoice paid before',
      read(created(), started(), event(status('captured'), invoiceIs('paid')), event(invoiceIs('fulfilled'))),
      idle,
      { view: 'done', ending: 'already' },
    ],
    ['of a cancelled invoice', read(created(), event(invoiceIs('cancelled'))), idle, { view: 'cancelled' }],
  ])('%s', (_, progress, doing, shown) => expect(viewOf('invoice', progress, doing)).toEqual(shown));
});

describe('the events', () => {
  test('of an unknown kind or of an earlier payment change nothing', () => {
    const known = read(created(), started(), started('2'));
    const later = after(known, [event({ changeType: 'Novelty' }), failed('1')]);
    expect(later).toEqual({ ...known, lastEventId: nextId });
  });

  test('give the same status in one batch or in several', () => {
    const events = [created(), started(), asked(), failed(), started('2'), event(status('captured', '2'))];
    const pageByPage = events.reduce((progress, one) => after(progress, [one]), nothingYet);
    expect(pageByPage).toEqual(read(...events));
  });

  test('bring the bank’s request with every field, its templates expanded to nothing', () => {
    const form = [
      { key: 'creq', template: 'abc=' },
      { key: 'TermUrl', template: 'https://pay/term{?termination_uri}' },
    ];
    const request = { requestType: 'BrowserPostRequest', uriTemplate: 'https://bank/acs{?x}', form };
    expect(read(created(), started(), asked('1', request)).attempt?.interaction).toEqual({
      url: 'https://bank/acs',
      form: [
        { name: 'creq', value: 'abc=' },
        { name: 'TermUrl', value: 'https://pay/term' },
      ],
    });
  });
});

describe('a binding', () => {
  const bindingOf = (id: string) =>
    event({
      changeType: 'CustomerBindingStarted',
      customerBinding: {
        id,
        status: 'pending',
        paymentResource: { paymentToolDetails: { lastDigits: '4242', paymentSystem: 'visa' } },
      },
    });
  const binding = bindingOf('1');
  const challenged = event({
    changeType: 'CustomerBindingInteractionRequested',
    customerBindingID: '1',
    userInteraction: {
      interactionType: 'Redirect',
      request: { requestType: 'BrowserGetRequest', uriTemplate: 'https://bank/' },
    },
  });
  const ended = (state: string, id = '1') =>
    event({
      changeType: 'CustomerBindingStatusChanged',
      customerBindingID: id,
      status: state,
      ...(state === 'failed' ? { error: { code: 'preauthorization_failed', message: 'no' } } : {}),
    });

  test.each<[string, Progress, Doing, object]>([
    ['that has not begun', nothingYet, idle, { view: 'form' }],
    ['in progress', read(binding), here, { view: 'waiting' }],
    ['that asks', read(binding, challenged), here, { view: 'challenge' }],
    ['that succeeded', read(binding, ended('succeeded')), here, { view: 'done', ending: 'bound' }],
    ['of an earlier card', read(binding, ended('succeeded')), idle, { view: 'form' }],
    [
      'that failed',
      read(binding, ended('failed')),
      here,
      { view: 'form', declined: 'preauthorization_failed' },
    ],
  ])('%s', (_, progress, doing, shown) =>
    expect(viewOf('customer', ofBinding(progress, '1'), doing)).toEqual(shown),
  );

  test('is not changed by another in progress, or by one that ended before', () => {
    const both = read(binding, challenged, bindingOf('2'), ended('succeeded', '2'));
    expect(viewOf('customer', ofBinding(both, '1'), here)).toEqual({ view: 'challenge' });
    expect(viewOf('customer', ofBinding(both, '2'), here)).toEqual({ view: 'done', ending: 'bound' });
  });

  const two = read(binding, bindingOf('2'));
  const over = after(two, [ended('failed'), ended('succeeded', '2')]);
  test.each<[string, Progress, string | undefined, Loaded, string | undefined]>([
    ['before any', nothingYet, undefined, 'opened', undefined],
    ['while two are in progress', two, undefined, 'opened', '2'],
    ['again, about the first', two, '1', 'opened', '1'],
    ['when all is over', over, undefined, 'opened', undefined],
    ['again, when its own has failed', over, '1', 'reloaded', undefined],
    ['again, when its own is saved', over, '2', 'reloaded', '2'],
    ['for another card, when its own is saved', over, '2', 'opened', undefined],
    ['back from the bank about the first', over, '1', 'returned', '1'],
    ['back from the bank, having forgotten about which', over, undefined, 'returned', '2'],
  ])('that is followed by a page opened %s', (_, progress, before, loaded, id) => {
    expect(bindingToFollow(progress, before, loaded)).toBe(id);
  });
});
