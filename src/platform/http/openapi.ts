// The OpenAPI 3.1 document, printed from the same declarations that validate requests and shape answers: routes, access
// table and catalogue of refusals. A schema with a title becomes a component and is referred to by it.
import type { TSchema } from 'typebox';
import { takesIdempotencyKey, type AnyEndpoint } from './endpoint.ts';
import { maxRequestIdCharacters, apiFamilyOf, type ApiFamily } from './errors/error-response.ts';
import {
  errorCatalogue,
  refusalsOfEveryBody,
  refusalsOfEveryOperation,
  type ErrorCode,
} from './errors/error-codes.ts';
import { defined } from '../../defined.ts';

type Json = Record<string, unknown>;

const tagDescriptions: Record<string, string> = {
  Invoices: 'What is to be paid, and what became of it.',
  Customers: 'Payers who can be charged without being there, and their cards.',
  Merchant: 'Your party and your shops.',
  Identities: 'Who pays out, and how well he is known.',
  Wallets: 'What payouts are made from.',
  Destinations: 'The cards that are paid out to.',
  Withdrawals: 'Payouts from a wallet to a card.',
  Sandbox: 'What only the sandbox can do.',
};

const introduction = `
Recurring card payments, card bindings and card payouts.

Send \`Authorization: Bearer <token>\` and an \`X-Request-ID\` of your choice with every request; amounts are integers in
minor units. Everything under \`/v2/processing\` answers under \`/v1/processing\` as well.

Numbers of your own, as in \`metadata\`, are kept as doubles: a fraction loses the digits beyond about the seventeenth and \`-0\`
comes back as \`0\`, while an integer beyond 2^53 is refused; send it as a string.

To make a create safe to repeat, give it an \`externalID\`: a repeat answers the same object as it is now, for ever. Or send
an \`Idempotency-Key\`: the first answer is then given again, byte for byte, for seven days.
`.trim();

export function openApiDocument(endpoints: readonly AnyEndpoint[], version: string, serverUrl: string): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const path = (paths[endpoint.path] ??= {});
    path[endpoint.method.toLowerCase()] = operationOf(endpoint, components);
  }
  const tags = [...new Set(endpoints.map(({ tag }) => tag))];
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
    paths,
    components: {
      schemas: { ...components, ...errorSchemas },
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
            'A token for one entity, from its creation or its access-tokens operation. May be given to a browser.',
        },
      },
      parameters: headerParameters,
    },
  };
}

const headerParameters = {
  'X-Request-ID': {
    name: 'X-Request-ID',
    in: 'header',
    required: true,
    description: 'Your name for this request, to trace it by; echoed in the answer.',
    schema: { type: 'string', minLength: 1, maxLength: 40 },
    example: 'try-1',
  },
  'X-Request-Deadline': {
    name: 'X-Request-Deadline',
    in: 'header',
    required: false,
    description:
      'How long you are ready to wait: `30s`, `500ms`, `1m`, or a date-time. After it the answer is 504.',
    schema: { type: 'string', minLength: 1, maxLength: 40 },
  },
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes a repeat harmless: the first answer is given again.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
};

/** The wallets' side takes longer ones. */
function requestIdParameter(side: ApiFamily): Json {
  const shared = headerParameters['X-Request-ID'];
  if (side === 'processing') return { $ref: '#/components/parameters/X-Request-ID' };
  return { ...shared, schema: { ...shared.schema, maxLength: maxRequestIdCharacters[side] } };
}

const dateTime = (description: string) => ({ type: 'string', format: 'date-time', description });

const errorSchemas = {
  LogicError: {
    type: 'object',
    required: ['code', 'message'],
    properties: {
      code: { type: 'string', description: 'Switch on this.' },
      message: { type: 'string', description: 'For people.' },
      retryAfter: dateTime(
        'Of a recurring charge: the first moment it would be accepted, if nothing else happens.',
      ),
      rule: { type: 'string', description: 'Of a recurring charge, to API keys: what stands in the way.' },
      rulePack: { type: 'string', description: 'Whose rule that is, and since when.' },
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
      code: { type: 'string', description: 'For programs: see the catalogue of errors.' },
    },
  },
  InvalidOperationParameters: {
    type: 'object',
    required: ['message', 'code'],
    properties: {
      message: { type: 'string', description: 'For people.' },
      code: { type: 'string', description: 'For programs: see the catalogue of errors.' },
      retryAfter: dateTime('With a limit: when there is room again.'),
    },
  },
  GeneralError: { type: 'object', required: ['message'], properties: { message: { type: 'string' } } },
  ExternalIDConflictError: {
    type: 'object',
    required: ['externalID', 'message'],
    properties: {
      externalID: { type: 'string' },
      id: {
        type: 'string',
        description: 'What was made with this externalID before; not told to a payer who may not have it.',
      },
      message: { type: 'string' },
    },
  },
};

