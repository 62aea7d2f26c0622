// The error catalogue, the access table, routes and settings refer to each other. These functions find what one of them has and another
// lacks, where the compiler cannot.
import type { AnyEndpoint } from '../../src/platform/http/endpoint.ts';

/** Errors of the catalogue that no operation returns. */
export function unusedRefusals(codes: readonly string[], answered: readonly (readonly string[])[]): string[] {
  const used = new Set(answered.flat());
  return codes.filter((code) => !used.has(code)).map((code) => `${code} is returned by no operation`);
}

/** Operations with the same name, and access that does not fit its endpoint. */
export function accessFaults(endpoints: readonly AnyEndpoint[]): string[] {
  const operations = endpoints.map(({ operation }) => operation);
  return [
    ...operations
      .filter((name, index) => operations.indexOf(name) !== index)
      .map((name) => `two routes have the name ${name}`),
    ...endpoints.flatMap(faultsOfAccess),
  ];
}

function faultsOfAccess({ operation, access, path }: AnyEndpoint): string[] {
  const { tokens = [], entity, anyEntity } = access;
  const faults: string[] = [];
  if (tokens.length > 0 && entity === undefined && !anyEntity)
    faults.push(`${operation} does not say whose token it takes`);
  if (tokens.length === 0 && (entity !== undefined || anyEntity))
    faults.push(`${operation} says whose token it takes and takes none`);
  if (entity !== undefined && anyEntity) faults.push(`${operation} takes any token and that of one entity`);
  if (entity !== undefined && !path.includes(`{${entity}}`))
    faults.push(`${operation} has no {${entity}} in its path`);
  return faults;
}

/** Security codes that would be hashed under an Idempotency-Key, and excluded members that do not exist. */
export function memoryFaults(endpoints: readonly AnyEndpoint[]): string[] {
  return endpoints.flatMap(({ operation, body, excludeFromHash = [] }) => {
    const members = membersOf(body);
    const isCode = (path: string) => /(^|\.)(cvv|cvc|securityCode)$/i.test(path);
    return [
      ...members
        .filter((path) => isCode(path) && !excludeFromHash.includes(path))
        .map((path) => `${operation} hashes ${path}`),
      ...excludeFromHash
        .filter((path) => !members.includes(path))
        .map((path) => `${operation} has no member ${path}`),
    ];
  });
}

/** Every member of a body by its path, through objects and unions. */
function membersOf(schema: unknown): string[] {
  const { properties = {}, anyOf = [] } = (schema ?? {}) as {
    properties?: Record<string, unknown>;
    anyOf?: unknown[];
  };
  return [
    ...Object.entries(properties).flatMap(([name, member]) => [
      name,
      ...membersOf(member).map((deeper) => `${name}.${deeper}`),
    ]),
    ...anyOf.flatMap(membersOf),
  ];
}

/** The names a function reads from its environment. */
export function namesReadBy(read: (environment: Record<string, string | undefined>) => unknown): string[] {
  const names = new Set<string>();
  read(
    new Proxy<Record<string, string | undefined>>(
      {},
      {
        get: (_, name) => {
          names.add(String(name));
          return undefined;
        },
      },
    ),
  );
  return [...names];
}

/** Files that read the environment instead of the settings, and names that are not settings. */
export function environmentFaults(file: string, text: string, settings: readonly string[]): string[] {
  const reads = [...text.matchAll(/process\.env(?:\[['"](\w+)['"]\]|\.(\w+))?/g)];
  const mayReadAll = /^src\/(main\.ts|cli\/)/.test(file);
  // PATH says what the machine has, not what the operator wants.
  const mayReadPath = file.startsWith('src/sandbox/postgres/');
  return reads
    .map(([, bracketed, dotted]) => bracketed ?? dotted)
    .filter((name) => !(mayReadPath && name === 'PATH'))
    .filter((name) => !(mayReadAll && (name === undefined || settings.includes(name))))
    .map((name) => `${file} reads ${name ?? 'the environment'}, which only src/app/config.ts may do`);
}
