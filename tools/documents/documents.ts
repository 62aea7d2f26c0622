// The documents that are printed from the code, so that they cannot say anything else: errors, settings, access.
import { format, resolveConfig } from 'prettier';
import { settings, type Setting } from '../../src/app/config.ts';
import { scopes } from '../../src/platform/http/access.ts';
import { takesIdempotencyKey, type AnyEndpoint } from '../../src/platform/http/endpoint.ts';
import { refusalsOf } from '../../src/platform/http/openapi.ts';
import { errorCatalogue, type ErrorCode } from '../../src/platform/http/errors/error-codes.ts';
import {
  deadlineReached,
  failureOfDecline as chargeFailure,
  payerError,
} from '../../src/payments/domain/payment-failure.ts';
import { routes, sandboxRoutes } from '../../src/app/routes.ts';
import { insufficientFunds } from '../../src/wallets/domain/failure-path.ts';
import { failureOfDecline as payoutFailure, noRoute } from '../../src/payouts/domain/payout-failure.ts';
import { capturedPartMinor, cardResultRows, heldMinor, refundedPartMinor } from './card-results.ts';

const endpoints = [...routes, ...sandboxRoutes];
const cardNetworks = ['visa', 'mastercard'];
/** Of refunds and bindings. */
const ofTheService = [['timeout'], ['customer_deleted']] as const;

/** Every printed document by its path in the repository. */
export async function documents(): Promise<Map<string, string>> {
  const texts = {
    'docs/guide/errors.md': errorsText(),
    'docs/guide/access.md': accessText(),
    'docs/operations/configuration.md': configurationText(),
    'docs/test-cards-results.md': cardResultsText(),
  };
  const style = await resolveConfig(import.meta.filename);
  const formatted = Object.entries(texts).map(
    async ([path, text]) => [path, await format(text, { ...style, parser: 'markdown' })] as const,
  );
  return new Map(await Promise.all(formatted));
}

function errorsText(): string {
  const statuses = [...new Set(Object.values(errorCatalogue).map(({ status }) => status))].sort(
    (a, b) => a - b,
  );
  return `# Errors

${printedFrom('src/platform/http/errors/error-codes.ts')}

When the service says no, the status tells what kind of no it is, and the body says it to people in \`message\`. Where the
status is 400 or 422 the body also has a \`code\`: switch on that, never on the sentence, which may be improved or say more
in one case than in another.

| Status   | Body                        | What to do                                                                     |
| -------- | --------------------------- | ------------------------------------------------------------------------------ |
| 400, 422 | \`code\`, \`message\`           | Correct the request; as it is it will not be accepted, or not before \`retryAfter\`. |
| 401      | empty                       | Send a token that is good for this operation: see [access](access.md).         |
| 404      | \`message\`                   | There is nothing of that name that this token may see.                         |
| 405, 415 | empty                       | Use one of the methods in \`Allow\`; send the body as \`application/json\`.        |
| 409      | \`externalID\`, \`id\`, \`message\` | Decide which of the two requests you meant; \`id\` was made by the first. \`challengeUnderWay\` has \`message\` alone. |
| 413      | \`message\`                   | Send less.                                                                     |
| 429      | \`message\`                   | Wait for the seconds in \`Retry-After\`, then repeat the request as it is, with the same \`Idempotency-Key\`. \`webhookLimitExceeded\` has none: delete a webhook first. |
| 501      | \`message\`                   | It is not offered.                                                             |
| 500, 504 | empty                       | Nobody knows whether it was done. Repeat it with the same \`externalID\` or \`Idempotency-Key\`. |
| 503      | empty                       | Certainly nothing was done. Repeat it after the seconds in \`Retry-After\`.      |

The wallets' side (\`/wallet/v0\` and \`/payres/v0\`) has manners of its own: a 400 has \`errorType\` and \`description\` beside the
\`code\`, and where the request does not fit the schema \`name\` (the parameter, the header, or the schema of the body); a 404 has no
body, unless there is no such address at all; and a 422 about a limit says in \`retryAfter\` when there is room again.

Where a body has \`retryAfter\`, the moment from which on the answer may be another, the header \`Retry-After\` says the same in seconds.

${statuses.map(errorsOfStatus).join('\n\n')}

## Failures

What was accepted may fail later. A payment and a refund then have an \`error\`, a destination and a payout a \`failure\`: its \`code\`, and
inside, as \`subError\`, what was the matter. In the \`error\` of a binding the inner codes are the \`message\`. A payer's access token is told one word
alone. Take a code that is not in the list like the one around it: there may be more.

${failuresTable()}
`;
}

function failuresTable(): string {
  const charges = everyDecline((code) => cardNetworks.map((network) => chargeFailure({ network, code })));
  const payouts = everyDecline((code) => [payoutFailure({ code })]);
  const ofCharges = new Map(
    [...charges, deadlineReached, ...ofTheService].map((path) => [path.join(' › '), path]),
  );
  const ofPayouts = new Set([...payouts, insufficientFunds, noRoute].map((path) => path.join(' › ')));
  const rows = [...new Set([...ofCharges.keys(), ...ofPayouts])].sort().map((name) => {
    const path = ofCharges.get(name);
    return [`\`${name}\``, path ? `\`${payerError(path).code}\`` : '', ofPayouts.has(name) ? 'yes' : ''];
  });
  return table(
    ['Code, from the outside in', 'Of a payment, refund or binding; the payer is told', 'Of a payout'],
    rows,
  );
}

