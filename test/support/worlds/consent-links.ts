// A consent link as a merchant asks for it and a payer follows it, without a browser.
import type { PaymentWorld } from './payment-world.ts';
import type { Answer } from '../service/test-service.ts';

export const consentLinksUrl = '/v2/processing/consent-links';

export const dearer = { schedule: 'P1M', amountRule: { kind: 'fixed', amount: 59_900 } };

export type MadeLink = { readonly id: string; readonly path: string };

export function consentLinkWorld({ service, merchant, decideAtIssuer }: PaymentWorld) {
  const token = merchant.apiKey;
  const read = async ({ id }: Pick<MadeLink, 'id'>) =>
    (await service.call('GET', `${consentLinksUrl}/${id}`, { token })).body;
  const page = ({ path }: MadeLink): Promise<Answer> => service.call('GET', path, {});
  const factsOn = ({ text }: Answer) =>
    JSON.parse(/<script type="application\/json" id="facts">(.*)<\/script>/.exec(text)?.[1] ?? '{}');

  async function submit(
    link: MadeLink,
    more: Record<string, unknown> = {},
    browser = 'A browser/1.0',
  ): Promise<Answer> {
    const { textHash, locale } = factsOn(await page(link));
    const body = {
      ticked: true,
      tickedAt: '2026-01-01T10:00:00Z',
      textHash,
      locale,
      fingerprint: 'a browser',
      ...more,
    };
    return service.call('POST', link.path, { body, headers: { 'user-agent': browser } });
  }

  const create = (seriesID: string, more: Record<string, unknown> = {}, by = token): Promise<Answer> =>
    service.call('POST', consentLinksUrl, { token: by, body: { seriesID, terms: dearer, ...more } });

  return {
    create,
    async made(seriesID: string, more: Record<string, unknown> = {}): Promise<MadeLink> {
      const { status, body, text } = await create(seriesID, more);
      if (status !== 201) throw new Error(`the link was not created: ${text}`);
      return { id: body.id, path: new URL(body.url).pathname };
    },
    read,
    page,
    factsOn,
    submit,
    cancel: ({ id }: MadeLink): Promise<Answer> =>
      service.call('POST', `${consentLinksUrl}/${id}/cancel`, { token }),
    state: async ({ path }: MadeLink) => (await service.call('GET', `${path}/state`, {})).body,
    /** Ticks, and waits until the bank has finished or asks for the payer. */
    async agree(link: MadeLink, browser?: string): Promise<Answer> {
      const answer = await submit(link, {}, browser);
      await service.jobs.whenIdle();
      return answer;
    },
    async confirm(link: MadeLink, decision: 'confirm' | 'refuse' = 'confirm'): Promise<void> {
      const { binding } = await read(link);
      const { customerID, customerBindingID } = binding;
      const events = `/v2/processing/customers/${customerID}/events?limit=1000`;
      const changes = (await service.call('GET', events, { token })).body.flatMap(
        (event: any) => event.changes,
      );
      const asked = changes.findLast(
        (change: any) =>
          change.changeType === 'CustomerBindingInteractionRequested' &&
          change.customerBindingID === customerBindingID,
      );
      await decideAtIssuer(asked.userInteraction.request, decision);
      await service.call('GET', `/payer/return/customers/${customerID}/${customerBindingID}`, {});
      await service.jobs.whenIdle();
    },
  };
}
