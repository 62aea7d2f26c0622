// The part of OpenAPI that the service's document uses, read as any client would read it.
export type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
};
type Content = {
  readonly $ref?: string;
  readonly content?: { readonly 'application/json': { readonly schema: Schema } };
  /** The codes that an error may have here. */
  readonly 'x-codes'?: readonly string[];
};
export type Parameter = {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Schema;
};
export type Responses = Readonly<Record<string, Content>>;
export type Operation = {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Responses;
};
export type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Responses;
  };
};

/** A schema with its reference resolved. */
export function resolved(schema: Schema, document: Document): Schema {
  if (schema.$ref === undefined) return schema;
  const found = document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
  if (!found) throw new Error(`the document refers to ${schema.$ref}, which does not exist`);
  return resolved(found, document);
}

/** A response of an operation, with its reference resolved. */
export function responseOf(content: Content | undefined, { components }: Document): Content | undefined {
  if (content?.$ref === undefined) return content;
  const found = components.responses[content.$ref.replace('#/components/responses/', '')];
  if (!found) throw new Error(`the document refers to ${content.$ref}, which does not exist`);
  return found;
}

export function schemaOf(content: Content | undefined): Schema | undefined {
  return content?.content?.['application/json'].schema;
}

/** By method and path; /v1/processing is another name for /v2/processing, and nothing else of /v1. Returns `path` if only another method is known. */
export function operationFinder({
  paths,
}: Document): (method: string, url: string) => Operation | 'path' | 'nothing' {
  const patterns = Object.entries(paths).map(
    ([path, operations]) => [new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]*')}$`), operations] as const,
  );
  return (method, url) => {
    // With dots resolved, as a client sends it.
    const path = new URL(url, 'http://localhost').pathname.replace(/^\/v1\/processing\//, '/v2/processing/');
    const operations = patterns.find(([pattern]) => pattern.test(path))?.[1];
    return operations?.[method.toLowerCase()] ?? (operations ? 'path' : 'nothing');
  };
}
