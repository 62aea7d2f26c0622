// mandate jobs: the operator's list of jobs that failed too often.
import { buildService } from '../../app/compose.ts';
import { printTable, withFoundation } from '../foundation.ts';

/** Accepted as long as the renamed commands are. */
const formerKinds: Readonly<Record<string, string>> = { letter: 'payer_email' };

export async function listStuckJobs(options: { json?: true }): Promise<void> {
  const jobs = await withFoundation((foundation) => buildService(foundation).jobs.stuckJobs());
  if (options.json) return console.log(JSON.stringify(jobs, null, 2));
  if (jobs.length === 0) return console.log('Nothing is stuck.');
  printTable(
    ['kind', 'id', 'party', 'since', 'reason'],
    jobs.map((job) => [job.kind, job.id, job.partyId, job.since.slice(0, 19), job.reason]),
  );
}

export async function retryJob(givenKind: string, id: string): Promise<void> {
  const kind = Object.hasOwn(formerKinds, givenKind) ? (formerKinds[givenKind] ?? givenKind) : givenKind;
  const found = await withFoundation((foundation) => buildService(foundation).jobs.retry(kind, id));
  if (!found)
    throw new Error(`no stuck job of kind ${kind} with ID ${id}; list them with mandate jobs stuck`);
  console.log(`${kind} ${id} is due again; a running node runs it within a second.`);
}
