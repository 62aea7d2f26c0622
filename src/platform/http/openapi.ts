// The OpenAPI 3.1 document, printed from the declarations that validate requests and shape responses: routes, access and errors.
// A schema with a title becomes a component, and references use it.
import type { TSchema } from 'typebox';
import { scopesOf } from './access.ts';
import { takesIdempotencyKey, type AnyEndpoint } from './endpoint.ts';
import { hasCode, maxRequestIdCharacters, apiFamilyOf, type ApiFamily } from './errors/error-response.ts';
import {
  errorCatalogue,
  errorsOfEveryBody,
  errorsOfEveryOperation,
  type ErrorCode,
} from './errors/error-codes.ts';
import { warningsDescription, warningsHeader } from './request/warnings.ts';
import { defined } from '../../defined.ts';

type Json = Record<string, unknown>;

const tagDescriptions: Record<string, string> = {
  Invoices: 'Invoices, their payments and refunds.',
  Analytics: 'Sums of payments and refunds, and balances of shops.',
  Customers: 'Payers with saved cards, for recurring charges.',
  Merchant: 'Your party and your shops.',
  Identities: 'The people and companies that pay out, and their identification.',
  Wallets: 'Money from which payouts are made.',
  Destinations: 'Cards that receive payouts.',
  Withdrawals: 'Payouts from a wallet to a card.',
  Sandbox: 'Operations that only the sandbox has.',
};

const introduction = `
Recurring card payments, saved cards and card payouts.

Send \`Authorization: Bearer <token>\` with every request. Amounts are integers in
minor units. Refusals list their codes in \`x-codes\`; \`/docs/guides/guide/errors.html\` explains all. Every path under \`/v2/processing\` also works under \`/v1/processing\`, and under
\`/v2/processing/parties/{partyID}\` with your own ID.

Your own numbers, as in \`metadata\`, are stored as doubles. A fraction keeps about 17 digits, and \`-0\` becomes \`0\`. An integer
beyond 2^53 is refused: send it as a string.

To make a create safe to repeat, send an \`externalID\`. A repeat then returns the same object as it is now, at any later time.
Or send an \`Idempotency-Key\`. A repeat then returns the first response, byte for byte, for seven days.
`.trim();

/** A webhook event, by the name that webhooks register for. */
export type WebhookDeclaration = { readonly name: string; readonly topic: string; readonly body: TSchema };

export function openApiDocument(
  endpoints: readonly AnyEndpoint[],
  webhooks: readonly WebhookDeclaration[],
  version: string,
  serverUrl: string,
): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  const saidOnce = codesOfOneOperation(endpoints);
  const tags = [...new Set(endpoints.map(({ tag }) => tag))];
  for (const endpoint of tags.flatMap((wanted) => endpoints.filter(({ tag }) => tag === wanted))) {
    const path = (paths[endpoint.path] ??= {});
    path[endpoint.method.toLowerCase()] = operationOf(endpoint, components, saidOnce);
  }
  const events = Object.fromEntries(webhooks.map((one) => [one.name, webhookOf(one, components)]));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mandate',
      version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: tags.map((name) => ({ name, description: tagDescriptions[name] ?? name })),
    // Before the paths: gzip finds more repetitions so.
    components: {
      schemas: { ...groupedByFirstWord(components), ...errorSchemas },
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key of the merchant. For servers only.',
        },
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'A token for one entity, from its creation or its access-tokens operation. You can give it to a browser.',
        },
      },
      parameters: headerParameters,
      responses: sharedResponses,
      headers: { [warningsHeader]: { description: warningsDescription, schema: { type: 'string' } } },
    },
    paths,
    webhooks: events,
  };
}

/** Schemas with the same first word stand together: for readers, and for gzip, which looks back 32 KiB only. */
function groupedByFirstWord(schemas: Json): Json {
  const firstWords = Object.keys(schemas).map((name) => /^[A-Z][a-z]*/.exec(name)?.[0]);
  const rankOf = (index: number) => firstWords.indexOf(firstWords[index]);
  const ranked = Object.entries(schemas).map((entry, index) => ({ entry, rank: rankOf(index) }));
  return Object.fromEntries(ranked.sort((one, other) => one.rank - other.rank).map(({ entry }) => entry));
}

