// Keeps idle connections for immediate reuse, because the driver's pool sets two timers and waits a turn for each statement.
// A connection returns to that pool when a caller waits there, when it is broken, or when it was not needed for a while.
import type pg from 'pg';

/** Where connections come from: the driver's pool, or that of a simulation, which decides the order of everything. */
export type ConnectionPool = Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'> & {
  connect(): Promise<pg.PoolClient>;
  /** Ends the idle connections now, and each one in use when it is released: another server may have replaced theirs. */
  renew(): void;
  end(): Promise<void>;
};

/** A connection that stays idle for a whole interval is ended. */
const pruneEveryMs = 10_000;

/** The socket under a connection, which the driver's types do not declare. */
type WithSocket = { readonly connection: { readonly stream: { destroy(): void } } };

export function keepIdle(pool: pg.Pool): ConnectionPool {
  /** A stack, so that connections that are not needed gather at the front. */
  const idle: pg.PoolClient[] = [];
  const broken = new WeakSet<pg.PoolClient>();
  /** How often the pool had been renewed when the connection was opened. */
  const openedIn = new WeakMap<pg.PoolClient, number>();
  let renewals = 0;
  const returns = new WeakMap<pg.PoolClient, pg.PoolClient['release']>();
  let leastIdle = 0;
  let isEnding = false;

  pool.on('connect', (client) => {
    openedIn.set(client, renewals);
    const isOver = (): void => {
      broken.add(client);
      const index = idle.indexOf(client);
      if (index !== -1) end(idle.splice(index, 1));
    };
    client.once('error', isOver);
    client.once('end', isOver);
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
      if (error || pool.waitingCount > 0 || mustEnd(client)) returns.get(client)?.(error ?? mustEnd(client));
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
      for (const client of dropped) (client as unknown as WithSocket).connection.stream.destroy();
      end(dropped);
    },
    end() {
      isEnding = true;
      clearInterval(timer);
      end(idle.splice(0));
      return pool.end();
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