function operationOf(endpoint: AnyEndpoint, components: Json): Json {
  const { scope, tokens = [] } = endpoint.access;
  return {
    operationId: endpoint.operation,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.description ? { description: endpoint.description } : {}),
    security: [{ apiKey: [] }, ...(tokens.length > 0 ? [{ accessToken: [] }] : [])],
    'x-scope': scope,
    parameters: [
      ...parametersOf(endpoint.params, 'path'),
      ...parametersOf(endpoint.query, 'query'),
      requestIdParameter(apiFamilyOf(endpoint.path)),
      { $ref: '#/components/parameters/X-Request-Deadline' },
      ...(takesIdempotencyKey(endpoint) ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []),
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
    responses: responsesOf(endpoint, components),
  };
}

function responsesOf(endpoint: AnyEndpoint, components: Json): Json {
  const responses: Json = {
    [endpoint.status]: {
      description: endpoint.response ? 'Done' : 'Done, without content',
      ...(endpoint.response
        ? { content: { 'application/json': { schema: referTo(endpoint.response, components) } } }
        : {}),
    },
    401: { description: 'No token, a bad or expired one, or one that may not do this. Empty.' },
    ...(endpoint.body ? { 415: { description: 'The body is not application/json. Empty.' } } : {}),
    500: { description: 'Unexpected; the outcome of a write is unknown. Empty.' },
    503: { description: 'Temporarily unavailable; nothing was done, repeat it. Empty.' },
    504: { description: 'The deadline passed; the outcome of a write is unknown. Empty.' },
  };
  for (const [status, codes] of refusalsByStatus(refusalsOf(endpoint))) {
    responses[status] = {
      description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].message}.`).join('\n\n'),
      ...schemaOfError(apiFamilyOf(endpoint.path), status, codes),
    };
  }
  return responses;
}

/** Every refusal an operation can answer with, its own and those all share. */
export function refusalsOf(endpoint: AnyEndpoint): ErrorCode[] {
  const ofBody = endpoint.method === 'GET' ? [] : refusalsOfEveryBody;
  const possible = ofBody.filter((code) => code !== 'idempotencyKeyReused' || takesIdempotencyKey(endpoint));
  return [...new Set([...refusalsOfEveryOperation, ...possible, ...endpoint.errors])];
}

function refusalsByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = errorCatalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

/** Undefined where the answer has no body. */
function schemaOfError(side: ApiFamily, status: number, codes: readonly ErrorCode[]): Json | undefined {
  if (side === 'wallets' && status === 404) return undefined;
  return { content: { 'application/json': { schema: errorSchemaOf(side, status, codes) } } };
}

function errorSchemaOf(side: ApiFamily, status: number, codes: readonly ErrorCode[]): Json {
  const named = (schema: string) => ({
    allOf: [
      { $ref: `#/components/schemas/${schema}` },
      { properties: { code: { type: 'string', enum: codes } } },
    ],
  });
  if (codes.includes('externalIDConflict')) return { $ref: '#/components/schemas/ExternalIDConflictError' };
  if (status !== 400 && status !== 422) return { $ref: '#/components/schemas/GeneralError' };
  if (side === 'processing') return named('LogicError');
  return named(status === 400 ? 'BadRequest' : 'InvalidOperationParameters');
}

function parametersOf(schema: TSchema | undefined, location: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: location,
    required: required.includes(name),
    ...defined({ description }),
    schema: property,
  }));
}

/** The schema with every titled schema inside it moved to the components. */
function referTo(schema: unknown, components: Json): unknown {
  if (Array.isArray(schema)) return schema.map((member) => referTo(member, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy: Json = {};
  for (const [name, member] of Object.entries(schema)) copy[name] = referTo(member, components);
  const { title, ...rest } = copy;
  if (typeof title !== 'string') return copy;
  const known = components[title];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rest)) {
    throw new Error(`there are two different schemas with the title ${title}`);
  }
  components[title] = rest;
  return { $ref: `#/components/schemas/${title}` };
}
