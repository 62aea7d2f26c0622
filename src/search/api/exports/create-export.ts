// Orders a file of what a search finds.
import { endpoint } from '../../../platform/http/endpoint.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { Ids } from '../../../ids.ts';
import type { Merchants } from '../../../merchants/merchants.ts';
import { accept } from '../../../refusal.ts';
import type { Exports } from '../../exports/port.ts';
import { exportBody, ExportParams, ExportSchema, exportScopes, madeBy } from './export-schema.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly payouts: { readonly livemode: boolean };
  readonly exports: Exports;
  readonly jobs: { wake(): void };
};

export const createExport = endpoint({
  operation: 'createExport',
  access: { scope: 'payments:read' },
  method: 'POST',
  path: '/v2/analytics/exports',
  tag: 'Analytics',
  summary: 'Order a CSV file of what a search finds',
  body: ExportParams,
  bodyExample: {
    of: 'payments',
    shopID: 'TEST',
    fromTime: '2026-01-01T00:00:00Z',
    toTime: '2027-01-01T00:00:00Z',
  },
  status: 202,
  response: ExportSchema,
  extraScopes: exportScopes,
  errors: ['shopNotFound', 'searchTooWide', 'tooManyExports'],
  handle: async ({ caller, body, now }, { jobs, exports, ...deps }: Deps) => {
    const by = { partyId: caller.partyId, madeBy: madeBy(caller), now };
    const facts = { party: by.partyId, kind: body.of, by: by.madeBy };
    const ordered = await exports.order(deps, body, by);
    if (!ordered.ok) {
      exports.log.info({ ...facts, code: ordered.refusal.code }, 'export refused');
      return ordered;
    }
    const { id } = ordered.value;
    deps.db.afterCommit(() => {
      exports.log.info({ export: id, ...facts }, 'export ordered');
      jobs.wake();
    });
    return accept(exportBody(ordered.value, exports.links, caller));
  },
});
