// Keeps idle connections for immediate reuse, because the driver's pool sets two timers and waits a turn for each statement.
// A connection returns to that pool when a caller waits there, when it is broken, or when it was not needed for a while.
import type pg from 'pg';

/** Where connections come from: the driver's pool, or that of a simulation, which decides the order of everything. */
export type ConnectionPool = Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'> & {
  connect(): Promise<pg.PoolClient>;
  /** Ends the idle connections now, and each one in use when it is released: another server may have replaced theirs. */
  renew(): void;
  /** When it resolves, the server has ended the sessions: they hold no locks, and `pg_stat_activity` does not list them. */
  end(): Promise<void>;
};

/** A connection that stays idle for a whole interval is ended. */
const pruneEveryMs = 10_000;
/** How long the end waits for a server that has gone silent. */
const endTimeoutMs = 2_000;

/** The socket under a connection, which the driver's types do not declare. */
type WithSocket = { readonly connection: { readonly stream: { destroy(): void } } };

export function keepIdle(pool: pg.Pool): ConnectionPool {
  /** A stack, so that connections that are not needed gather at the front. */
  const idle: pg.PoolClient[] = [];
  const broken = new WeakSet<pg.PoolClient>();
  /** The connections whose sockets are not closed. */
  const open = new Set<pg.PoolClient>();
  /** How often the pool had been renewed when the connection was opened. */
  const openedIn = new WeakMap<pg.PoolClient, number>();
  let renewals = 0;
  const returns = new WeakMap<pg.PoolClient, pg.PoolClient['release']>();
  let leastIdle = 0;
  let isEnding = false;

  pool.on('connect', (client) => {
    openedIn.set(client, renewals);
    open.add(client);
    const isOver = (): void => {
      broken.add(client);
      const index = idle.indexOf(client);
      if (index !== -1) end(idle.splice(index, 1));
    };
    client.once('error', isOver);
    client.once('end', isOver);
    client.once('end', () => open.delete(client));
  });
  const timer = setInterval(() => {
    end(idle.splice(0, leastIdle));
    leastIdle = idle.length;
  }, pruneEveryMs).unref();

  function end(clients: readonly pg.PoolClient[]): void {
    leastIdle = Math.min(leastIdle, idle.length);
    for (const client of clients) returns.get(client)?.(true);
  }

  const mustEnd = (client: pg.PoolClient) =>
    isEnding || broken.has(client) || openedIn.get(client) !== renewals;

  function kept(client: pg.PoolClient): pg.PoolClient {
    // The driver sets a new `release` each time it hands the connection out.
    returns.set(client, client.release);
    client.release = (error) => {
      // A connection kept twice would serve two callers, which would write into each other's transactions.
      if (idle.includes(client)) throw new Error('A database connection was released twice.');
      if (error || pool.waitingCount > 0 || mustEnd(client)) returns.get(client)?.(error || mustEnd(client));
      else idle.push(client);
    };
    return client;
  }

  return {
    connect() {
      const client = idle.pop();
      leastIdle = Math.min(leastIdle, idle.length);
      return client ? Promise.resolve(client) : pool.connect().then(kept);
    },
    renew() {
      renewals += 1;
      const dropped = idle.splice(0);
      // Destroyed first: a graceful end would wait for a server that may be gone.
      for (const client of dropped) destroy(client);
      end(dropped);
    },
    async end() {
      isEnding = true;
      clearInterval(timer);
      end(idle.splice(0));
      await pool.end();
      await Promise.all(Array.from(open, closed));
    },
    get totalCount() {
      return pool.totalCount;
    },
    get idleCount() {
      return pool.idleCount + idle.length;
    },
    get waitingCount() {
      return pool.waitingCount;
    },
  };
}

/** The driver's pool does not wait for it. The server closes its side when the session is over. */
function closed(client: pg.PoolClient): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      destroy(client);
      resolve();
    }, endTimeoutMs);
    client.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function destroy(client: pg.PoolClient): void {
  (client as unknown as WithSocket).connection.stream.destroy();
}
