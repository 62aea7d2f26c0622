// Sends the file of an export to a client that has its link. A file that is cut off has fewer bytes than Content-Length says.
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { defined } from '../../defined.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Logger } from '../../platform/log.ts';
import { readExportFile, type FileKeys } from './export-file.ts';
import { findExport } from './exports.store.ts';
import type { FileLinks } from './file-links.ts';

export function addExportDownload(
  app: FastifyInstance,
  {
    db,
    keys,
    links,
    log,
  }: {
    readonly db: Pick<Database, 'run'>;
    readonly keys: FileKeys;
    readonly links: FileLinks;
    readonly log: Logger;
  },
): void {
  type Path = { readonly partyID: string; readonly exportID: string; readonly token: string };
  app.get<{ Params: Path }>('/exports/:partyID/:exportID/:token', async (request, reply) => {
    request.operation = 'downloadExport';
    const { partyID: partyId, exportID: id, token } = request.params;
    const by = await links.holderOf({ partyId, id }, token);
    const found = by === undefined ? undefined : await findExport(db, partyId, id);
    const facts = { export: id, party: partyId, ...defined({ by }) };
    if (found?.sha256 === undefined) {
      log.info(by === undefined ? {} : facts, 'export download refused');
      return reply
        .code(404)
        .type('text/plain; charset=utf-8')
        .send('This link is not valid. It works for ten minutes: read the export again for a new one.\n');
    }
    log.info(facts, 'export downloaded');
    return reply
      .headers({
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': `attachment; filename="${found.terms.of}-${id}.csv"`,
        'Content-Length': String(found.bytes),
        'Cache-Control': 'no-store',
      })
      .send(Readable.from(readExportFile({ db, keys }, found), { objectMode: false }));
  });
}
