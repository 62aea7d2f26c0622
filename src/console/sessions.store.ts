// Sessions of the console in SQL. A link and the session that it opens are one row.
import { columnList, parameterList, statement } from '../platform/database/statement.ts';

const viewer = { party_id: 'text?', is_operator: 'bool' } as const;
const made = { session_id: 'text', ...viewer, made_by: 'text', created_at: 'timestamptz' } as const;
const inserted = { ...made, livemode: 'bool', link_hash: 'bytea' } as const;

export const insertSession = statement({
  name: 'insert_console_session',
  parameters: inserted,
  row: {},
  text: `insert into console_session (${columnList(inserted)}) values (${parameterList(inserted)})`,
});

/** Of two that use a link at once, the second finds it used. */
export const openSession = statement({
  name: 'open_console_session',
  parameters: {
    session_id: 'text',
    link_hash: 'bytea',
    session_hash: 'bytea',
    livemode: 'bool',
    linked_after: 'timestamptz',
    now: 'timestamptz',
  },
  row: { ...viewer, made_by: 'text' },
  text: `update console_session set session_hash = :session_hash, opened_at = :now, seen_at = :now
         where session_id = :session_id and link_hash = :link_hash and livemode = :livemode
           and opened_at is null and ended_at is null and created_at > :linked_after
         returning party_id, is_operator, made_by`,
});

export const findSession = statement({
  name: 'find_console_session',
  parameters: {
    session_id: 'text',
    session_hash: 'bytea',
    livemode: 'bool',
    seen_after: 'timestamptz',
    opened_after: 'timestamptz',
  },
  row: { ...viewer, opened_at: 'timestamptz', seen_at: 'timestamptz' },
  text: `select party_id, is_operator, opened_at, seen_at from console_session
         where session_id = :session_id and session_hash = :session_hash and livemode = :livemode
           and ended_at is null and seen_at > :seen_after and opened_at > :opened_after`,
});

/** Of many requests at once, one writes. */
export const continueSession = statement({
  name: 'continue_console_session',
  parameters: { session_id: 'text', seen_before: 'timestamptz', now: 'timestamptz' },
  row: {},
  text: `update console_session set seen_at = :now
         where session_id = :session_id and ended_at is null and seen_at <= :seen_before`,
});

export const endSession = statement({
  name: 'end_console_session',
  parameters: { session_id: 'text', now: 'timestamptz' },
  row: { session_id: 'text' },
  text: `update console_session set ended_at = coalesce(ended_at, :now)
         where session_id = :session_id returning session_id`,
});

export const listSessions = statement({
  name: 'list_console_sessions',
  parameters: {},
  row: { ...made, opened_at: 'timestamptz?', seen_at: 'timestamptz?', ended_at: 'timestamptz?' },
  text: `select session_id, party_id, is_operator, made_by, created_at, opened_at, seen_at, ended_at
         from console_session order by created_at desc, session_id limit 1000`,
});

export const purgeSessions = statement({
  name: 'purge_console_sessions',
  parameters: { created_before: 'timestamptz' },
  row: {},
  text: 'delete from console_session where created_at < :created_before',
});
