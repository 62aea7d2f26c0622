// A client of the public API with one access token. Every outcome of a request is a value, never an exception.
import { baseUrl } from './session.ts';

export type Answer<Body> =
  | { readonly came: 'body'; readonly body: Body }
  | { readonly came: 'refusal'; readonly code: string; readonly message: string }
  | { readonly came: 'wait'; readonly code: string; readonly seconds: number }
  /** The token is no longer good, or never was, for this. */
  | { readonly came: 'stranger' }
  /** The outcome is unknown. */
  | { readonly came: 'nothing' };

export type Api = {
  get<Body>(path: string): Promise<Answer<Body>>;
  /** With a key, a request that is sent again takes effect once. */
  post<Body>(path: string, body: unknown, idempotencyKey?: string): Promise<Answer<Body>>;
};

/** The service gives up after 30 seconds. */
const patienceMs = 35_000;

export function openApi(token: string): Api {
  async function ask<Body>(
    method: string,
    path: string,
    more: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> },
  ) {
    let response: Response;
    try {
      response = await fetch(`${baseUrl}v2/processing/${path}`, {
        ...more,
        method,
        cache: 'no-store',
        credentials: 'omit',
        signal: AbortSignal.timeout(patienceMs),
        headers: { Authorization: `Bearer ${token}`, 'X-Request-ID': requestId(), ...more.headers },
      });
      return await answerOf<Body>(response);
    } catch {
      return { came: 'nothing' } as const;
    }
  }
  return {
    get: (path) => ask('GET', path, {}),
    post: (path, body, idempotencyKey) =>
      ask('POST', path, {
        body: JSON.stringify(body),
        headers: {
          'Content-Type': 'application/json',
          ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        },
      }),
  };
}

async function answerOf<Body>(response: Response): Promise<Answer<Body>> {
  const { status } = response;
  if (response.ok) return { came: 'body', body: (await response.json()) as Body };
  if (status === 401 || status === 404) return { came: 'stranger' };
  if (status >= 500) return { came: 'nothing' };
  const isWait = status === 429;
  // A proxy may answer 429 in a form of its own.
  const body: unknown = isWait ? await response.json().catch(() => ({})) : await response.json();
  const { code = '', message = '' } = body as { code?: string; message?: string };
  const seconds = Number(response.headers.get('Retry-After')) || 1;
  return isWait ? { came: 'wait', code, seconds } : { came: 'refusal', code, message };
}

/** Two groups of eight digits. */
function requestId(): string {
  return [randomHex(4), randomHex(4)].join('-');
}

export function randomHex(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
