// The states of the checkout in the order in which a payer reaches them. One walk pays an invoice, the other saves a card.
import type { Page } from 'playwright-core';
import type { CheckoutWorld } from '../../support/worlds/checkout-world.ts';
import type { CreatedInvoice } from '../../support/worlds/invoices.ts';
import { obstacles, type Looks } from './obstacles.ts';

type Steps = Record<string, () => Promise<unknown>>;

const frictionless = '4242424242424242';
const challenged = '4012888888881881';
const declined = '4000000000000002';

/** Returns what `obstacles` finds, by state. */
export async function walkThroughPayment(
  world: CheckoutWorld,
  locale: string,
  looks: Looks,
): Promise<Record<string, string[]>> {
  const invoice = await world.invoice();
  const wishes = { locale, requireCardHolder: 'true', recurring: 'true', name: 'Bean & Leaf' };
  const page = await world.open(world.link(await world.invoice(), wishes));
  const { seen } = actionsOn(page);
  const found = await walk(page, looks, {
    form: () => seen('#form'),
    'form with problems': () => page.locator('#pay').click(),
    ...paymentSteps(page, world.link(invoice, { locale, paymentFlowHold: 'true' })),
    ...(await linkSteps(world, page, invoice, locale)),
  });
  // This window has no token of it, like one of the bank's own.
  const { id } = await world.invoice();
  const address = `${world.address}/checkout?invoiceID=${id}&returned=true&locale=${locale}`;
  return {
    ...found,
    ...(await walk(page, looks, {
      'back from the bank in a window of its own': async () => {
        await page.goto(address);
        await seen('#heard');
      },
    })),
  };
}

/** From a declined card to the receipt. */
function paymentSteps(page: Page, link: string): Steps {
  const { seen, payBy, bank } = actionsOn(page);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  return {
    declined: async () => {
      await page.goto(link);
      await payBy(declined);
      await seen('#message.shown');
    },
    waiting: async () => {
      await page.route('**/payments', (route) => answered.then(() => route.continue()));
      await payBy(challenged);
      await seen('#waiting');
    },
    challenge: async () => {
      answer();
      await bank().locator('[name=otp]').waitFor();
    },
    offline: async () => {
      await page.context().setOffline(true);
      await seen('#message.shown');
    },
    left: async () => {
      await page.context().setOffline(false);
      await page.locator('#leave').click();
      await seen('#left');
    },
    done: async () => {
      await page.locator('#resume').click();
      await bank().locator('[name=otp]').fill('1234');
      await bank().locator('[value=confirm]').click();
      await seen('#done');
    },
  };
}

/** Links that lead to no form. */
async function linkSteps(
  world: CheckoutWorld,
  page: Page,
  invoice: CreatedInvoice,
  locale: string,
): Promise<Steps> {
  const { seen } = actionsOn(page);
  const cancelled = await world.invoice();
  await world.service.call('POST', `/v2/processing/invoices/${cancelled.id}/rescind`, {
    token: world.merchant.apiKey,
    body: { reason: 'sold out' },
  });
  return {
    'loading, without an answer': async () => {
      await page.route('**/events*', () => new Promise(() => {}));
      const address = `${world.address}/checkout?invoiceID=${invoice.id}&locale=${locale}`;
      await page.goto(`${address}#invoiceAccessToken=${invoice.token}`);
      await seen('#loading');
    },
    cancelled: async () => {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.goto(world.link(cancelled, { locale }));
      await seen('#cancelled');
    },
    expired: async () => {
      await page.goto(`${world.address}/checkout?invoiceID=nothing&locale=${locale}`);
      await seen('#dead');
    },
  };
}

/** Returns what `obstacles` finds, by state. */
export async function walkThroughBinding(
  world: CheckoutWorld,
  locale: string,
  looks: Looks,
): Promise<Record<string, string[]>> {
  const page = await world.open(
    world.linkToBind(await world.customer(), { locale, recurringSchedule: 'P1M' }),
  );
  const { seen, payBy, bank } = actionsOn(page);
  return walk(page, looks, {
    'form with problems': () => page.locator('#pay').click(),
    declined: async () => {
      await page.locator('#consent').check();
      await payBy(declined);
      await seen('#message.shown');
    },
    left: async () => {
      await payBy(challenged);
      await page.locator('#leave').click();
      await seen('#left');
    },
    done: async () => {
      await page.locator('#resume').click();
      await bank().locator('[name=otp]').fill('1234');
      await bank().locator('[value=confirm]').click();
      await seen('#done');
    },
  });
}

async function walk(page: Page, looks: Looks, steps: Steps): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [state, step] of Object.entries(steps)) {
    await step();
    const inTheWay = await obstacles(page, looks);
    if (inTheWay.length > 0) found[state] = inTheWay;
  }
  return found;
}

/** What a payer does on the page. */
export function actionsOn(page: Page) {
  return {
    seen: (selector: string) => page.locator(selector).waitFor(),
    bank: () => page.frameLocator('iframe.challenge'),
    async payBy(card = frictionless): Promise<void> {
      await page.locator('#number').fill(card);
      await page.locator('#expiry').fill('12/30');
      await page.locator('#code').fill('123');
      await page.locator('#pay').click();
    },
  };
}
