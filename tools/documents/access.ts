// docs/guide/access.md: which token may call which operation.
import { routes, sandboxRoutes } from '../../src/app/routes.ts';
import { scopes, scopesOf } from '../../src/platform/http/access.ts';
import { errorCatalogue } from '../../src/platform/http/errors/error-codes.ts';
import { printedFrom, table } from './markdown.ts';

export function accessText(): string {
  const rows = [...routes, ...sandboxRoutes].map((endpoint) => {
    const { tokens: kinds = [], entity, anyEntity, maskedAs } = endpoint.access;
    const tokens = kinds
      .map((kind) => (anyEntity ? `of any ${kind}` : `of the ${kind} in \`{${entity}}\``))
      .join(', ');
    const otherwise = maskedAs ? `${errorCatalogue[maskedAs].status} \`${maskedAs}\`` : '401';
    const call = `\`${endpoint.method} ${endpoint.path}\``;
    return [
      `\`${endpoint.operation}\``,
      call,
      [
        scopesOf(endpoint.access)
          .map((scope) => `\`${scope}\``)
          .join(' and '),
        ...(endpoint.extraScopes ?? []).map(({ scope, when }) => `${when} also \`${scope}\``),
      ].join(', '),
      tokens || 'none',
      otherwise,
    ];
  });
  const sandboxOnly = sandboxRoutes
    .filter(({ path }) => !path.startsWith('/sandbox/'))
    .map(({ method, path }) => `\`${method} ${path}\``);
  return `# Access

${printedFrom('the `access` of each endpoint')}

There are two kinds of bearer tokens:

- An **API key** belongs to a party and is for its servers only. It has all scopes, unless it was created with a list
  (\`mandate keys create --scopes\`).
- An **access token** can be given to a browser. It is issued for one object, such as an invoice, and can do only what the table allows.

The scopes are ${scopes.map((scope) => `\`${scope}\``).join(', ')}.

## Operations

${table(['Operation', 'Call', 'Scope of an API key', 'Access token', 'Other access tokens get'], rows)}

Operations under \`/v2/processing\` also exist under \`/v1/processing\`, with the same access. Operations under \`/sandbox\` exist only in the
sandbox, as well as ${sandboxOnly.join(' and ')}.

## Refused tokens

A token that is missing, malformed, expired or revoked gets 401. An API key without a scope it needs gets 401 too. The header
\`WWW-Authenticate\` [says which](errors.md#401). The last column is the
response to an access token that is not allowed to call the operation, or not for this object. It is a 404 where any other status would
show that the object exists. Objects of another party are always not found.

## Limit what an invoice's token can charge

An invoice's access token can make any payment of its invoice, including a [recurring charge](recurring.md). A caller who has the token and
knows the ID of a first payment or of a customer of that shop can charge that card. The checkout does not need this.

If your servers charge with an API key, forbid it for the shop:

    mandate shop recurring <shopID> --party <partyID> --needs-api-key yes

A recurring charge with an access token then gets 400 \`operationNotPermitted\`, unless a present payer has [the customer's token](payer/saved-card.md).
`;
}
