// Every text that an operation of the console can answer is hostile here, by its schema. The page shows each as text, and stays whole.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { BankAnswers } from '../../../src/acquiring/bank-answers.ts';
import { consoleEndpoints } from '../../../src/app/console-views.ts';
import type { FailingJob, StuckJob } from '../../../src/platform/jobs/failed-jobs.ts';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { filledBody } from '../../support/requests/filled-bodies.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';
import { follow } from './follow.ts';

const desktop = { width: 1_280, height: 800 };
const phone = { width: 360, height: 740 };
/** Wider than any window. */
const longWord = 'W'.repeat(1_000);
const labelOf = (path: string) => `[${path}]`;
const hostile = (path: string) =>
  `${labelOf(path)}<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>\u202e\u0007${longWord}`;
const at = '2026-01-19T10:00:00.000000Z';

const paths = [
  '/today?days=7&until=2026-01-19',
  '/payments',
  '/payments/invoice/1',
  '/payouts',
  '/payouts/payout',
  '/webhooks',
  '/webhooks/webhook',
  '/series',
  '/series/invoice/1',
  '/jobs',
  '/banks',
];
const answered = {
  at: at as BankAnswers['hours'][number]['at'],
  operations: 4,
  unanswered: 1,
  open: 0,
  answered: 3,
};
const part = { ...answered, halfWithinMs: 250, mostWithinMs: 1_000 };
const answersOfBanks: readonly BankAnswers[] = [
  { bankId: hostile('answers.bankId'), hours: [part, part], days: [part] },
];
/** Each branch of a union, and each of the first fixed words, is met in one of them. */
const variants = [0, 1, 2];

