// Orders exports, runs their jobs, and reads the files with a reader of CSV that the program does not use for them.
import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import type { Merchant, TestService } from '../service/test-service.ts';

export const exportsUrl = '/v2/analytics/exports';
export const wholeYear = { fromTime: '2026-01-01T00:00:00Z', toTime: '2026-12-31T00:00:00Z' };

export type FetchedExport = {
  readonly body: any;
  readonly text: string;
  readonly rows: readonly Record<string, string>[];
};

/** As a merchant does it: order, read until it is ready, fetch, and compare the hash. */
export async function fetchExport(
  service: TestService,
  { apiKey: token }: Merchant,
  asked: Record<string, unknown>,
): Promise<FetchedExport> {
  // What is not copied yet is not in the file.
  await service.search.whenIdle();
  const ordered = await service.call('POST', exportsUrl, { token, body: { ...wholeYear, ...asked } });
  if (ordered.status !== 202) throw new Error(`the export was not ordered: ${ordered.text}`);
  await service.jobs.whenIdle();
  return readExport(service, token, ordered.body.id);
}

export async function readExport(service: TestService, token: string, id: string): Promise<FetchedExport> {
  const { body } = await service.call('GET', `${exportsUrl}/${id}`, { token });
  if (body.status !== 'ready') throw new Error(`the export is ${JSON.stringify(body)}`);
  const { text, headers } = await service.call('GET', new URL(body.url).pathname);
  const hash = createHash('sha256').update(text).digest('hex');
  const length = String(Buffer.byteLength(text));
  if (hash !== body.sha256 || length !== String(body.bytes) || length !== headers['content-length'])
    throw new Error(`the file is not the one of ${JSON.stringify(body)}`);
  const rows: Record<string, string>[] = parse(text, { columns: true, bom: true, delimiter: [',', ';'] });
  if (rows.length !== body.rows) throw new Error(`${rows.length} rows, and not ${body.rows}`);
  return { body, text, rows };
}
