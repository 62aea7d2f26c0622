// How the demo shop's server calls the public API: with its key, as any merchant.
import type { FastifyInstance } from 'fastify';
import { dayMs } from '../../clock.ts';
import { defined } from '../../defined.ts';

/** One request of the shop's server and the response, as the demo shows them. */
export type Exchange = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
  readonly answer: unknown;
};

export type DemoApi = {
  ask(method: Exchange['method'], path: string, body?: object): Promise<Exchange>;
  /** The test clock may have moved it. */
  nowMs(): Promise<number>;
  moveClock(toMs: number): Promise<Exchange>;
  aMonthPasses(): Promise<Exchange>;
};

/** The longest month. */
const monthMs = 31 * dayMs;
const clock = '/sandbox/clock';

export function openDemoApi(app: FastifyInstance, apiKey: () => string | undefined): DemoApi {
  let requests = 0;

  const api: DemoApi = {
    async ask(method, path, body) {
      const answer = await app.inject({
        method,
        url: path,
        headers: {
          authorization: `Bearer ${apiKey() ?? ''}`,
          'x-request-id': `demo-${++requests}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
      return {
        method,
        path,
        ...defined({ body }),
        status: answer.statusCode,
        answer: answer.body === '' ? undefined : answer.json<unknown>(),
      };
    },
    async nowMs() {
      return Date.parse(((await api.ask('GET', clock)).answer as { now: string }).now);
    },
    moveClock: (toMs) => api.ask('POST', clock, { now: new Date(toMs).toISOString() }),
    aMonthPasses: async () => api.moveClock((await api.nowMs()) + monthMs),
  };
  return api;
}
