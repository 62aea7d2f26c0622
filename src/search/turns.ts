// Lets few searches run at a time, because each may hold a connection for two seconds. Others wait their turn, and hold nothing.

export type Turns = {
  /** Busy, without running it, if so much of the party waits already. */
  run<T>(partyId: string, search: () => Promise<T>): Promise<T | 'busy'>;
};

type Waiting = { readonly partyId: string; readonly start: () => void };

/** A party has one at a time, so that none can hold what is there for all. */
const mostWaiting = 8;

export function openTurns(atOnce: number): Turns {
  const running = new Set<string>();
  const waiting: Waiting[] = [];

  function startNext(): void {
    if (running.size >= atOnce) return;
    const next = waiting.findIndex(({ partyId }) => !running.has(partyId));
    const [turn] = next === -1 ? [] : waiting.splice(next, 1);
    if (!turn) return;
    running.add(turn.partyId);
    turn.start();
  }

  return {
    async run(partyId, search) {
      if (waiting.filter((other) => other.partyId === partyId).length >= mostWaiting) return 'busy';
      const turn = new Promise<void>((start) => waiting.push({ partyId, start }));
      startNext();
      await turn;
      try {
        return await search();
      } finally {
        running.delete(partyId);
        startNext();
      }
    },
  };
}
