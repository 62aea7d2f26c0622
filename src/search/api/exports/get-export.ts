// Reads how far an export is, and where its file is.
import { Type } from 'typebox';
import type { Database } from '../../../platform/database/database.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { EntityID } from '../../../platform/http/schemas.ts';
import { accept, refuse } from '../../../refusal.ts';
import { findExport } from '../../exports/exports.store.ts';
import type { Exports } from '../../exports/port.ts';
import { exportBody, ExportSchema, mayExport } from './export-schema.ts';

export const getExport = endpoint({
  operation: 'getExport',
  access: { scope: 'payments:read' },
  method: 'GET',
  path: '/v2/analytics/exports/{exportID}',
  tag: 'Analytics',
  summary: 'Get an export and the link to its file',
  params: Type.Object({ exportID: EntityID }),
  status: 200,
  response: ExportSchema,
  errors: ['exportNotFound'],
  handle: async ({ caller, params, now }, { db, exports }: { db: Database; exports: Exports }) => {
    const found = await findExport(db, caller.partyId, params.exportID);
    if (!found || !mayExport(caller, found.terms.of)) return refuse('exportNotFound');
    if (found.expiresAt !== undefined && found.expiresAt <= now) return refuse('exportNotFound');
    return accept(exportBody(found, exports.links, caller));
  },
});
