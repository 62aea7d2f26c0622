// Connections that nobody uses, handed on at once. The driver's pool makes and ends connections, and lets those wait for whom there
// is none; but for each statement it sets two timers and waits a turn. So what it gave is kept here, and given back to it when somebody
// waits there, or to be ended: when the connection is of no more use, or was not needed for a while.
import type pg from 'pg';

/** Where connections come from: the driver's pool, or what stands in for it where the order of everything is decided. */
export type ConnectionPool = Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'> & {
  connect(): Promise<pg.PoolClient>;
  end(): Promise<void>;
};

/** What was not needed for so long is ended. */
const lookEveryMs = 10_000;

/** What the driver does not tell of a connection: under it lies a socket. */
type WithSocket = { readonly connection: { readonly stream: { destroy(): void } } };

export function keepIdle(pool: pg.Pool): ConnectionPool {
  /** The last one used is the first to be used again, so those that are not needed gather at the front. */
  const idle: pg.PoolClient[] = [];
  const broken = new WeakSet<pg.PoolClient>();
  const returns = new WeakMap<pg.PoolClient, pg.PoolClient['release']>();
  let leastIdle = 0;
  let isEnding = false;

  pool.on('connect', (client) => {
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
  }, lookEveryMs).unref();

  function end(clients: readonly pg.PoolClient[]): void {
    leastIdle = Math.min(leastIdle, idle.length);
    for (const client of clients) returns.get(client)?.(true);
  }

  /** Where one says nothing any more nobody trusts those beside it, nor says goodbye: that would be waited for. */
  function breakOff(): void {
    for (const client of idle) (client as unknown as WithSocket).connection.stream.destroy();
    end(idle.splice(0));
  }

  function kept(client: pg.PoolClient): pg.PoolClient {
    // It makes another for each time it hands the connection out.
    returns.set(client, client.release);
    client.release = (error) => {
      // Kept twice it would be two people's at once, who then write into each other's transactions.
      if (idle.includes(client)) throw new Error('a connection was given back that was given back already');
      if (error) breakOff();
      if (error || isEnding || broken.has(client) || pool.waitingCount > 0)
        returns.get(client)?.(error ?? broken.has(client));
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
