// The shape of an export on the wire.
import { Type, type Static } from 'typebox';
import type { Caller } from '../../../caller.ts';
import { defined } from '../../../defined.ts';
import { hasScope, type Scope } from '../../../platform/http/access.ts';
import { DateTime, EntityID } from '../../../platform/http/schemas.ts';
import { exportedKinds, statusOf, type Export, type ExportedKind } from '../../exports/domain/export.ts';
import type { Exports } from '../../exports/port.ts';

export const ExportParams = Type.Object(
  {
    of: Type.Enum([...exportedKinds]),
    shopID: Type.Optional({ ...EntityID, description: 'Of all but withdrawals.' }),
    fromTime: DateTime,
    toTime: DateTime,
    filters: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'Other parameters of the search.' }),
    ),
    timeZone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    delimiter: Type.Optional(Type.Enum([',', ';'])),
    byteOrderMark: Type.Optional(Type.Boolean()),
  },
  { title: 'ExportParams' },
);

export const ExportSchema = Type.Object(
  {
    id: EntityID,
    of: Type.Enum([...exportedKinds]),
    createdAt: DateTime,
    status: Type.Enum(['pending', 'running', 'ready', 'failed']),
    rows: Type.Integer(),
    bytes: Type.Integer(),
    error: Type.Optional(Type.Enum(['tooManyRows', 'tooWide'])),
    asOf: Type.Optional(DateTime),
    sha256: Type.Optional(Type.String()),
    url: Type.Optional(Type.String()),
    expiresAt: Type.Optional(DateTime),
  },
  { title: 'Export' },
);

export function exportBody(found: Export, links: Exports['links']): Static<typeof ExportSchema> {
  const { id, terms, createdAt, rows, bytes, failure: error, asOf, sha256, expiresAt } = found;
  return {
    id,
    of: terms.of,
    createdAt,
    status: statusOf(found),
    rows: Number(rows),
    bytes: Number(bytes),
    ...defined({ error, asOf, sha256, expiresAt }),
    ...(sha256 === undefined ? {} : { url: links.issue(found) }),
  };
}

/** An export has what a search shows, so it needs the same scope. */
const scopeOf = {
  payments: 'payments:read',
  refunds: 'payments:read',
  invoices: 'invoices:read',
  withdrawals: 'payouts:read',
} as const satisfies Record<ExportedKind, Scope>;

/** For what the scope of the operation is not enough. */
export const exportScopes = (['invoices', 'withdrawals'] as const).map((kind) => ({
  scope: scopeOf[kind],
  when: `for ${kind}`,
  isNeeded: ({ body }: { readonly body: { readonly of: ExportedKind } }) => body.of === kind,
}));

export function mayExport(caller: Caller, kind: ExportedKind): boolean {
  return hasScope(caller, scopeOf[kind]);
}