describeInBrowser('a text of others', () => {
  let world: CheckoutWorld;
  let banks: readonly object[];
  beforeAll(async () => {
    world = await startCheckoutWorld();
    banks = await bankRows(world);
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  /** The bodies of what the page asks for, by path. */
  function answersOf(variant: number): readonly (readonly [RegExp, unknown])[] {
    const party = { id: hostile('session.party.id'), name: hostile('session.party.name') };
    const job = (kind: string) => ({
      kind,
      id: hostile(`${kind}.id`),
      partyId: hostile(`${kind}.partyId`),
      reason: hostile(`${kind}.reason`),
    });
    const kind = ['payment', 'withdrawal', 'delivery'][variant] ?? '';
    const stuck: StuckJob[] = [{ ...job(kind), since: at as StuckJob['since'] }];
    const failing: FailingJob[] = [
      { ...job(`failing ${kind}`), attempts: 3, nextTryAt: at as FailingJob['nextTryAt'] },
    ];
    return [
      [/^\/session$/, { mode: 'test', isOperator: true, endsAt: at, party }],
      [/^\/operator\/stuck-jobs$/, stuck],
      [/^\/operator\/failing-jobs$/, failing],
      [/^\/operator\/bank-answers$/, answersOfBanks],
      [/^\/operator\/banks$/, banks.map((bank) => taintedBank(bank, variant))],
      ...consoleEndpoints.map(({ path, response, operation }) => {
        const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
        const body = filledBody(response, { text: hostile, variant, path: operation });
        return [pattern, readable(operation, body)] as const;
      }),
    ];
  }

  async function open(variant: number): Promise<Page> {
    const answers = answersOf(variant);
    const page = await world.openAlone('about:blank', { viewport: phone });
    await page.route('**/console/api/**', (route) => {
      const asked = new URL(route.request().url()).pathname.replace(/^.*\/console\/api/, '');
      const found = answers.find(([pattern]) => pattern.test(asked));
      return route.fulfill(
        found ? { json: found[1] } : { status: 404, json: { code: `no answer: ${asked}` } },
      );
    });
    return page;
  }

  const seen = new Set<string>();
  test.each(variants)('is text in every page, and breaks none, %i', async (variant) => {
    const page = await open(variant);
    await page.goto(`${world.address}/console`);
    for (const path of paths) {
      await follow(page, path);
      await page.locator('h1').waitFor();
      await expect.poll(() => page.getByText('Loading…').count()).toBe(0);
      for (const summary of await page.locator('summary').all()) await summary.click();
      for (const size of [desktop, phone]) {
        await page.setViewportSize(size);
        const shown = await page.locator('body').innerText();
        for (const [, label = ''] of shown.matchAll(/\[([a-zA-Z. ]+)\]/g)) seen.add(label);
        const facts = await page.evaluate<Record<string, number>>(`({
        images: document.images.length,
        scripts: document.scripts.length,
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        wide: [...document.querySelectorAll('main *')].filter((one) =>
          one.checkVisibility() && !one.closest('.off-screen, svg, .scrolled, select') && one.getBoundingClientRect().right > innerWidth + 1).length,
      })`);
        expect({ path, ...size, ...facts }).toEqual({
          path,
          ...size,
          images: 0,
          scripts: 1,
          overflow: 0,
          wide: 0,
        });
        expect(await page.title()).not.toBe('taken');
        expect(shown).not.toMatch(/\p{Cf}|could not answer|not answer/u);
        expect(shown).toContain('\\u{7}');
      }
    }
  });

  test('stands where the page shows it: the others are shown nowhere', () => {
    expect([...seen].toSorted()).toMatchInlineSnapshot(`
      [
        "answers.bankId",
        "bank.awayBecause",
        "bank.bankId",
        "bank.checkProblem",
        "bank.stoppedBecause",
        "bank.url",
        "delivery.id",
        "delivery.partyId",
        "delivery.reason",
        "failing delivery.id",
        "failing delivery.partyId",
        "failing delivery.reason",
        "failing payment.id",
        "failing payment.partyId",
        "failing payment.reason",
        "failing withdrawal.id",
        "failing withdrawal.partyId",
        "failing withdrawal.reason",
        "getInvoice.product",
        "getInvoice.shopID",
        "getPayment.externalID",
        "getPayment.payer.contactInfo.email",
        "getPayment.payer.customerID",
        "getPayment.payer.paymentToolDetails.lastDigits",
        "getPayment.payer.paymentToolDetails.paymentSystem",
        "getPayment.transactionInfo.approvalCode",
        "getPayment.transactionInfo.rrn",
        "getPaymentTimeline.code",
        "getPaymentTimeline.id",
        "getPaymentTimeline.text",
        "getPaymentsDeclines.result.code",
        "getPaymentsDeclines.result.declineClass",
        "getRecurring.card.lastDigits",
        "getRecurring.card.paymentSystem",
        "getRecurring.refusal.code",
        "getRecurring.rootPayment.invoiceID",
        "getRecurring.rootPayment.paymentID",
        "getRecurring.seriesID",
        "getRecurringTimeline.code",
        "getRecurringTimeline.id",
        "getRecurringTimeline.text",
        "getWithdrawal.destination",
        "getWithdrawal.externalID",
        "getWithdrawal.wallet",
        "getWithdrawalTimeline.code",
        "getWithdrawalTimeline.id",
        "getWithdrawalTimeline.text",
        "listRefunds.reason",
        "listRefunds.rrn",
        "listShops.details.name",
        "listWebhookAttempts.eventType",
        "listWebhookAttempts.failure",
        "listWebhookAttempts.objectID",
        "listWebhookQueues.lastFailure",
        "listWebhookQueues.objectID",
        "listWebhooks.scope.eventTypes",
        "listWebhooks.url",
        "listWithdrawals.result.destination",
        "listWithdrawals.result.id",
        "payment.id",
        "payment.partyId",
        "payment.reason",
        "searchPayments.result.id",
        "searchPayments.result.invoiceID",
        "searchPayments.result.payer.contactInfo.email",
        "searchPayments.result.payer.customerID",
        "searchPayments.result.payer.paymentToolDetails.lastDigits",
        "searchPayments.result.payer.paymentToolDetails.paymentSystem",
        "session.party.name",
        "withdrawal.id",
        "withdrawal.partyId",
        "withdrawal.reason",
      ]
    `);
  });
});

/** What a page computes with stays as it is: a zone, and the currencies that a shop has. */
function readable(operation: string, body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (name, value: unknown) => {
    if (name === 'timeZone') return 'Europe/Moscow';
    if (name === 'currency') return 'RUB';
    if (value === 'live') return 'test';
    if (operation.includes('Split') && name === 'offset') return Date.parse('2026-01-19T00:00:00Z');
    return value;
  });
}

async function bankRows({ service, merchant }: CheckoutWorld): Promise<readonly object[]> {
  const own = { 'sec-fetch-site': 'same-origin' };
  const viewer = { kind: 'operator', partyId: merchant.partyId } as const;
  const { credential } = await service.consoleSessions.makeLink(viewer, 'ada@desk');
  const entered = await service.call('POST', '/console/api/session', {
    body: { link: credential },
    headers: own,
  });
  const cookie = String(entered.headers['set-cookie']).split(';')[0] ?? '';
  const { status, body } = await service.call('GET', '/console/api/operator/banks', {
    headers: { ...own, cookie },
  });
  expect([status, body.length > 0]).toEqual([200, true]);
  return body;
}

/** Times and numbers stay. What is absent may be there. */
function taintedBank(bank: object, variant: number): object {
  return Object.fromEntries(
    Object.entries(bank).map(([name, value]) => {
      // One that is stopped says nothing else.
      if (variant > 0 && name.startsWith('stopped')) return [name, null];
      if (/(At|Since|Until)$/.test(name)) return [name, at];
      return [name, typeof value === 'string' || value === null ? hostile(`bank.${name}`) : value];
    }),
  );
}
