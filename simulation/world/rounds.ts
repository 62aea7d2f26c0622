// How many rounds the end of a world may take. A world that needs more has a job that does not end.

/** For everything but payouts: most of it ends in the same few rounds. */
const usual = 500;
/**
 * A payout that is held back looks whether it may go: after as long as it has taken so far, then hourly for a day, then until it is
 * stuck. Each payout may have rounds of its own, because they began at different minutes.
 */
const ofPayout = 55;

export function roundsFor(openPayouts: number): number {
  return usual + openPayouts * ofPayout;
}
