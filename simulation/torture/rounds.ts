// How many rounds the torture has. A round kills one process and disturbs once more.

export type Round = {
  /** Kills a process and starts it again. */
  kill(turn: number): Promise<void>;
  /** Another disturbance, which repairs what it broke. */
  disturb(turn: number): Promise<void>;
};

export type Died = { readonly kills: number; readonly problem?: string };

/** Looks in a round for the operations of its share; each is followed by a pause. */
const looksInRound = 600;

/**
 * Continues until both numbers are reached, so that a slow machine proves as much as a quick one. Twice the kills without enough
 * operations is a problem: the service hardly works.
 */
export async function byCount(
  { kill, disturb }: Round,
  wish: { readonly kills: number; readonly operations: number },
  trade: { acknowledged(): number; pause(): Promise<void> },
): Promise<Died> {
  const { acknowledged, pause } = trade;
  const most = 2 * wish.kills;
  const share = Math.ceil(wish.operations / wish.kills);
  let kills = 0;
  while (kills < wish.kills || acknowledged() < wish.operations) {
    if (kills === most) {
      const problem = `only ${acknowledged()} of ${wish.operations} operations were acknowledged in ${most} kills`;
      return { kills, problem };
    }
    const before = acknowledged();
    await kill(kills);
    await disturb(kills);
    kills += 1;
    for (let look = 0; look < looksInRound && acknowledged() < before + share; look++) await pause();
  }
  return { kills };
}

/** Spreads the kills evenly over the time. Kills come first if time is short. */
export async function byTime(
  { kill, disturb }: Round,
  wish: { readonly kills: number; readonly ms: number },
  clock: { now(): number; pause(ms: number): Promise<void> },
): Promise<Died> {
  const { now, pause } = clock;
  const until = now() + wish.ms;
  let kills = 0;
  for (let turn = 0; kills < wish.kills && now() < until; turn++) {
    const roundEnds = now() + Math.max(0, (until - now()) / (wish.kills - kills));
    await kill(turn);
    kills += 1;
    if (now() <= roundEnds) await disturb(turn);
    await pause(Math.max(0, roundEnds - now()));
  }
  return kills < wish.kills ? { kills, problem: `only ${kills} of ${wish.kills} kills fitted` } : { kills };
}
