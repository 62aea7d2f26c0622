// mandate jobs: the operator's list of jobs that failed too often.
import { buildService } from '../../app/compose.ts';
import { printTable, withFoundation } from '../foundation.ts';

/** The kind of a job is its table, but for this one. */
const tableOfEmails = 'letter';
const kindOfEmails = 'payer_email';

export async function listStuckJobs(options: { json?: true }): Promise<void> {
  const found = await withFoundation((foundation) => buildService(foundation).jobs.stuckJobs());
  const jobs = found.map((job) => ({ ...job, kind: job.kind === tableOfEmails ? kindOfEmails : job.kind }));
  if (options.json) return console.log(JSON.stringify(jobs, null, 2));
  if (jobs.length === 0) return console.log('Nothing is stuck.');
  printTable(
    ['kind', 'id', 'party', 'since', 'reason'],
    jobs.map((job) => [job.kind, job.id, job.partyId, job.since.slice(0, 19), job.reason]),
  );
}

export async function retryJob(kind: string, id: string): Promise<void> {
  const table = kind === kindOfEmails ? tableOfEmails : kind;
  const found = await withFoundation((foundation) => buildService(foundation).jobs.retry(table, id));
  if (!found)
    throw new Error(`no stuck job of kind ${kind} with ID ${id}; list them with mandate jobs stuck`);
  console.log(`${kind} ${id} is due again; a running node runs it within a second.`);
}
