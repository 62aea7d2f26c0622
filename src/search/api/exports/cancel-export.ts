// Ends an export before its file is made.
import { Type } from 'typebox';
import type { Database } from '../../../platform/database/database.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { EntityID } from '../../../platform/http/schemas.ts';
import { accept, refuse } from '../../../refusal.ts';
import { cancelExport as cancel } from '../../exports/cancel-export.ts';
import { findExport } from '../../exports/exports.store.ts';
import type { Exports } from '../../exports/port.ts';
import { exportBody, ExportSchema, madeBy, mayExport } from './export-schema.ts';

export const cancelExport = endpoint({
  operation: 'cancelExport',
  access: { scope: 'payments:read' },
  method: 'POST',
  path: '/v2/analytics/exports/{exportID}/cancel',
  tag: 'Analytics',
  summary: 'Cancel an export that is not ready',
  description: 'A repeat changes nothing. A file that is ready stays until it expires.',
  params: Type.Object({ exportID: EntityID }),
  status: 200,
  response: ExportSchema,
  errors: ['exportNotFound', 'exportIsOver'],
  handle: async (
    { caller, params, now },
    { db, exports }: { readonly db: Database; readonly exports: Exports },
  ) => {
    const of = { partyId: caller.partyId, id: params.exportID };
    const found = await findExport(db, of.partyId, of.id);
    if (!found || !mayExport(caller, found.terms.of)) return refuse('exportNotFound');
    const cancelled = await cancel(db, of, now);
    const facts = { export: of.id, party: of.partyId, by: madeBy(caller) };
    if (!cancelled.ok) {
      exports.log.info({ ...facts, code: cancelled.refusal.code }, 'export cancellation refused');
      return cancelled;
    }
    db.afterCommit(() => exports.log.info(facts, 'export cancelled'));
    return accept(exportBody(cancelled.value, exports.links, caller));
  },
});
