// Serves the page on which a payer ends recurring charges, opened by the link on each receipt.
import type { FastifyInstance } from 'fastify';
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Invoice } from '../invoices/domain/invoice.ts';
import type { Merchants } from '../merchants/merchants.ts';
import type { Database } from '../platform/database/database.ts';
import type { LinkSecrets } from '../platform/keys/link-secrets.ts';
import type { Logger } from '../platform/log.ts';
import type { ConsentFollowers, Consents } from '../recurring/port.ts';
import { revokePath } from '../recurring/domain/revoke-link.ts';
import type { Series } from '../recurring/domain/series.ts';
import {
  noLinkParts,
  revocationParts,
  seriesStatusOf,
  type SeriesShown,
} from './domain/revocation/revocation-page.ts';
import type { Brand } from './domain/page-parts.ts';
import { addPlainPage } from './plain-page.ts';

export type RevocationPorts = {
  readonly db: Database;
  readonly log: Pick<Logger, 'error'>;
  readonly consents: Consents;
  readonly linkSecrets: LinkSecrets;
  readonly customers: ConsentFollowers;
  readonly merchants: Pick<Merchants, 'party' | 'shop' | 'timeOf'>;
  readonly brandOf: (shop: { readonly partyId: string; readonly shopId: string }) => Promise<Brand>;
  readonly invoiceOf: (id: string) => Promise<Invoice | undefined>;
};

export function addRevocationRoutes(app: FastifyInstance, ports: RevocationPorts): void {
  const { db, log, consents, linkSecrets } = ports;
  addPlainPage<Series>(app, log, {
    path: revokePath,
    view: 'revoke',
    shows: 'withdrawPage',
    acts: 'withdrawByPayer',
    style: 'checkout',
    async find({ id, secret }) {
      if (!(await linkSecrets.isSecret('withdraw', id, secret))) return undefined;
      return (await consents.find(db, id))?.series;
    },
    async partsOf(series, { kept }, locale) {
      if (!series) return noLinkParts(locale);
      const shown = await shownOf(series, ports);
      return {
        ...revocationParts(kept === 'true' ? 'kept' : 'question', shown, locale),
        brand: shown.brand,
      };
    },
    async act(series) {
      await revoke(series, ports);
      return undefined;
    },
  });
}

async function revoke(series: Series, { db, consents, customers, merchants }: RevocationPorts) {
  const now = await timeOf(series, merchants);
  await db.transaction(async (tx) => {
    await consents.revoke(tx, series.id, { by: 'payer' }, now);
    await customers.onConsentRevoked(tx, series, consents, now);
  });
}

async function timeOf(series: Series, merchants: RevocationPorts['merchants']): Promise<Instant> {
  const party = await merchants.party(series.partyId);
  if (!party) throw new Error(`The party of series ${series.id} was not found.`);
  return merchants.timeOf(party);
}

async function shownOf(
  series: Series,
  { merchants, invoiceOf, brandOf, log }: RevocationPorts,
): Promise<SeriesShown> {
  const { partyId, shopId, root, card, mandate } = series;
  const shop = await merchants.shop(partyId, shopId);
  if (!shop) throw new Error(`The shop of series ${series.id} was not found.`);
  // The payer can end the charges without these.
  const ifReadable = <Part>(part: Promise<Part>) =>
    part.catch((error: unknown) => void log.error({ err: error }, 'part of a page not read'));
  const invoice = 'invoiceId' in root ? await ifReadable(invoiceOf(root.invoiceId)) : undefined;
  return {
    shop: shop.name,
    isTest: !shop.livemode,
    brand: (await ifReadable(brandOf({ partyId, shopId }))) ?? {},
    status: seriesStatusOf(series, await timeOf(series, merchants)),
    card,
    terms: mandate,
    currency: mandate.payment.currency,
    ...defined({ product: invoice?.product }),
  };
}
