// mandate jobs: list failing and stuck jobs, and retry stuck ones.
import { buildService } from '../../app/compose.ts';
import { printTable, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';

/** Accepted as long as the renamed commands in renamed.ts. */
const formerKinds: Readonly<Record<string, string>> = { letter: 'payer_email' };

export async function listStuckJobs(options: { json?: true }): Promise<void> {
  const jobs = await withFoundation((foundation) => buildService(foundation).jobs.stuckJobs());
  if (options.json) return printJson('jobs stuck', jobs);
  if (jobs.length === 0) return console.log('No job is stuck.');
  printTable(
    ['kind', 'id', 'party', 'since', 'reason'],
    jobs.map((job) => [job.kind, job.id, job.partyId, job.since, job.reason]),
  );
}

export async function listFailingJobs(options: { json?: true }): Promise<void> {
  const jobs = await withFoundation((foundation) => buildService(foundation).jobs.failingJobs());
  if (options.json) return printJson('jobs failing', jobs);
  if (jobs.length === 0) return console.log('No job is failing.');
  printTable(
    ['kind', 'id', 'party', 'tries', 'next try', 'reason'],
    jobs.map((job) => [
      job.kind,
      job.id,
      job.partyId,
      String(job.attempts),
      job.nextTryAt.slice(0, 19),
      job.reason,
    ]),
  );
}

export async function retryJobs(
  givenKind: string,
  id: string | undefined,
  { all }: { readonly all?: true },
): Promise<void> {
  if ((id === undefined) !== (all === true)) throw new Error('Give either the ID of a job or --all.');
  const kind = Object.hasOwn(formerKinds, givenKind) ? (formerKinds[givenKind] ?? givenKind) : givenKind;
  await withFoundation(async (foundation) => {
    const { jobs } = buildService(foundation);
    if (!jobs.kinds.includes(kind))
      throw new Error(`Unknown kind "${kind}". Use one of: ${jobs.kinds.join(', ')}.`);
    if (id === undefined) {
      const retried = await jobs.retryAll(kind);
      return console.log(`${retried} stuck jobs of kind "${kind}" are due again.`);
    }
    if (!(await jobs.retry(kind, id)))
      throw new Error(
        `No stuck job of kind "${kind}" has ID ${id}. List stuck jobs with "mandate jobs stuck".`,
      );
    console.log(`${kind} ${id} is due again. A running node runs it within a second.`);
  });
}
