// How many rounds the end of a world may take. A world that needs more has a job that does not end.

/** For everything but payouts: most of it ends in the same few rounds. */
const usual = 500;
/**
 * A payout that is held back is looked at hourly for a day, more often at first, and then until it is stuck. Each may have rounds of its
 * own, because they began at different minutes.
 */
const ofPayout = 55;

export function roundsFor(openPayouts: number): number {
  return usual + openPayouts * ofPayout;
}
