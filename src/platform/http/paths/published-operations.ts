// Every operation of the published API, by area: those that this service has, and those that it answers with 501 and a reason.
// The 501 routes and docs/guide/requests/operations.md are made of it.
import type { UnimplementedOperation } from './unimplemented.ts';

type Call = `${UnimplementedOperation['method']} /${string}`;
type Area = {
  readonly title: string;
  readonly works?: readonly Call[];
  readonly missing?: readonly { readonly reason: string; readonly calls: readonly Call[] }[];
};

const invoice = '/v2/processing/invoices/{invoiceID}';
const payment = `${invoice}/payments/{paymentID}` as const;
const customer = '/v2/processing/customers/{customerID}';
const template = '/v2/processing/invoice-templates/{invoiceTemplateID}';
const shop = '/v2/processing/shops/{shopID}';
const search = '/v2/analytics/shops/{shopID}';
const contract = '/v2/processing/contracts/{contractID}';
const institution = '/v2/processing/payment-institutions/{paymentInstitutionID}';
const reports = '/v2/shops/{shopID}/reports';
const reportsOfParty = '/v2/parties/{partyID}/shops/{shopID}/reports';
const identity = '/wallet/v0/identities/{identityID}';
const challenge = `${identity}/challenges/{challengeID}` as const;
const identityClass = '/wallet/v0/providers/{providerID}/identity-classes/{identityClassID}';

