// The request that an operation and what was typed make together, and the same as a command line.
import type { Operation, Parameter } from '../document.ts';

/** What was typed: values by the key of their parameter, and the text of the body. */
export type Draft = { readonly values: Readonly<Record<string, string>>; readonly body: string | undefined };

export type PreparedRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | undefined;
};

/** A path, a query and a header may use the same name. */
export function keyOf(parameter: Pick<Parameter, 'in' | 'name'>): string {
  return `${parameter.in} ${parameter.name}`;
}

export function prepare(operation: Operation, draft: Draft, baseUrl: string, token: string): PreparedRequest {
  const given = (place: Parameter['in']) =>
    operation.parameters.flatMap((parameter): [string, string][] => {
      const value = draft.values[keyOf(parameter)] ?? '';
      return parameter.in === place && value !== '' ? [[parameter.name, value]] : [];
    });
  const path = given('path').reduce(
    (address, [name, value]) => address.replace(`{${name}}`, () => encodeURIComponent(value)),
    operation.path.replace(/^\//, ''),
  );
  const query = new URLSearchParams(given('query')).toString();
  return {
    method: operation.method,
    url: `${baseUrl}${path}${query && `?${query}`}`,
    headers: [
      ...(token === '' ? [] : [['Authorization', `Bearer ${token}`] as const]),
      ...given('header'),
      ...(operation.body ? [['Content-Type', 'application/json'] as const] : []),
    ],
    body: operation.body ? (draft.body ?? '') : undefined,
  };
}

/** The first path parameter without a value: without it there is no address. */
export function missingPathParameter(operation: Operation, draft: Draft): Parameter | undefined {
  return operation.parameters.find(
    (parameter) => parameter.in === 'path' && (draft.values[keyOf(parameter)] ?? '') === '',
  );
}

export function curlOf({ method, url, headers, body }: PreparedRequest): string {
  const usual = body === undefined ? 'GET' : 'POST';
  return [
    `curl ${method === usual ? '' : `-X ${method} `}${quoted(url)}`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(' \\\n  ');
}

/** For a shell. In double quotes where a variable is to be filled in. */
function quoted(text: string): string {
  return text.endsWith(` ${tokenVariable}`) ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Stands for the token on a page where none was given. */
export const tokenVariable = '$MANDATE_TOKEN';

/** A token as it may be shown: enough to know it by. */
export function masked(token: string): string {
  if (token.length < 24) return '•'.repeat(token.length);
  return `${token.slice(0, token.startsWith('mandate_') ? 16 : 8)}…${token.slice(-4)}`;
}
