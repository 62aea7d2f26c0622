// Connections on which a statement was not answered in time. They stay taken, because a commit that waits for a standby keeps its
// server process even when the connection is closed.
import type pg from 'pg';

export type Unanswered = {
  /** Keeps the connection taken until the server answers, or is known not to work on it. */
  hold(client: pg.PoolClient, error: Error): void;
  releaseAll(): void;
};

const askEveryMs = 1_000;

/** `commitsWait` asks the server that is reached now. If that one lets no commit wait, the held connections are waiting for nothing. */
export function holdUnanswered(commitsWait: () => Promise<boolean>): Unanswered {
  const held = new Map<pg.PoolClient, Error>();
  let asking = false;

  function release(client: pg.PoolClient): void {
    const error = held.get(client);
    if (held.delete(client)) client.release(error);
  }

  function releaseAll(): void {
    for (const client of held.keys()) release(client);
  }

  async function ask(): Promise<void> {
    // As long as no server can be asked, none can be given another connection either.
    if (!(await commitsWait().catch(() => true))) releaseAll();
    if (held.size > 0) setTimeout(() => void ask(), askEveryMs).unref();
    else asking = false;
  }

  return {
    hold(client, error) {
      held.set(client, error);
      // The answer came after all, or the connection ended.
      for (const event of ['drain', 'end'] as const) client.once(event, () => release(client));
      if (asking) return;
      asking = true;
      void ask();
    },
    releaseAll,
  };
}
