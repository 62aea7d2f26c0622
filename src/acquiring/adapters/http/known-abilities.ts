// Remembers what a bank can do, and asks it again in the background.
import type { Logger } from '../../../platform/log.ts';
import { abilitiesOfVersion1, type Abilities } from '../../domain/abilities.ts';
import type { Exchange } from './link.ts';
import { abilitiesOf, misfitLimitsIn, unknownNetworksIn } from './read-capabilities.ts';
import { parseMessage } from './responses.ts';

const freshMs = 5 * 60_000;
/** A bank that did not say what it can do is asked again soon. */
const retryMs = 10_000;
/** What a bank of the first version says of a path that it does not know. Any other status may come from something in front of it. */
const noSuchPath = [400, 404, 405, 501];

/** It may be one that forgets, so nothing is sent again to it. */
const unheard: Abilities = { ...abilitiesOfVersion1, repeatableMs: 0 };

type Options = {
  /** The address, for the log. */
  readonly bank: string;
  readonly nowMs: () => number;
  readonly log: Pick<Logger, 'warn'>;
  /** Never throws. */
  readonly ask: () => Promise<Exchange>;
  /** What another node has heard, which counts until the bank answers. */
  readonly lastSaid?: string | undefined;
  readonly onSaid?: ((abilities: string) => Promise<unknown>) | undefined;
};

export function openKnownAbilities({ bank, nowMs, log, ask, lastSaid, onSaid }: Options) {
  const before = lastSaid === undefined ? undefined : abilitiesOf(parseMessage(Buffer.from(lastSaid)));
  let known: Abilities | undefined;
  let freshUntilMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;
  const warnOnce = onceLogged(log, bank);
  const keeping = openKeeping(onSaid);

  async function learn(): Promise<void> {
    const said = read(await ask());
    known = said ?? known;
    freshUntilMs = nowMs() + (said ? freshMs : retryMs);
    asking = undefined;
  }

  /** Undefined if it does not say what the bank can do. */
  function read(exchange: Exchange): Abilities | undefined {
    if (exchange.kind === 'nothing') return undefined;
    const { status, body } = exchange;
    // It may be the answer of a proxy, so a bank that has said more before has not become one of the first version.
    if (noSuchPath.includes(status)) return known ?? before ?? abilitiesOfVersion1;
    const said = status === 200 ? parseMessage(body) : undefined;
    const abilities = abilitiesOf(said);
    const faults = faultsIn(said, abilities);
    if (!abilities) warnOnce({ status }, 'a bank does not say what it can do');
    else if (faults) warnOnce(faults, 'what a bank says it can do is partly ignored');
    if (abilities) keeping.keep(body.toString());
    return abilities;
  }

  function refresh(): Promise<void> | undefined {
    if (nowMs() >= freshUntilMs) asking ??= learn();
    return asking;
  }

  return {
    /** Undefined until the bank has answered a node once. */
    now({ asksAgain = true } = {}): Abilities | undefined {
      if (asksAgain) void refresh();
      return known ?? before;
    },
    /** Waits for the first answer, and for no later one. */
    async heard(): Promise<Abilities> {
      const answer = refresh();
      if (!known) await answer;
      return known ?? before ?? unheard;
    },
    stop: () => keeping.stop(),
  };
}

function faultsIn(said: unknown, abilities: Abilities | undefined) {
  const networks = unknownNetworksIn(said);
  const isMemoryUnknown = abilities?.repeatableMs === 0;
  const limits = misfitLimitsIn(said);
  if (networks.length === 0 && limits.length === 0 && !isMemoryUnknown) return undefined;
  return {
    ...(networks.length > 0 && { networks }),
    ...(limits.length > 0 && { limits }),
    ...(isMemoryUnknown && { repeatable: 'no time' }),
  };
}

/** Nothing waits for what is kept, until the end. What cannot be kept is kept after the next answer. */
function openKeeping(onSaid: Options['onSaid']) {
  let keeping: Promise<unknown> = Promise.resolve();
  let isStopped = false;
  return {
    keep(abilities: string): void {
      if (!isStopped) keeping = keeping.then(() => onSaid?.(abilities)).catch(() => undefined);
    },
    /** Nothing is kept afterwards. */
    async stop(): Promise<void> {
      isStopped = true;
      await keeping;
    },
  };
}

/** The same again says nothing new. */
function onceLogged(log: Options['log'], bank: string) {
  let last = '';
  return (fields: object, message: string): void => {
    const text = JSON.stringify([message, fields]);
    if (text !== last) log.warn({ bank, ...fields }, message);
    last = text;
  };
}
