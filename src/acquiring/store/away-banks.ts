// What nodes report about banks that are away, for commands.
import { statement } from '../../platform/database/statement.ts';

/** Nodes that agree report the earliest time. A node that stopped reports no more. */
export const reportAway = statement({
  name: 'report_away_bank',
  parameters: { bank_id: 'text', since: 'timestamptz', because: 'text', now: 'timestamptz' },
  row: {},
  text: `update bank
         set away_since = least(:since, case when away_seen_at > :now - interval '2 minutes' then away_since end),
             away_because = :because, away_seen_at = :now
         where bank_id = :bank_id`,
});

/** A node for which it is still away reports that within ten seconds. */
export const reportBack = statement({
  name: 'report_bank_back',
  parameters: { bank_id: 'text' },
  row: {},
  text: `update bank set away_since = null, away_because = null, away_seen_at = null
         where bank_id = :bank_id and away_since is not null`,
});

export const listAwayBanks = statement({
  name: 'list_away_banks',
  parameters: { now: 'timestamptz' },
  row: { bank_id: 'text', away_since: 'timestamptz', away_because: 'text' },
  text: `select bank_id, away_since, away_because from bank where away_seen_at > :now - interval '2 minutes'`,
});
