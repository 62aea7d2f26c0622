// docs/guide/errors.md: the error catalogue, and the failures of what was accepted.
import { routes, sandboxRoutes } from '../../src/app/routes.ts';
import {
  deadlineReached,
  failureOfDecline as chargeFailure,
  payerError,
} from '../../src/acquiring/authorisation/domain/payment-failure.ts';
import { failureOfDecline as payoutFailure, noRoute } from '../../src/payouts/domain/payout-failure.ts';
import { takesIdempotencyKey, type AnyEndpoint } from '../../src/platform/http/endpoint.ts';
import {
  errorCatalogue,
  errorsOutsideOperations,
  type ErrorCode,
} from '../../src/platform/http/errors/error-codes.ts';
import { refusalsOf } from '../../src/platform/http/openapi.ts';
import { failureAdvice, type FailureAdvice } from '../../src/timeline/domain/failure-advice.ts';
import { insufficientFunds } from '../../src/wallets/domain/failure-path.ts';
import { printedFrom, table } from './markdown.ts';

const endpoints = [...routes, ...sandboxRoutes];
const cardNetworks = ['visa', 'mastercard'];
const outsideOperations: Readonly<Record<(typeof errorsOutsideOperations)[number], string>> = {
  notImplemented: '[operations](requests/operations.md) that are published and not here',
  partyNotFound: 'paths that begin with `/v2/processing/parties/{partyID}`',
};
/** Failures no bank reports: a deadline of a binding, and a customer deleted meanwhile. */
const withoutDecline = [['timeout'], ['customer_deleted']] as const;

export function errorsText(): string {
  const coded = Object.values(errorCatalogue).map(({ status }) => status);
  const statuses = [...new Set([...coded, 401])].sort((a, b) => a - b);
  return `# Errors

${printedFrom('src/platform/http/errors/error-codes.ts')}

The HTTP status of an error says what to do. With 400, 422 and 501 the body also has a \`code\`.
Switch on \`code\`. Don't parse \`message\`: its text is for people and can change.

A body can also have a \`hint\`, which is for people too. It is about this case: the limit, the status and since when, or the name that you
probably meant. With an API key and a body of up to 32 KiB it lists up to five faults of the request at once. It never has a card number, a
secret, or data of another party.

${statusTable()}

Operations under \`/wallet/v0\` and \`/payres/v0\` differ in three ways:

- A 400 has \`errorType\` and \`description\` next to \`code\`. If the request does not match the schema, \`name\` is the parameter, the header or
  the schema of the body.
- A 404 has no body, unless the path does not exist.
- A 422 about a limit has \`retryAfter\`: the earliest time at which the limit allows it.

\`retryAfter\` is the earliest time at which the response can be different. The header \`Retry-After\` says the same in seconds.

${statuses.map((status) => (status === 401 ? unauthorizedText() : errorsOfStatus(status))).join('\n\n')}

## Failures

A request that was accepted can still fail later. A failed payment or refund has an \`error\`, a failed destination or payout a \`failure\`.
Its \`code\` is the first of the codes below, and \`subError\` holds the next one. In the \`error\` of a binding, \`message\` lists the codes.
With a payer's access token the \`error\` of a payment has one code only: the one for the payer.
If a bank declined, \`bank\` in the \`error\` or \`failure\` has the bank's own \`code\`, and its \`text\` if there is one. Only API keys and
webhooks get it. Keep both for support, and show payers neither. [Declines](declines.md) says what to do by class.
New codes can appear. Treat a code that is not listed like the code around it.

${failuresTable()}
`;
}

function statusTable(): string {
  return table(
    ['Status', 'Body', 'What to do'],
    [
      ['400, 422', '`code`, `message`', 'Correct the request. If there is a `retryAfter`, repeat it then.'],
      ['401', 'empty', 'The header `WWW-Authenticate` says what is wrong with the token: see [401](#401).'],
      [
        '404',
        '`message`',
        'Check the ID. The object does not exist, or this token cannot see it. With the message `Not found` alone the path is wrong.',
      ],
      [
        '405, 415',
        'empty',
        'Use a method from `Allow`. Send the body in the type that `Accept` names, without a `Content-Encoding`.',
      ],
      [
        '409',
        '`externalID`, `id`, `message`',
        'Two different requests have the same external ID. `id` is the object that the first one created. `challengeUnderWay` has `message` only.',
      ],
      ['413', '`message`', 'Send a smaller body.'],
      [
        '429',
        '`message`',
        'Wait for `Retry-After` seconds. Then repeat the same request with the same `Idempotency-Key`. `webhookLimitExceeded` has no `Retry-After`: delete a webhook first.',
      ],
      [
        '501',
        '`code`, `message`',
        'The operation is not available here: see [operations](requests/operations.md).',
      ],
      [
        '500, 504',
        'empty',
        'The outcome is unknown. Repeat the request with the same `externalID` or `Idempotency-Key`.',
      ],
      ['503', 'empty', 'Nothing was done. Repeat the request after `Retry-After` seconds.'],
    ],
  );
}