/** What becomes of every code a bank may give. */
function everyDecline<Failure>(failuresOf: (code: string) => readonly Failure[]): Failure[] {
  const codes = Array.from({ length: 36 ** 2 }, (_, number) =>
    number.toString(36).toUpperCase().padStart(2, '0'),
  );
  return ['3ds-failed', '3ds-not-finished', '3ds-unavailable', ...codes].flatMap(failuresOf);
}

function errorsOfStatus(status: number): string {
  const codes = codesOfCatalogue().filter((code) => errorCatalogue[code].status === status);
  return `## ${status}\n\n${codes.map(errorText).join('\n\n')}`;
}

function errorText(code: ErrorCode): string {
  const { message, advice } = errorCatalogue[code];
  return `### \`${code}\`\n\n“${message}”. ${advice}\n\nFrom ${answeredBy(code)}.`;
}

/** A refusal many share is said to be of all that share it, where they have a word in common. */
function answeredBy(code: ErrorCode): string {
  const users = endpoints.filter((endpoint) => refusalsOf(endpoint).includes(code));
  const writes = endpoints.filter(({ method }) => method !== 'GET');
  const groups: [string, readonly AnyEndpoint[]][] = [
    ['every operation', endpoints],
    ['every `POST`, `PUT` and `DELETE`', writes],
    ['every operation that takes an `Idempotency-Key`', endpoints.filter(takesIdempotencyKey)],
  ];
  const group = groups.find(
    ([, members]) =>
      members.length === users.length &&
      members.every((member: AnyEndpoint) => users.some((user) => user === member)),
  );
  return group?.[0] ?? users.map(({ operation }) => `\`${operation}\``).join(', ');
}

function accessText(): string {
  const rows = endpoints.map((endpoint) => {
    const { scope, tokens: kinds = [], entity, anyEntity, maskedAs } = endpoint.access;
    const tokens = kinds
      .map((kind) => (anyEntity ? `that of any ${kind}` : `that of the ${kind} in \`{${entity}}\``))
      .join(', ');
    const otherwise = maskedAs ? `${errorCatalogue[maskedAs].status} \`${maskedAs}\`` : '401';
    const call = `\`${endpoint.method} ${endpoint.path}\``;
    return [`\`${endpoint.operation}\``, call, `\`${scope}\``, tokens || 'none', otherwise];
  });
  const sandboxAlone = sandboxRoutes
    .filter(({ path }) => !path.startsWith('/sandbox/'))
    .map(({ method, path }) => `\`${method} ${path}\``);
  return `# Who may call what

${printedFrom('the `access` of each endpoint')}

There are two kinds of bearer tokens. An **API key** belongs to a party and is for its servers alone; it may do what its
scopes allow, and it has them all unless it was made with a list (\`mandate keys create --scopes\`). An **access token** may be
given to a browser: it was issued for one entity, and may do to that entity what the table says, and nothing else.

A token that is missing, unreadable or no longer good gets 401, and so does an API key without the scope. What an access
token gets that may not do this, or not to this entity, is in the last column: a “not found” where any other answer would
tell what exists. What belongs to another party is not found, whoever asks.

The scopes are ${scopes.map((scope) => `\`${scope}\``).join(', ')}.

${table(['Operation', 'Call', 'Scope of an API key', 'Access token', 'Any other gets'], rows)}

An invoice's token may make any payment of its invoice, also one [without the payer](recurring.md): who holds it, and knows the id of
a consent's payment or of a customer of that shop, charges that card. Merchants whose servers charge with it need this; in a browser
nothing does, the checkout included. If your servers charge with an API key, forbid it with
\`mandate shop recurring TEST --party P --needs-api-key yes\`: such a payment by token then gets 400 \`operationNotPermitted\`.

Operations under \`/v2/processing\` answer under \`/v1/processing\` to the same tokens. Those under \`/sandbox\` and
${sandboxAlone.join(', ')} exist in the sandbox alone.
`;
}

function configurationText(): string {
  const rows = settings.map((setting: Setting) => [
    `\`${setting.name}\``,
    setting.byDefault,
    [
      setting.meaning,
      ...(setting.range ? [`From ${setting.range[0]} to ${setting.range[1]}.`] : []),
      ...(setting.secret ? ['Secret: `mandate config` does not show it.'] : []),
    ].join(' '),
  ]);
  return `# Configuration

${printedFrom('src/app/config.ts')}

Every setting comes from the environment. An empty one counts as not set. The program checks them all before it does anything
else and names every fault at once; \`mandate config\` shows what is in force.

${table(['Setting', 'By default', 'Meaning'], rows)}
`;
}

function cardResultsText(): string {
  const [headings = [], ...rows] = cardResultRows();
  return `# What becomes of each test card

${printedFrom('tools/documents/card-results.ts')}

Every card of [the simulated bank](simulated-bank.md) in both flows, with an invoice of ${heldMinor} and every way to go on. A test
does all of it over the API of a \`mandate serve\`, with a \`mandate bank\` of its own and the payer at the issuer's page, and
compares: the payment, the invoice, the error, and the bank's book.

A cell is the status of the payment and what the bank has of it in the end. _refused_: the merchant's wish was answered
\`invalidPaymentStatus\` and changed nothing. _capture part_ captures ${capturedPartMinor}, _refund part_ gives ${refundedPartMinor} back; a hold is captured in full
before it is refunded. The invoice is \`paid\` where the payment is \`captured\` or \`refunded\`, else \`unpaid\`.

${table(headings, rows)}
`;
}

function printedFrom(source: string): string {
  return `<!-- Printed from ${source} by \`npm run docs\`; a test compares. Change it there. -->`;
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, headings.map(() => '---'), ...rows];
  return lines
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

function codesOfCatalogue(): ErrorCode[] {
  return Object.keys(errorCatalogue) as ErrorCode[];
}
