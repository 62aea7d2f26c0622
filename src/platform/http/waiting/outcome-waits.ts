// A caller that sends Prefer: wait gets its response when the outcome is known. The work is done by then, so whatever happens to the
// wait, the caller gets the response of the work or a later one.
import type { Caller } from '../../../caller.ts';
import { logFailure } from '../../jobs/outages.ts';
import type { JobRow, Waits } from '../../jobs/waits.ts';
import type { Logger } from '../../log.ts';
import { wishedSeconds } from './prefer.ts';

/** Without `known`, a bank has the next word, or the payer who was asked to authenticate. */
export type AwaitedState<Answer> = { readonly body: Answer; readonly is: 'pending' | 'payerAsked' | 'known' };

/** What an operation's response says of an outcome that is found later. */
export type AwaitedOutcome<Params, Answer, Deps> = {
  /** The job that finds it. */
  readonly job: (answer: Answer, params: Params) => JobRow;
  /** The response as it would be now. Undefined if there is nothing any more. */
  readonly look: (
    deps: Deps,
    named: { readonly answer: Answer; readonly params: Params; readonly caller: Caller },
  ) => Promise<AwaitedState<Answer> | undefined>;
};

const maxWaitingOfCaller = 4;
/** Time for the last read, which may hang as the database may. */
const lastReadMs = 1_000;
/** What a deadline keeps for that, and for the response. */
const keptOfDeadlineMs = lastReadMs + 500;

type Wish = {
  readonly caller: Caller;
  readonly prefer: string | undefined;
  readonly deadline: { leftMs(): number };
  /** The caller is gone. */
  readonly ended: AbortSignal;
};

/** How long, in whole seconds, and for which slot. It is released by the one who gets it. */
export type Granted = { readonly seconds: number; readonly ended: AbortSignal; release(): void };

export type OutcomeWaits = ReturnType<typeof openOutcomeWaits>;

export function openOutcomeWaits(waits: Waits, log: Pick<Logger, 'warn' | 'debug'>) {
  const waitingOf = new Map<string, number>();
  const watched = watchReads(log);

  return {
    /** Undefined if the request does not wait. */
    grant({ caller, prefer, deadline, ended }: Wish): Granted | undefined {
      const wished = wishedSeconds(prefer);
      if (wished === undefined || waits.isStopped() || ended.aborted) return undefined;
      const seconds = Math.min(wished, Math.floor((deadline.leftMs() - keptOfDeadlineMs) / 1_000));
      const holder = holderOf(caller);
      const others = waitingOf.get(holder) ?? 0;
      if (seconds < 1 || others >= maxWaitingOfCaller) return undefined;
      waitingOf.set(holder, others + 1);
      const release = () => {
        const left = (waitingOf.get(holder) ?? 1) - 1;
        if (left > 0) waitingOf.set(holder, left);
        else waitingOf.delete(holder);
      };
      return { seconds, ended, release };
    },

    /** The latest response that could be read. A read that fails or hangs does not undo what was done. */
    async latest<Answer>(
      { seconds, ended }: Omit<Granted, 'release'>,
      job: JobRow,
      first: AwaitedState<Answer> | { readonly body: Answer },
      look: () => Promise<AwaitedState<Answer> | undefined>,
    ): Promise<{ readonly body: Answer; readonly isCutOff: boolean }> {
      let { body } = first;
      let before = 'is' in first ? first.is : undefined;
      let isOver = false;
      const lookAgain = watched(job[0], look);
      const read = async () => {
        const found = await lookAgain();
        if (found) ({ body } = found);
        // A payer who was asked before the request still has to do it. One who is asked now can be sent on.
        const isAskedNow = found?.is === 'payerAsked' && before !== undefined && before !== 'payerAsked';
        before ??= found?.is;
        isOver = found?.is === 'known' || isAskedNow;
      };
      const waited = waits.readUntil(job, read, () => isOver, { forMs: seconds * 1_000, ended });
      await within(waited, seconds * 1_000 + lastReadMs);
      return { body, isCutOff: waits.isStopped() && !isOver };
    },
  };
}

/** A read that fails is undefined. It is logged once for all that wait while that lasts, and once for a wait that fails among others. */
function watchReads(log: Pick<Logger, 'warn' | 'debug'>) {
  /** The kinds of jobs whose last read failed. */
  const failing = new Set<string>();
  return <Found>(kind: string, look: () => Promise<Found>) => {
    let isLogged = false;
    return async (): Promise<Found | undefined> => {
      try {
        const found = await look();
        failing.delete(kind);
        return found;
      } catch (error) {
        if (!isLogged && !failing.has(kind)) logFailure(log, error, { kind }, 'awaited outcome not read');
        isLogged = true;
        failing.add(kind);
        return undefined;
      }
    };
  };
}

/** All tokens of an entity wait together: a payer can have any number of them. */
function holderOf(caller: Caller): string {
  return caller.kind === 'apiKey' ? `key ${caller.keyId}` : `${caller.kind} ${caller.entityId}`;
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, expired]);
  clearTimeout(timer);
}
