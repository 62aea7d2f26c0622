// Requests of clients, from sending until a response or the end of the node.
import type { Acknowledged, Finding } from '../checks/world.ts';
import { openMarks, type Marks } from '../checks/clients/unavailable.ts';
import type { Clients, Request } from '../clients/clients.ts';
import type { Faults } from './faults.ts';
import type { WorldNode } from './node.ts';
import type { Scheduler } from './scheduler.ts';
import type { Trace } from './trace.ts';

export type Calls = {
  /** Sends the next request to that node, or several that arrive together. */
  begin(node: WorldNode): void;
  /** Sends that node the requests that create what the theme needs, one after the other. */
  prepare(node: WorldNode): Promise<void>;
  /** The node has died, so its requests in progress end without a response. */
  hangUp(node: string): void;
  inProgress(): number;
  /** Whether the node moves a test clock, for which a client waits. */
  movesClock(node: string): boolean;
  /** How many requests have ended. */
  ended(): number;
  readonly acknowledged: readonly Acknowledged[];
  readonly unwritten: Marks['unwritten'];
  /** How many requests were answered 503. */
  unavailable(): number;
  /** What is wrong with the responses alone. */
  readonly findings: readonly Finding[];
};

/** More than are needed, because a few are refused while another object is not ready. */
const maxBeginnings = 150;

export function openCalls(options: {
  scheduler: Scheduler;
  faults: Faults;
  trace: Trace;
  clients: Clients;
}): Calls {
  const { scheduler, faults, trace, clients } = options;
  const acknowledged: Acknowledged[] = [];
  const findings: Finding[] = [];
  const marks = openMarks();
  const open = new Map<string, Set<() => void>>();
  const moving = new Map<string, number>();
  let inProgress = 0;
  let ended = 0;
  let unavailable = 0;

  const now = () => new Date(scheduler.nowMs()).toISOString();

  function begin(node: WorldNode): void {
    const sent = clients.next(now).map((request) => ({ what: request.what, send: sendingTo(node, request) }));
    const [first] = sent;
    if (!first) return;
    const what = sent.length === 1 ? first.what : `${first.what} and ${sent.length - 1} more`;
    const run = () => sent.forEach(({ send }) => send());
    scheduler.wait({ owner: node.name, what: `is asked to ${what}`, run });
  }

  /** The client waits from now on; the function lets the request arrive. */
  function sendingTo(node: WorldNode, request: Request): () => void {
    const { name } = node;
    const { what, method, path, headers, body, repeatable } = request;
    trace.add(`client → ${name}: ${what} ${JSON.stringify(body ?? '')}`);
    marks.sent(request.marks);
    const lostBefore = faults.lostConnections();
    const waiters = open.get(name) ?? new Set();
    open.set(name, waiters);
    inProgress += 1;
    let isOver = false;
    const moves = method === 'POST' && path === '/sandbox/clock' ? 1 : 0;
    moving.set(name, (moving.get(name) ?? 0) + moves);

    const hear = (answer?: { readonly status: number; readonly text: string }): void => {
      if (isOver) return;
      isOver = true;
      inProgress -= 1;
      ended += 1;
      waiters.delete(hear);
      moving.set(name, (moving.get(name) ?? 0) - moves);
      if (!answer || faults.happens('client hears nothing')) {
        trace.add(`client: ${what} was not answered`);
        return clients.hear(request, undefined);
      }
      const { status, text } = answer;
      trace.add(`client: ${what} → ${status} ${text}`);
      if (status === 503) unavailable += 1;
      marks.answered(request.marks, status);
      if (status === 500 && faults.lostConnections() === lostBefore) {
        const problem = 'the response was 500, and no connection was lost';
        findings.push({ check: 'answers', about: what, problem });
      }
      const content = contentOf(text);
      const about = { method, path: path.replace(/\?.*/, ''), status, body: content, at: now() };
      acknowledged.push({ ...about, ...(repeatable ? { repeatable } : {}) });
      clients.hear(request, { status, body: content });
    };

    waiters.add(hear);
    const sent = { method, url: path, headers, ...(body ? { payload: payloadOf(request) } : {}) };
    return () => void node.call(sent).then(hear);
  }

  async function prepare(node: WorldNode): Promise<void> {
    let last = 'nothing was asked';
    for (let count = 0; count < maxBeginnings; count++) {
      const request = clients.beginning(now);
      if (!request) return;
      const { method, path, headers, body } = request;
      const sent = { method, url: path, headers, ...(body ? { payload: JSON.stringify(body) } : {}) };
      marks.sent(request.marks);
      const { status, text } = await node.call(sent);
      marks.answered(request.marks, status);
      last = `${request.what} → ${status} ${text}`;
      trace.add(`client: ${last}`);
      const content: unknown = JSON.parse(text);
      acknowledged.push({ method, path, status, body: content, at: now() });
      clients.hear(request, { status, body: content });
    }
    throw new Error(`The world lacks what its theme needs after ${maxBeginnings} requests: ${last}`);
  }

  return {
    begin,
    prepare,
    hangUp(node) {
      for (const hear of open.get(node) ?? []) hear();
      open.delete(node);
    },
    inProgress: () => inProgress,
    movesClock: (node) => (moving.get(node) ?? 0) > 0,
    ended: () => ended,
    acknowledged,
    unwritten: marks.unwritten,
    unavailable: () => unavailable,
    findings,
  };
}

function payloadOf({ body, isForm = false }: Request): string {
  return isForm ? new URLSearchParams(body as Record<string, string>).toString() : JSON.stringify(body);
}

/** Of a page, what its script reads or its form sends. */
function contentOf(text: string): unknown {
  if (/^[[{]/.test(text)) return JSON.parse(text);
  const [, facts] = /<script type="application\/json" id="facts">(.*)<\/script>/.exec(text) ?? [];
  if (facts !== undefined) return JSON.parse(facts);
  const [, token] = /<input type="hidden" name="token" value="([^"]*)">/.exec(text) ?? [];
  return token === undefined ? undefined : { token };
}
