// Sets when a row's job runs next, without any other change of the row.
import { statement } from '../database/statement.ts';

/** How the count of failures in a row changes. It sets the retry delays and decides when a job is stuck. */
const attemptsAfter = {
  /** The job did what it was due for. */
  restart: ', attempts = 0',
  /** The bank has responded: delays start again, but not at attempt 1, which alone sends without a query and may reroute. */
  afterFirst: ', attempts = least(attempts, 2)',
  /** The bank has proved nothing: the count continues until the job is stuck. */
  continue: '',
} as const;

const guarded = { version: 'int4', wake_at: 'timestamptz?' } as const;

/** Does nothing if the version has changed since it was read: the other writer has scheduled what comes next. */
export function rescheduleStatement<const Key extends string>(
  table: string,
  keys: readonly Key[],
  attempts: keyof typeof attemptsAfter,
  /** A stuck row waits for an operator. */
  { unlessStuck = false } = {},
) {
  const keyParameters = Object.fromEntries(keys.map((key) => [key, 'text'])) as Record<Key, 'text'>;
  return statement({
    name: `reschedule_${table}`,
    parameters: { ...keyParameters, ...guarded },
    row: {},
    text: `update ${table} set wake_at = :wake_at, stuck_reason = null${attemptsAfter[attempts]}
           where ${keys.map((key) => `${key} = :${key}`).join(' and ')} and version = :version${unlessStuck ? ' and stuck_at is null' : ''}`,
  });
}
