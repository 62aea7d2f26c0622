// What people see in a browser: payers' pages, the console of merchants and operators, and the guides.
import { addExportDownload } from '../../search/exports/download-route.ts';
import { brandIn } from '../../checkout/brand.ts';
import { addCheckoutRoutes } from '../../checkout/checkout-routes.ts';
import { addConsentLinkRoutes } from '../../checkout/consent-link-routes.ts';
import { payersOnward } from '../../checkout/payer-onward.ts';
import { addRevocationRoutes } from '../../checkout/revocation-routes.ts';
import { addSubscriptionRoutes } from '../../checkout/subscription-routes.ts';
import { addConsoleRoutes } from '../../console/console-routes.ts';
import { addBindingReturn } from '../../customers/binding-return-page.ts';
import { customers } from '../../customers/port.ts';
import { loadCustomerOfPayer } from '../../customers/store/customers.ts';
import { loadInvoice } from '../../invoices/store/invoices.ts';
import { loadTemplate } from '../../invoices/store/templates.ts';
import { findBranding } from '../../merchants/store/branding.ts';
import { addPaymentReturn } from '../../payments/payment-return-page.ts';
import { addPages } from '../../platform/http/pages/pages.ts';
import type { PipelineDeps } from '../../platform/http/request-pipeline.ts';
import type { buildServer } from '../../platform/http/server.ts';
import type { AppContext, PrepareContext } from '../app-context.ts';
import { consoleEndpoints, operatorViews } from '../console-views.ts';
import type { Opened } from './opened.ts';
import { failuresPerMinute, requestsOfPages, searchTurnsOf } from './rates.ts';

type App = ReturnType<typeof buildServer>;
type Shop = { readonly partyId: string; readonly shopId: string };

export function addPagesOfService(
  app: App,
  opened: Opened,
  pipeline: PipelineDeps<AppContext, PrepareContext>,
): void {
  addPayersReturn(app, opened);
  addPayerPages(app, opened, pipeline.endpointDeps);
  addConsole(app, opened, pipeline);
  addExportFiles(app, opened);
  addPages(app, opened.foundation.config.mode);
}

function addExportFiles(app: App, { foundation, modules }: Opened): void {
  const { database: db, keyring: keys, log } = foundation;
  addExportDownload(app, { db, keys, links: modules.exports.links, log });
}

/** Where a bank sends the browser after a challenge. */
function addPayersReturn(app: App, { foundation, modules, work, publicUrl }: Opened): void {
  const { config, ports, database: db } = foundation;
  const { banks, waits, merchants } = modules;
  const sendOn = payersOnward({ mode: config.mode, merchants, publicUrl });
  const returns = { db, clock: ports.clock, jobs: work.jobs, banks, waits, sendOn };
  addPaymentReturn(app, returns);
  addBindingReturn(app, returns);
}

function addPayerPages(
  app: App,
  { foundation, modules }: Opened,
  { consentLinks, payerPages, publicUrl }: AppContext,
): void {
  const { config, ports, log, database } = foundation;
  const { lookups } = database;
  const { merchants, consents, linkSecrets } = modules;
  const { mode, bindingVerificationCharges: verificationChargeMinor } = config;
  const invoiceOf = (id: string) => loadInvoice(lookups, id);
  const brandOf = async (shop: Shop) =>
    brandIn(await findBranding(lookups, shop), (await consents.settings(lookups, shop)).contact);
  const shown = { ...modules, mode, verificationChargeMinor, log, brandOf };
  addRevocationRoutes(app, {
    db: database,
    log,
    consents,
    linkSecrets,
    customers,
    merchants,
    brandOf,
    invoiceOf,
  });
  addCheckoutRoutes(app, {
    ...shown,
    publicUrl,
    invoiceOf,
    templateOf: (id) => loadTemplate(lookups, id),
    customerOf: (id) => loadCustomerOfPayer(lookups, id),
    termsOf: async (shop) => (await consents.settings(lookups, shop)).terms,
  });
  addSubscriptionRoutes(app, { ...shown, payerPages, consentLinks, publicUrl });
  addConsentLinkRoutes(app, { ...shown, clock: ports.clock, consentLinks, publicUrl });
}

function addConsole(
  app: App,
  { foundation, modules, work }: Opened,
  pipeline: PipelineDeps<AppContext, PrepareContext>,
): void {
  const { config, ports, database } = foundation;
  const { merchants, livemode } = modules;
  const invoiceOf = (id: string) => loadInvoice(database.lookups, id);
  // People who look wait for each other, and not for the searches of the merchant's server.
  const searchTurns = searchTurnsOf(config, 10);
  const pipelineIn = (language: 'en' | 'ru') => ({
    ...pipeline,
    endpointDeps: { ...pipeline.endpointDeps, searchTurns, language },
  });
  addConsoleRoutes(app, {
    sessions: modules.consoleSessions,
    pipelines: { en: pipelineIn('en'), ru: pipelineIn('ru') },
    endpoints: consoleEndpoints,
    operatorViews: operatorViews({ database, clock: ports.clock, jobs: work.jobs }),
    merchants,
    isOfMode: async (partyId, ids) => {
      const { shopID, invoiceID } = ids as Record<string, string | undefined>;
      const shopId = shopID ?? (invoiceID === undefined ? undefined : (await invoiceOf(invoiceID))?.shopId);
      const shop = (await merchants.shops(partyId)).find(({ id }) => id === shopId);
      return shop === undefined || shop.livemode === livemode;
    },
    requests: requestsOfPages(config),
    failures: failuresPerMinute(config),
  });
}
