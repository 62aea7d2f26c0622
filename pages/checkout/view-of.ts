// Decides which view is shown, from the events of the service and the actions on this page. Pure.
import type { TaskKind } from '../../src/checkout/domain/checkout-request.ts';
import type { View } from '../../src/checkout/domain/checkout-page.ts';
import type { Progress } from './progress.ts';

export type Doing = {
  /** A card is on its way to the service. */
  readonly isSending: boolean;
  /** The latest attempt began on this page, or was in progress when it opened. */
  readonly begunHere: boolean;
  readonly hasLeftChallenge: boolean;
  /** The attempt for which the payer has returned from their bank. */
  readonly confirmedAttempt: string | undefined;
};

export type Ending = 'paid' | 'held' | 'bound' | 'already';
export type Shown = { readonly view: View; readonly ending?: Ending; readonly declined?: string };

export function viewOf(kind: TaskKind, { invoice, attempt }: Progress, doing: Doing): Shown {
  if (invoice === 'paid') return { view: 'done', ending: doing.begunHere ? 'paid' : 'already' };
  if (invoice === 'cancelled') return { view: 'cancelled' };
  if (attempt?.state === 'pending') {
    if (!attempt.interaction || doing.confirmedAttempt === attempt.id) return { view: 'waiting' };
    return { view: doing.hasLeftChallenge ? 'left' : 'challenge' };
  }
  // An invoice is held for as long as its money is; what else has been done is done here.
  if (attempt?.state === 'held')
    return attempt.isHold ? { view: 'done', ending: 'held' } : { view: 'waiting' };
  if (doing.isSending) return { view: 'waiting' };
  if (attempt && doing.begunHere) {
    if (attempt.state === 'failed') return { view: 'form', declined: attempt.errorCode ?? '' };
    if (attempt.state === 'succeeded') {
      return kind === 'customer' ? { view: 'done', ending: 'bound' } : { view: 'waiting' };
    }
  }
  return { view: 'form' };
}

/** The payer may still have paid, or saved the card, once the attempt ends. */
export function isPendingView(view: View): boolean {
  return view === 'waiting' || view === 'challenge' || view === 'left';
}
