// mandate stuck: the operator's list of due work that failed too often.
import { buildService } from '../../app/compose.ts';
import { printTable, withFoundation } from '../foundation.ts';

export async function listStuck(options: { json?: true }): Promise<void> {
  const list = await withFoundation((foundation) => buildService(foundation).jobs.stuck());
  if (options.json) return console.log(JSON.stringify(list, null, 2));
  if (list.length === 0) return console.log('Nothing is stuck.');
  printTable(
    ['kind', 'id', 'party', 'since', 'reason'],
    list.map((work) => [work.table, work.id, work.partyId, work.since.slice(0, 19), work.reason]),
  );
}

export async function retryStuck(kind: string, id: string): Promise<void> {
  const found = await withFoundation((foundation) => buildService(foundation).jobs.retry(kind, id));
  if (!found) throw new Error(`nothing is stuck as ${kind} ${id}; mandate stuck list shows what is`);
  console.log(`${kind} ${id} is due again; a running node takes it up within a second.`);
}
