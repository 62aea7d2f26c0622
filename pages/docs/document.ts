// What the page reads from an OpenAPI document: its operations in their order, with every reference to parameters and responses resolved.
// Schemas keep theirs until they are shown, because they may refer to themselves.
import { lastStep, type Schema, type Schemas } from './schema/schema.ts';

export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
};

type Media = {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown; readonly summary?: string }>>;
};
type Content = { readonly content?: Readonly<Record<string, Media>> };
type RawResponse = Content & { readonly description: string; readonly 'x-codes'?: readonly string[] };

type RawOperation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly 'x-scope'?: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, RawResponse | { readonly $ref: string }>>;
};

export type OpenApi = {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: {
    readonly schemas: Schemas;
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly responses?: Readonly<Record<string, RawResponse>>;
    readonly securitySchemes?: Readonly<Record<string, { readonly description?: string }>>;
  };
};

export type Example = { readonly name: string; readonly value: unknown };
export type Body = { readonly schema: Schema; readonly examples: readonly Example[] };
export type Response = {
  readonly status: number;
  readonly description: string;
  readonly body: Body | undefined;
};

export type Operation = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly deprecated: boolean;
  /** The names of the security schemes, any of which opens it; empty when any caller may. */
  readonly callers: readonly string[];
  readonly scope: string | undefined;
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
  readonly responses: readonly Response[];
};

export function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => operationOf(document, path, method.toUpperCase(), raw)),
  );
}

function operationOf({ components }: OpenApi, path: string, method: string, raw: RawOperation): Operation {
  return {
    id: raw.operationId,
    method,
    path,
    tag: raw.tags[0] ?? 'Other',
    summary: raw.summary,
    description: raw.description,
    deprecated: raw.deprecated ?? false,
    callers: (raw.security ?? []).flatMap((scheme) => Object.keys(scheme)),
    scope: raw['x-scope'],
    parameters: (raw.parameters ?? []).flatMap((parameter) => {
      if (!('$ref' in parameter)) return [parameter];
      return components.parameters?.[lastStep(parameter.$ref)] ?? [];
    }),
    body: raw.requestBody && bodyOf(raw.requestBody),
    responses: Object.entries(raw.responses)
      .flatMap(([status, named]) => {
        const response = '$ref' in named ? components.responses?.[lastStep(named.$ref)] : named;
        if (!response) return [];
        return [{ status: Number(status), description: describedBy(response), body: bodyOf(response) }];
      })
      .sort((one, other) => one.status - other.status),
  };
}

/** Every code of a refusal; the document explains only those that no other operation has. */
function describedBy({ description, 'x-codes': codes }: RawResponse): string {
  if (!codes) return description;
  const explained = description.split('\n\n');
  return codes
    .map((code) => explained.find((text) => text.startsWith(`\`${code}\``)) ?? `\`${code}\`.`)
    .join('\n\n');
}

function bodyOf({ content = {} }: Content): Body | undefined {
  const media = content['application/json'];
  if (!media?.schema) return undefined;
  const examples = Object.entries(media.examples ?? {}).map(([name, { value, summary }]) => ({
    name: summary ?? name,
    value,
  }));
  if (media.example !== undefined) examples.unshift({ name: 'Example', value: media.example });
  return { schema: media.schema, examples };
}
