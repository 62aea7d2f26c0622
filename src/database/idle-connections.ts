// Connections that nobody uses, handed on at once. The driver's pool makes and ends connections, and lets those wait for whom there
// is none; but for each statement it sets two timers and waits a turn. So what it gave is kept here, and given back to it when somebody
// waits there, when the connection is of no more use, or when it was not needed for a while.
import type pg from 'pg';
import type { ConnectionPool } from './database.ts';

/** What was not needed for so long goes back to the driver's pool, which ends it after ten seconds more. */
const lookEveryMs = 10_000;

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
      const place = idle.indexOf(client);
      if (place !== -1) returnToPool(idle.splice(place, 1));
    };
    client.once('error', isOver);
    client.once('end', isOver);
  });
  const timer = setInterval(() => {
    returnToPool(idle.splice(0, leastIdle));
    leastIdle = idle.length;
  }, lookEveryMs).unref();

  function returnToPool(clients: readonly pg.PoolClient[]): void {
    leastIdle = Math.min(leastIdle, idle.length);
    for (const client of clients) returns.get(client)?.(broken.has(client));
  }

  function kept(client: pg.PoolClient): pg.PoolClient {
    // It makes another for each time it hands the connection out.
    returns.set(client, client.release);
    client.release = (error) => {
      // Kept twice it would be two people's at once, who then write into each other's transactions.
      if (idle.includes(client)) throw new Error('a connection was given back that was given back already');
      // Where one says nothing any more, nobody trusts those beside it: the server may have gone without a word.
      if (error) {
        for (const other of idle) broken.add(other);
        returnToPool(idle.splice(0));
      }
      if (error || isEnding || broken.has(client) || pool.waitingCount > 0) returns.get(client)?.(error);
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
      returnToPool(idle.splice(0));
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