function failuresTable(): string {
  const charges = everyDecline((code) => cardNetworks.map((network) => chargeFailure({ network, code })));
  const payouts = everyDecline((code) => [payoutFailure({ code })]);
  const ofCharges = new Map(
    [...charges, deadlineReached, ...withoutDecline].map((path) => [path.join(' › '), path]),
  );
  const ofPayouts = new Set([...payouts, insufficientFunds, noRoute].map((path) => path.join(' › ')));
  const rows = [...new Set([...ofCharges.keys(), ...ofPayouts])].sort().map((name) => {
    const path = ofCharges.get(name);
    const { meaning, who, what } = adviceOf(name);
    const seen = path ? `\`${payerError(path).code}\`` : '';
    return [`\`${name}\``, meaning, who, what, seen, ofPayouts.has(name) ? 'yes' : ''];
  });
  return table(
    ['Codes', 'Meaning', 'Who can help', 'Do this', 'Charges: code for the payer', 'Payout'],
    rows,
  );
}

function adviceOf(name: string): FailureAdvice {
  const advice = failureAdvice[name];
  if (!advice)
    throw new Error(`src/timeline/domain/failure-advice.ts says nothing about the failure ${name}.`);
  return advice;
}

/** The failure for every code a bank can return. */
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

function unauthorizedText(): string {
  return `## 401

The body is empty. The header \`WWW-Authenticate\` says what is wrong. [Access](access.md) lists what each operation needs.

${table(
  ['`WWW-Authenticate`', 'What is wrong', 'What to do'],
  [
    [
      '`Bearer`',
      'The request has no bearer token.',
      'Send `Authorization: Bearer <token>`. In a shell, check that the variable with the token is set.',
    ],
    [
      '`Bearer error="invalid_token", error_description="…"`',
      'An API key is mistyped or belongs to another service. If its secret is right, the description says whether it is revoked, expired or of the other mode.',
      'Compare it with `mandate keys list --party <id>`, which prints the mode, the expiry and the revocation of each key. Create a new one with `mandate keys create`. In the sandbox, `mandate sandbox apiKey` prints the key that works.',
    ],
    [
      '',
      'An access token is incomplete. Or it is older than three days: then the description says that it has expired.',
      'Issue a new one: `issueInvoiceToken`, `issueCustomerToken`.',
    ],
    [
      '`Bearer error="insufficient_scope", scope="…"`',
      'The API key is valid, but lacks this scope.',
      'Create a key that has the scope: `mandate keys create --scopes`.',
    ],
    [
      '`Bearer error="insufficient_scope"`',
      'An access token is valid, but not for this operation or this object. Or `partyID` is not the party of the API key.',
      'Call the operation from your server with an API key, or issue the token of this object. Omit `partyID`.',
    ],
  ],
)}

An API key of another party is valid. Objects of your party are a 404 with it: \`GET /v2/processing/me\` returns the party of a key.`;
}

function errorText(code: ErrorCode): string {
  const { message, advice, messages = {} } = errorCatalogue[code];
  const rows = Object.entries(messages).map(([said, what]) => [`\`${said}\``, what]);
  const others = rows.length > 0 ? `\n\n${table(['Message', 'What to do'], rows)}` : '';
  return `### \`${code}\`\n\n> ${message}\n\n${advice}${others}\n\nReturned by ${returnedBy(code)}`;
}

/** More than these are a list, by their tags. */
const mostInSentence = 20;

/** An error that all operations of a group share is listed under the name of the group. */
function returnedBy(code: ErrorCode): string {
  const outside = errorsOutsideOperations.find((one) => one === code);
  if (outside) return outsideOperations[outside];
  const users = endpoints.filter((endpoint) => refusalsOf(endpoint).includes(code));
  const writes = endpoints.filter(({ method }) => method !== 'GET');
  const groups: [string, readonly AnyEndpoint[]][] = [
    ['every operation', endpoints],
    ['every `POST`, `PUT`, `PATCH` and `DELETE`', writes],
    ['every operation that takes an `Idempotency-Key`', endpoints.filter(takesIdempotencyKey)],
  ];
  const group = groups.find(
    ([, members]) =>
      members.length === users.length &&
      members.every((member: AnyEndpoint) => users.some((user) => user === member)),
  );
  if (group) return `${group[0]}.`;
  const names = (some: readonly AnyEndpoint[]) => some.map(({ operation }) => `\`${operation}\``).join(', ');
  if (users.length <= mostInSentence) return `${names(users)}.`;
  const tags = [...new Set(users.map(({ tag }) => tag))];
  const lines = tags.map((tag) => `- ${tag}: ${names(users.filter((user) => user.tag === tag))}`);
  return `${users.length} operations:\n\n${lines.join('\n')}`;
}

function codesOfCatalogue(): ErrorCode[] {
  return Object.keys(errorCatalogue) as ErrorCode[];
}
