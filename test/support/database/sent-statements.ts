// Records the statements that the sessions of a test send to PostgreSQL.
import pg from 'pg';
import { vi } from 'vitest';

/** The name of each, or its text if it has none, until `vi.restoreAllMocks()`. */
export function recordStatements(isOfInterest: (name: string) => boolean = () => true): string[] {
  const sent: string[] = [];
  onQuery((name) => {
    if (isOfInterest(name)) sent.push(name);
  });
  return sent;
}

/** Calls it before each, until `vi.restoreAllMocks()`. */
export function onQuery(isSent: (name: string) => void): void {
  const query = pg.Client.prototype.query;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...parameters: any[]) {
    const [statement] = parameters;
    isSent(String(typeof statement === 'string' ? statement : (statement.name ?? statement.text)));
    return (query as any).apply(this, parameters);
  });
}
