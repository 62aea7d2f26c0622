// Since when an object has had the status because of which a request is refused.
import { anyObject } from '../database/codec.ts';
import type { Database } from '../database/database.ts';
import { statement, stored } from '../database/statement.ts';
import type { Refusal } from '../../refusal.ts';

/** Reads all events of the aggregate, which only a refusal does. */
const readLatest = statement({
  name: 'read_latest_fact',
  parameters: { aggregate_id: 'text', members: stored('json', anyObject) },
  row: { at: 'timestamptz?' },
  text: `select max(created_at) as at from event, json_array_elements(facts) as fact
         where aggregate_id = :aggregate_id and fact::jsonb @> :members::jsonb`,
});

/** Completes the hint of a refusal that names such a fact of the aggregate. */
export async function withSince<Refused extends { readonly refusal: Refusal<string> }>(
  db: Pick<Database, 'run'>,
  refused: Refused,
  aggregateId: string,
): Promise<Refused> {
  const { hint, since } = refused.refusal;
  if (since === undefined) return refused;
  const [latest] = await db.run(readLatest, { aggregate_id: aggregateId, members: since });
  if (!latest?.at) return refused;
  return { ...refused, refusal: { ...refused.refusal, hint: `${hint} It has been so since ${latest.at}.` } };
}
