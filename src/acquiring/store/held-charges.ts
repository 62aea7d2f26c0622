// Banks that get no charges that Mandate begins automatically, in SQL. Every node reads the hold with the bank.
import { statement } from '../../platform/database/statement.ts';

/** No row if another node has held it, or it was resumed, since this node read `held_until`. */
export const holdCharges = statement({
  name: 'hold_charges_of_bank',
  parameters: {
    bank_id: 'text',
    held_until: 'timestamptz?',
    now: 'timestamptz',
    until: 'timestamptz',
    because: 'text',
  },
  row: { bank_id: 'text' },
  text: `update bank set charges_held_since = :now, charges_held_until = :until, charges_held_because = :because
         where bank_id = :bank_id and charges_held_until is not distinct from :held_until returning bank_id`,
});

/** Returns a row if they were held. The time stays in the row, so that each node sees that what it counted is of before. */
export const releaseCharges = statement({
  name: 'release_charges_of_bank',
  parameters: { bank_id: 'text', now: 'timestamptz' },
  row: { bank_id: 'text' },
  text: `update bank set charges_held_until = :now
         where bank_id = :bank_id and charges_held_until > :now returning bank_id`,
});

export const listHeldCharges = statement({
  name: 'list_banks_with_held_charges',
  parameters: { now: 'timestamptz' },
  row: { bank_id: 'text', charges_held_since: 'timestamptz' },
  text: 'select bank_id, charges_held_since from bank where charges_held_until > :now',
});