/** Its description says that refusals have it too: to repeat it at each of them takes a kilobyte. */
const warnings = { headers: { [warningsHeader]: { $ref: `#/components/headers/${warningsHeader}` } } };

const requestId = (family: ApiFamily) => ({
  name: 'X-Request-ID',
  in: 'header',
  required: false,
  description:
    'Your own ID for this request, for tracing. The response repeats it, or has one that the service made.',
  schema: { type: 'string', minLength: 1, maxLength: maxRequestIdCharacters[family] },
  example: 'try-1',
});

const headerParameters = {
  'X-Request-ID': requestId('processing'),
  'Wallet-X-Request-ID': requestId('wallets'),
  'X-Request-Deadline': {
    name: 'X-Request-Deadline',
    in: 'header',
    required: false,
    description:
      'How long you are ready to wait: `30s`, `500ms`, `1m`, or a date-time. After that the response is 504.',
    schema: { type: 'string', minLength: 1, maxLength: 40 },
  },
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes a repeat harmless: it returns the first response.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    required: false,
    description:
      '`wait=10` waits up to ten seconds for the outcome, or until the payer has to act. Ignored with an `Idempotency-Key`.',
    schema: { type: 'string' },
  },
};

const dateTime = (description: string) => ({ type: 'string', format: 'date-time', description });

const hint = {
  type: 'string',
  description: 'For people: what is wrong in this case, and what to do. Left out if there is no more to say.',
};

const errorSchemas = {
  LogicError: {
    type: 'object',
    required: ['code', 'message'],
    properties: {
      code: { type: 'string', description: 'Switch on this.' },
      message: { type: 'string', description: 'For people.' },
      hint,
      retryAfter: dateTime('For a recurring charge: the earliest time at which it can be accepted.'),
      rule: {
        type: 'string',
        description: 'For a recurring charge, to API keys only: the rule that refuses it.',
      },
      rulePack: { type: 'string', description: 'The rule pack of that rule, its date and its revision.' },
      declineClass: {
        type: 'string',
        description: 'For a stopped or paused recurring charge, to API keys only: who can help.',
      },
    },
  },
  BadRequest: {
    type: 'object',
    required: ['errorType', 'code'],
    properties: {
      errorType: {
        type: 'string',
        enum: [
          'SchemaViolated',
          'NotFound',
          'WrongType',
          'NotInRange',
          'WrongSize',
          'WrongLength',
          'WrongArray',
          'NoMatch',
          'InvalidResourceToken',
          'InvalidToken',
        ],
      },
      name: { type: 'string', description: 'The parameter, the header, or the schema of the body.' },
      description: { type: 'string', description: 'For people.' },
      hint,
      code: { type: 'string', description: 'For programs: see the catalogue of errors.' },
    },
  },
  InvalidOperationParameters: {
    type: 'object',
    required: ['message', 'code'],
    properties: {
      message: { type: 'string', description: 'For people.' },
      code: { type: 'string', description: 'For programs: see the catalogue of errors.' },
      hint,
      retryAfter: dateTime('For a limit: the earliest time at which to try again.'),
    },
  },
  GeneralError: { type: 'object', required: ['message'], properties: { message: { type: 'string' }, hint } },
  ExternalIDConflictError: {
    type: 'object',
    required: ['externalID', 'message'],
    properties: {
      externalID: { type: 'string' },
      id: {
        type: 'string',
        description: 'What was created with this externalID before. Left out if the caller may not see it.',
      },
      message: { type: 'string' },
      hint,
    },
  },
};