export const publishedOperations: readonly Area[] = [
  {
    title: 'Invoices',
    works: [
      'POST /v2/processing/invoices',
      'GET /v2/processing/invoices',
      `GET ${invoice}`,
      `POST ${invoice}/fulfill`,
      `POST ${invoice}/rescind`,
      `POST ${invoice}/access-tokens`,
      `GET ${invoice}/events`,
      `GET ${invoice}/payment-methods`,
    ],
  },
  {
    title: 'Invoice templates',
    works: [
      'POST /v2/processing/invoice-templates',
      `GET ${template}`,
      `PUT ${template}`,
      `DELETE ${template}`,
      `POST ${template}/invoices`,
      `GET ${template}/payment-methods`,
    ],
  },
  {
    title: 'Payments and refunds',
    works: [
      'POST /v2/processing/payment-resources',
      `POST ${invoice}/payments`,
      `GET ${invoice}/payments`,
      `GET ${payment}`,
      'GET /v2/processing/payments',
      `POST ${payment}/capture`,
      `POST ${payment}/cancel`,
      `POST ${payment}/refunds`,
      `GET ${payment}/refunds`,
      `GET ${payment}/refunds/{refundID}`,
      'GET /v2/processing/refunds',
      `GET ${payment}/chargebacks`,
      `GET ${payment}/chargebacks/{chargebackID}`,
    ],
  },
  {
    title: 'Customers',
    works: [
      'POST /v2/processing/customers',
      `GET ${customer}`,
      `DELETE ${customer}`,
      `POST ${customer}/access-tokens`,
      `POST ${customer}/bindings`,
      `GET ${customer}/bindings`,
      `GET ${customer}/bindings/{customerBindingID}`,
      `GET ${customer}/events`,
      `GET ${customer}/payment-methods`,
    ],
  },
  {
    title: 'Webhooks of payments',
    works: [
      'POST /v2/processing/webhooks',
      'GET /v2/processing/webhooks',
      'GET /v2/processing/webhooks/{webhookID}',
      'DELETE /v2/processing/webhooks/{webhookID}',
    ],
  },
  {
    title: 'Parties and shops',
    works: [
      'GET /v2/processing/me',
      'GET /v2/processing/shops',
      `GET ${shop}`,
      'GET /v2/processing/categories',
      'GET /v2/processing/categories/{categoryID}',
    ],
    missing: [
      {
        reason: 'Only the operator suspends and activates a party or a shop',
        calls: [
          'PUT /v2/processing/me/suspend',
          'PUT /v2/processing/me/activate',
          `PUT ${shop}/suspend`,
          `PUT ${shop}/activate`,
        ],
      },
      {
        reason: 'The balance of each shop is at /v2/analytics/balances/current-shop-balances.',
        calls: ['GET /v2/processing/accounts/{accountID}'],
      },
      {
        reason: 'Parties and shops are not changed by claims. Ask the operator for the change.',
        calls: [
          'POST /v2/processing/claims',
          'GET /v2/processing/claims',
          'GET /v2/processing/claims/{claimID}',
          'PUT /v2/processing/claims/{claimID}/revoke',
          'PUT /v2/processing/claims/{claimID}/update',
        ],
      },
    ],
  },
  {
    title: 'Contracts, banks and settlement',
    missing: [
      {
        reason: 'Contracts are not kept here. Ask the operator for the terms of a shop.',
        calls: [
          'GET /v2/processing/contracts',
          `GET ${contract}`,
          `GET ${contract}/adjustments`,
          `GET ${contract}/adjustments/{adjustmentID}`,
        ],
      },
      {
        reason: 'Your acquirer settles with you, not this service. Payouts to cards are under /wallet/v0.',
        calls: [
          `GET ${contract}/payout_tools`,
          `GET ${contract}/payout_tools/{payoutToolID}`,
          'POST /v2/processing/payouts',
          'GET /v2/processing/payouts/{payoutID}',
          `GET ${search}/payouts`,
          'GET /v2/processing/schedules/{scheduleID}',
        ],
      },
      {
        reason:
          'A shop has terminals at banks, which the operator adds. The payment methods of an invoice show what it takes.',
        calls: [
          'GET /v2/processing/payment-institutions',
          `GET ${institution}`,
          `GET ${institution}/terms/payments`,
          `GET ${institution}/terms/payouts/methods`,
          `GET ${institution}/terms/payouts/schedules`,
          'GET /v2/processing/service-providers/{serviceProviderID}',
        ],
      },
    ],
  },
  {
    title: 'Search, reports and reference lists',
    works: [
      `GET ${search}/invoices`,
      `GET ${search}/payments`,
      `GET ${search}/refunds`,
      'GET /v2/analytics/payments/amount',
      'GET /v2/analytics/payments/average',
      'GET /v2/analytics/payments/count',
      'GET /v2/analytics/payments/errors',
      'GET /v2/analytics/payments/sub-errors',
      'GET /v2/analytics/payments/split-amount',
      'GET /v2/analytics/payments/split-count',
      'GET /v2/analytics/payments-tool',
      'GET /v2/analytics/refunds/amount',
      'GET /v2/analytics/balances/current',
      'GET /v2/analytics/balances/current-shop-balances',
    ],
    missing: [
      {
        reason: 'Sums and shares are under /v2/analytics/payments.',
        calls: [
          `GET ${search}/payments/stats/conversion`,
          `GET ${search}/payments/stats/geo`,
          `GET ${search}/payments/stats/revenue`,
          `GET ${search}/customers/stats/payment_method`,
          `GET ${search}/customers/stats/rate`,
        ],
      },
      {
        reason: 'Reports are not made here. Search the invoices, payments and refunds of the shop.',
        calls: ([reports, reportsOfParty] as const).flatMap((path): Call[] => [
          `POST ${path}`,
          `GET ${path}`,
          `GET ${path}/{reportID}`,
          `GET ${path}/{reportID}/files/{fileID}/download`,
        ]),
      },
      {
        reason: 'Countries and places are not listed here. Country codes are those of ISO 3166-1 alpha-3.',
        calls: [
          'GET /v2/processing/countries',
          'GET /v2/processing/countries/{countryID}',
          'GET /v2/processing/tradeblocs',
          'GET /v2/processing/tradeblocs/{tradeBlocID}',
          'GET /v2/reference/geo/location/names',
        ],
      },
    ],
  },
  {
    title: 'Identities',
    works: [
      'POST /wallet/v0/identities',
      'GET /wallet/v0/identities',
      `GET ${identity}`,
      `POST ${identity}/challenges`,
      `GET ${identity}/challenges`,
      `GET ${challenge}`,
      'GET /wallet/v0/providers',
      'GET /wallet/v0/providers/{providerID}',
      'GET /wallet/v0/providers/{providerID}/identity-classes',
      `GET ${identityClass}`,
      'GET /wallet/v0/residences/{residence}',
      'GET /wallet/v0/currencies/{currencyID}',
    ],
    missing: [
      {
        reason: 'Levels are not listed. An identity shows its own.',
        calls: [`GET ${identityClass}/levels`, `GET ${identityClass}/levels/{identityLevelID}`],
      },
      {
        reason: 'An identification has no events. Read its status.',
        calls: [`GET ${challenge}/events`, `GET ${challenge}/events/{eventID}`],
      },
      {
        reason: 'Reports are not made here. List the withdrawals of the identity.',
        calls: [
          `POST ${identity}/reports`,
          `GET ${identity}/reports`,
          `GET ${identity}/reports/{reportID}`,
          'POST /wallet/v0/files/{fileID}/download',
        ],
      },
      {
        reason: 'Withdrawals go to cards alone, so there are no methods to list',
        calls: [`GET ${identity}/withdrawal-methods`],
      },
    ],
  },
  {
    title: 'Wallets',
    works: [
      'POST /wallet/v0/wallets',
      'GET /wallet/v0/wallets',
      'GET /wallet/v0/wallets/{walletID}',
      'GET /wallet/v0/wallets/{walletID}/account',
      'GET /wallet/v0/external/wallets',
      'POST /wallet/v0/wallets/{walletID}/grants',
      'GET /wallet/v0/deposits',
      'POST /wallet/v0/w2w/transfers',
      'GET /wallet/v0/w2w/transfers/{w2wTransferID}',
      'POST /wallet/v0/webhooks',
      'GET /wallet/v0/webhooks',
      'GET /wallet/v0/webhooks/{webhookID}',
      'DELETE /wallet/v0/webhooks/{webhookID}',
    ],
    missing: [
      {
        reason: 'Reverted and adjusted deposits are not listed. The account of the wallet shows what it has.',
        calls: ['GET /wallet/v0/deposit-reverts', 'GET /wallet/v0/deposit-adjustments'],
      },
    ],
  },
  {
    title: 'Payouts to cards',
    works: [
      'POST /payres/v0/bank-cards',
      'GET /payres/v0/bank-cards/{token}',
      'POST /wallet/v0/destinations',
      'GET /wallet/v0/destinations',
      'GET /wallet/v0/destinations/{destinationID}',
      'GET /wallet/v0/external-ids/destinations/{externalID}',
      'POST /wallet/v0/destinations/{destinationID}/grants',
      'POST /wallet/v0/withdrawals',
      'GET /wallet/v0/withdrawals',
      'GET /wallet/v0/withdrawals/{withdrawalID}',
      'GET /wallet/v0/external-ids/withdrawals/{externalID}',
      'GET /wallet/v0/withdrawals/{withdrawalID}/events',
      'GET /wallet/v0/withdrawals/{withdrawalID}/events/{eventID}',
      'POST /wallet/v0/withdrawal-quotes',
    ],
  },
];

export const unimplementedOperations: readonly UnimplementedOperation[] = publishedOperations
  .flatMap(({ missing = [] }) => missing)
  .flatMap(({ reason, calls }) => calls.map((call) => ({ ...partsOf(call), reason })));

function partsOf(call: Call): Pick<UnimplementedOperation, 'method' | 'path'> {
  const [method, path] = call.split(' ') as [UnimplementedOperation['method'], string];
  return { method, path };
}
