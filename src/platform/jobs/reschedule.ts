// When a row's job runs next, written without any other change of the row.
import { statement } from '../database/statement.ts';

/** What becomes of the count of failures in a row, by which the delays grow and a job gets stuck. */
const attemptsAfter = {
  /** The job did what it was due for. */
  restart: ', attempts = 0',
  /** The bank has responded: delays start again, but never as the first attempt, which alone sends without asking and may reroute. */
  afterFirst: ', attempts = least(attempts, 2)',
  /** The bank has proved nothing: that goes on counting until the job is stuck. */
  continue: '',
} as const;

const guarded = { version: 'int4', wake_at: 'timestamptz?' } as const;

/** Does nothing when the row is no longer at the version that was read: the other writer has scheduled what comes next. */
export function rescheduleStatement<const Key extends string>(
  table: string,
  keys: readonly Key[],
  attempts: keyof typeof attemptsAfter,
) {
  const keyParameters = Object.fromEntries(keys.map((key) => [key, 'text'])) as Record<Key, 'text'>;
  return statement({
    name: `reschedule_${table}`,
    parameters: { ...keyParameters, ...guarded },
    row: {},
    text: `update ${table} set wake_at = :wake_at${attemptsAfter[attempts]}
           where ${keys.map((key) => `${key} = :${key}`).join(' and ')} and version = :version`,
  });
}
