// Requests of clients, from the moment they are sent until they are answered, or nobody will answer them any more.
import type { Acknowledged, Finding } from '../checks/world.ts';
import type { Clients } from '../clients/clients.ts';
import type { Faults } from './faults.ts';
import type { WorldNode } from './node.ts';
import type { Scheduler } from './scheduler.ts';
import type { Trace } from './trace.ts';

export type Calls = {
  /** Somebody asks that node for something. */
  begin(node: WorldNode): void;
  /** What the world needs before it begins, asked for one after the other, of that node. */
  prepare(node: WorldNode): Promise<void>;
  /** The node is gone: whoever waits for it hears that the connection broke. */
  hangUp(node: string): void;
  underWay(): number;
  /** How many have come to an end. */
  ended(): number;
  readonly acknowledged: readonly Acknowledged[];
  /** What is wrong by the look of the answers alone. */
  readonly findings: readonly Finding[];
};

/** A few may be refused, because something else is not ready yet. */
const maxBeginnings = 100;

export function openCalls(options: {
  scheduler: Scheduler;
  faults: Faults;
  trace: Trace;
  clients: Clients;
}): Calls {
  const { scheduler, faults, trace, clients } = options;
  const acknowledged: Acknowledged[] = [];
  const findings: Finding[] = [];
  const open = new Map<string, Set<() => void>>();
  let underWay = 0;
  let ended = 0;

  const now = () => new Date(scheduler.nowMs()).toISOString();

  function begin(node: WorldNode): void {
    const request = clients.next(now);
    if (!request) return;
    const { name } = node;
    const { what, method, path, headers, body, repeatable } = request;
    trace.add(`client → ${name}: ${what} ${JSON.stringify(body ?? '')}`);
    const lostBefore = faults.lostConnections();
    const waiters = open.get(name) ?? new Set();
    open.set(name, waiters);
    underWay += 1;
    let isOver = false;

    const hear = (answer?: { readonly status: number; readonly text: string }): void => {
      if (isOver) return;
      isOver = true;
      underWay -= 1;
      ended += 1;
      waiters.delete(hear);
      if (!answer || faults.happens('client hears nothing')) {
        trace.add(`client: ${what} was not answered`);
        return clients.hear(request, undefined);
      }
      const { status, text } = answer;
      trace.add(`client: ${what} → ${status} ${text}`);
      if (status === 500 && faults.lostConnections() === lostBefore) {
        const problem = 'was answered 500, and no connection was lost';
        findings.push({ check: 'answers', about: what, problem });
      }
      const told: unknown = /^[[{]/.test(text) ? JSON.parse(text) : undefined;
      const about = { method, path: path.replace(/\?.*/, ''), status, body: told, at: now() };
      acknowledged.push({ ...about, ...(repeatable ? { repeatable } : {}) });
      clients.hear(request, { status, body: told });
    };

    waiters.add(hear);
    const sent = { method, url: path, headers, ...(body ? { payload: JSON.stringify(body) } : {}) };
    scheduler.wait({
      owner: name,
      what: `is asked to ${what}`,
      run: () => void node.call(sent).then(hear),
    });
  }

  async function prepare(node: WorldNode): Promise<void> {
    let last = 'nothing was asked';
    for (let count = 0; count < maxBeginnings; count++) {
      const request = clients.beginning(now);
      if (!request) return;
      const { method, path, headers, body } = request;
      const sent = { method, url: path, headers, ...(body ? { payload: JSON.stringify(body) } : {}) };
      const { status, text } = await node.call(sent);
      last = `${request.what} → ${status} ${text}`;
      trace.add(`client: ${last}`);
      const told: unknown = JSON.parse(text);
      acknowledged.push({ method, path, status, body: told, at: now() });
      clients.hear(request, { status, body: told });
    }
    throw new Error(`the world did not get what it needs to begin: ${last}`);
  }

  return {
    begin,
    prepare,
    hangUp(node) {
      for (const hear of open.get(node) ?? []) hear();
      open.delete(node);
    },
    underWay: () => underWay,
    ended: () => ended,
    acknowledged,
    findings,
  };
}