function operationOf(endpoint: AnyEndpoint, components: Json, saidOnce: ReadonlySet<ErrorCode>): Json {
  const { tokens = [] } = endpoint.access;
  const isOfWallets = apiFamilyOf(endpoint.path) === 'wallets';
  return {
    summary: endpoint.summary,
    ...(endpoint.description ? { description: endpoint.description } : {}),
    operationId: endpoint.operation,
    tags: [endpoint.tag],
    security: [{ apiKey: [] }, ...(tokens.length > 0 ? [{ accessToken: [] }] : [])],
    'x-scope': scopesOf(endpoint.access).join(' '),
    parameters: [
      ...parametersOf(endpoint.params, 'path'),
      ...parametersOf(endpoint.query, 'query'),
      { $ref: `#/components/parameters/${isOfWallets ? 'Wallet-' : ''}X-Request-ID` },
      { $ref: '#/components/parameters/X-Request-Deadline' },
      ...(takesIdempotencyKey(endpoint) ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []),
      ...(endpoint.outcome ? [{ $ref: '#/components/parameters/Prefer' }] : []),
    ],
    ...(endpoint.body
      ? {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: referTo(endpoint.body, components),
                example: endpoint.bodyExample,
              },
            },
          },
        }
      : {}),
    responses: responsesOf(endpoint, components, endpoint.isOfOthers ? new Set() : saidOnce),
  };
}

function webhookOf({ name, topic, body }: WebhookDeclaration, components: Json): Json {
  return {
    post: {
      operationId: `on${name}`,
      summary: `${name} of ${topic}`,
      security: [],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: referTo(body, components) } },
      },
      responses: { 200: referToResponse('Received') },
    },
  };
}

function responsesOf(endpoint: AnyEndpoint, components: Json, saidOnce: ReadonlySet<ErrorCode>): Json {
  const responses: Json = {
    [endpoint.status]: {
      description: endpoint.response ? 'Done' : 'Done, without content',
      ...warnings,
      ...(endpoint.response
        ? { content: { 'application/json': { schema: referTo(endpoint.response, components) } } }
        : {}),
    },
    401: referToResponse('Unauthorized'),
    ...(endpoint.body ? { 415: referToResponse('UnsupportedMediaType') } : {}),
    500: referToResponse('Failed'),
    503: referToResponse('Unavailable'),
    504: referToResponse('TooLate'),
  };
  const family = apiFamilyOf(endpoint.path);
  for (const [status, codes] of refusalsByStatus(refusalsOf(endpoint))) {
    const name = sharedRefusals[family][codes.join()];
    responses[status] = name ? referToResponse(name) : refusedWith(family, status, codes, saidOnce);
  }
  return responses;
}

function refusedWith(
  family: ApiFamily,
  status: number,
  codes: readonly ErrorCode[],
  explained: ReadonlySet<ErrorCode> = new Set(codes),
): Json {
  // Where x-codes lists the codes, the description has only those that it explains.
  const said = hasCode(status) ? codes.filter((code) => explained.has(code)) : codes;
  return {
    description: said.map((code) => sentenceOf(code, explained)).join('\n\n') || 'Refused',
    ...schemaOfError(family, status, codes),
  };
}

/** The others would repeat their messages at each operation; the guide of errors has all of them. */
function codesOfOneOperation(endpoints: readonly AnyEndpoint[]): ReadonlySet<ErrorCode> {
  const codes = endpoints.filter((one) => !one.isOfOthers).flatMap(refusalsOf);
  return new Set(codes.filter((code) => codes.indexOf(code) === codes.lastIndexOf(code)));
}

/** Without the message if the code has the same words: the document is downloaded whole. */
function sentenceOf(code: ErrorCode, explained: ReadonlySet<ErrorCode>): string {
  if (!explained.has(code)) return `\`${code}\`.`;
  const message = errorCatalogue[code].message.replace(/\.$/, '');
  const isSaidByCode = message.replaceAll(' ', '').toLowerCase() === code.toLowerCase();
  return isSaidByCode ? `\`${code}\`.` : `\`${code}\`: ${message}.`;
}

const referToResponse = (name: keyof typeof sharedResponses) => ({ $ref: `#/components/responses/${name}` });

