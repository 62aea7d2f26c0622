import { describe, expect, test } from 'vitest';
import { DatabaseUnavailable, explained, CommitUnknown } from './unavailable.ts';

const response = (code: string, message: string, severity = 'FATAL') =>
  Object.assign(new Error(message), { code, severity });
const socketError = (code: string) => Object.assign(new Error(`read ${code}`), { code });

/** What the caller gets: before a commit can have happened, and when it can. */
function outcomes(error: Error): [before: unknown, after: unknown] {
  return [nameOf(explained(error, false), error), nameOf(explained(error, true), error)];
}

function nameOf(found: unknown, error: Error): string {
  if (found === error) return 'fault';
  if (found instanceof DatabaseUnavailable) return 'nothing done';
  return found instanceof CommitUnknown ? 'unknown' : 'another';
}

describe('an error of a database that cannot serve', () => {
  test.each([
    ['the server stops', response('57P01', 'terminating connection due to administrator command')],
    ['the server starts', response('57P03', 'the database system is starting up')],
    ['no connection is free', response('53300', 'sorry, too many clients already')],
    ['a standby', response('25006', 'cannot execute INSERT in a read-only transaction', 'ERROR')],
    ['no server is reached', response('08001', 'could not connect')],
    ['the connection is refused', response('08004', 'rejected')],
    ['PgBouncer has no server in time', response('08P01', 'query_wait_timeout')],
    [
      'PgBouncer cannot log in',
      response('08P01', 'server login has been failing, try again later (server_login_retry)'),
    ],
    [
      'PgBouncer is refused',
      response('08P01', 'server login failed: FATAL the database system is starting up'),
    ],
    ['PgBouncer has too many clients', response('08P01', 'no more connections allowed (max_client_conn)')],
    [
      'the connection had ended before',
      new Error('Client has encountered a connection error and is not queryable'),
    ],
  ])('says that nothing was done: %s', (_, error) => {
    expect(outcomes(error)).toEqual(['nothing done', 'nothing done']);
  });

  test.each([
    ['PgBouncer loses its server', response('08P01', 'server conn crashed?')],
    ['PgBouncer gives up a query', response('08P01', 'query timeout')],
    ['the connection fails', response('08006', 'connection failure')],
    ['another process crashed', response('57P02', 'terminating connection because of crash')],
    ['the connection ends', new Error('Connection terminated unexpectedly')],
    ['the connection is reset', socketError('ECONNRESET')],
    ['no response', new Error('Query read timeout')],
  ])('leaves the outcome unknown where a commit may have happened: %s', (_, error) => {
    expect(outcomes(error)).toEqual(['nothing done', 'unknown']);
  });

  test.each([
    ['syntax', response('42601', 'syntax error', 'ERROR')],
    ['a missing parameter', response('08P01', 'bind message supplies 1 parameters', 'ERROR')],
    ['a statement that takes too long', response('57014', 'canceling statement', 'ERROR')],
    ['an error without a code', new Error('something else')],
  ])('is not confused with a fault: %s', (_, error) => {
    expect(outcomes(error)).toEqual(['fault', 'fault']);
  });

  test('keeps the cause, and says what to do', () => {
    const cause = response('57P03', 'the database system is starting up');
    const found = explained(cause, true);
    expect(found).toMatchObject({
      cause,
      message: expect.stringContaining('is starting up. Check that PostgreSQL runs'),
    });
    const standby = explained(response('25006', 'read-only', 'ERROR'), true);
    expect(standby).toMatchObject({
      message: expect.stringMatching(/^The database accepts no writes: read-only/),
    });
    const lost = explained(new Error('Connection terminated'), true);
    expect(lost).toMatchObject({
      message: expect.stringContaining('Check what was written before you repeat it'),
    });
    expect(explained(found, false)).toBe(found);
    expect(explained('text', true)).toBe('text');
  });
});
