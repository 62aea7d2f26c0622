// What an error says about a database that cannot serve: whether its connection is still of use, and whether the statement can have
// done something. Codes are those of PostgreSQL's Appendix A; PgBouncer sends its own errors as 08P01.
import { codeOf } from '../../../error-code.ts';

/** The database cannot be reached or accepts no writes. Nothing was done there, so the request can safely be repeated. */
export class DatabaseUnavailable extends Error {
  readonly isOutage = true;
  constructor(cause: unknown, what = 'cannot be reached') {
    super(
      `The database ${what}: ${whyOf(cause)}. Check that PostgreSQL runs, and DATABASE_URL if it is set.`,
      {
        cause,
      },
    );
  }
}

/** The connection was lost while PostgreSQL may have committed. What was sent is done or not, and nothing here knows. */
export class CommitUnknown extends Error {
  readonly isOutage = true;
  constructor(cause: unknown) {
    super(
      `The database did not confirm a statement, so its outcome is unknown: ${whyOf(cause)}. Check what was written before you repeat it.`,
      { cause },
    );
  }
}

/** A response with one of them comes instead of a commit: PostgreSQL has rolled back, or there never was a session. */
const rolledBack: readonly string[] = [
  '57P01', // the server was stopped, or the session ended by an operator
  '57P03', // starting up, shutting down or recovering
  '53300', // no connection is free
  '08001', // no connection to the server
  '08004', // the connection was refused
  '25006', // a standby, or a server set to read-only
];

/** What PgBouncer says to a client that has no server connection at that moment. */
const withoutServer =
  /^(query_wait_timeout|server login |server DNS lookup failed|pgbouncer cannot connect|server shutting down|client_login_timeout|no more connections allowed)/;

/** The driver refuses to send on a connection that has ended. */
const notSent = /^(Client has encountered a connection error|Client was closed) and is not queryable$/;

/** What the driver says of a connection that ended. Errors of the socket have a code instead. */
const connectionEnded = /^Connection terminated/;
const socketErrors: readonly string[] = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Whether the connection is of no further use: it is lost or silent, or its server cannot serve. */
export function isUnavailable(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return (
    isSilence(error) ||
    rolledBack.includes(code) ||
    code === '57P02' ||
    (code.startsWith('08') && isFatal(error)) ||
    socketErrors.includes(code) ||
    connectionEnded.test(error.message) ||
    notSent.test(error.message)
  );
}

/** Whether nothing was done, although what was sent could commit: a single statement, or `commit`. */
function provesNothingDone(error: Error): boolean {
  const code = codeOf(error);
  return (
    rolledBack.includes(code) ||
    (code === '08P01' && withoutServer.test(error.message)) ||
    notSent.test(error.message)
  );
}

/** The driver's message for a query that timed out; it has no code. */
export function isSilence(error: Error | undefined): boolean {
  return error?.message === 'Query read timeout';
}

/** No server listens there: the server was stopped or killed. */
export function isServerGone(error: unknown): boolean {
  return ['ENOENT', 'ECONNREFUSED'].includes(codeOf(error));
}

/** The error for the caller. `mayHaveCommitted` is false before a transaction's commit, and for reads. */
export function explained(error: unknown, mayHaveCommitted: boolean): unknown {
  if (!isUnavailable(error)) return error;
  if (mayHaveCommitted && !provesNothingDone(error)) return new CommitUnknown(error);
  return new DatabaseUnavailable(error, codeOf(error) === '25006' ? 'accepts no writes' : undefined);
}

/** A protocol violation that the connection survives is a fault of the program, such as a wrong number of parameters. */
function isFatal(error: Error): boolean {
  return 'severity' in error && error.severity === 'FATAL';
}

function whyOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