/** The responses of nearly every operation: to repeat them at each takes a kilobyte and a half. */
const sharedResponses = {
  Unauthorized: {
    description:
      'The token is missing, invalid or expired, or does not allow this: see WWW-Authenticate. Empty.',
  },
  UnsupportedMediaType: { description: 'The body is not what `Accept` and `Accept-Encoding` say. Empty.' },
  InvalidRequest: refusedWith('processing', 400, ['invalidRequest', 'invalidDeadline']),
  InvalidWalletRequest: refusedWith('wallets', 400, ['invalidRequest', 'invalidDeadline']),
  RequestTooLarge: refusedWith('processing', 413, ['requestTooLarge']),
  KeyReused: refusedWith('processing', 422, ['idempotencyKeyReused']),
  WalletKeyReused: refusedWith('wallets', 422, ['idempotencyKeyReused']),
  TooManyRequests: refusedWith('processing', 429, ['tooManyRequests']),
  Received: { description: 'Received. Any other answer than 2xx is an attempt that failed.' },
  Failed: { description: 'Unexpected error; the outcome of a write is unknown. Empty.' },
  Unavailable: { description: 'Temporarily unavailable. Nothing was done: repeat the request. Empty.' },
  TooLate: { description: 'The deadline passed; the outcome of a write is unknown. Empty.' },
};
const sharedRefusals: Record<ApiFamily, Readonly<Record<string, keyof typeof sharedResponses>>> = {
  processing: {
    'invalidRequest,invalidDeadline': 'InvalidRequest',
    requestTooLarge: 'RequestTooLarge',
    idempotencyKeyReused: 'KeyReused',
    tooManyRequests: 'TooManyRequests',
  },
  wallets: {
    'invalidRequest,invalidDeadline': 'InvalidWalletRequest',
    requestTooLarge: 'RequestTooLarge',
    idempotencyKeyReused: 'WalletKeyReused',
    tooManyRequests: 'TooManyRequests',
  },
};

/** Every error an operation can return, its own and those all operations share. */
export function refusalsOf(endpoint: AnyEndpoint): ErrorCode[] {
  const ofBody = endpoint.method === 'GET' ? [] : errorsOfEveryBody;
  const possible = ofBody.filter((code) => code !== 'idempotencyKeyReused' || takesIdempotencyKey(endpoint));
  return [...new Set([...errorsOfEveryOperation, ...possible, ...endpoint.errors])];
}

function refusalsByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = errorCatalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

/** Undefined if the response has no body. */
function schemaOfError(family: ApiFamily, status: number, codes: readonly ErrorCode[]): Json | undefined {
  if (family === 'wallets' && status === 404) return undefined;
  const schema = { $ref: `#/components/schemas/${errorSchemaOf(family, status, codes)}` };
  return {
    content: { 'application/json': { schema } },
    ...(hasCode(status) ? { 'x-codes': codes } : {}),
  };
}

/** One of the shared schemas, so that a generated client has few classes. Its response lists the codes. */
function errorSchemaOf(
  family: ApiFamily,
  status: number,
  codes: readonly ErrorCode[],
): keyof typeof errorSchemas {
  if (codes.includes('externalIDConflict')) return 'ExternalIDConflictError';
  if (!hasCode(status)) return 'GeneralError';
  if (family === 'processing') return 'LogicError';
  return status === 400 ? 'BadRequest' : 'InvalidOperationParameters';
}

function parametersOf(schema: TSchema | undefined, location: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: location,
    ...(required.includes(name) ? { required: true } : {}),
    ...defined({ description }),
    schema: property,
  }));
}

/**
 * The schema, with every titled schema inside it moved to the components. A union is a `oneOf` without a discriminator: its branches
 * exclude each other, and generators of clients read it best so.
 */
function referTo(schema: unknown, components: Json): unknown {
  if (Array.isArray(schema)) return schema.map((member) => referTo(member, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy: Json = {};
  for (const [name, member] of Object.entries(schema))
    copy[name === 'anyOf' ? 'oneOf' : name] = referTo(member, components);
  const { title, ...rest } = copy;
  if (typeof title !== 'string') return copy;
  const known = components[title];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rest)) {
    throw new Error(`Two different schemas have the title ${title}. Rename one.`);
  }
  components[title] = rest;
  return { $ref: `#/components/schemas/${title}` };
}
