// The shape of an export on the wire.
import { Type, type Static } from 'typebox';
import type { Caller } from '../../../caller.ts';
import { defined } from '../../../defined.ts';
import { hasScope, type Scope } from '../../../platform/http/access.ts';
import { DateTime, EntityID } from '../../../platform/http/schemas.ts';
import { ShopsFilter } from '../shop-filter.ts';
import {
  exportedKinds,
  exportStatuses,
  statusOf,
  type Export,
  type ExportedKind,
} from '../../exports/domain/export.ts';
import type { Exports } from '../../exports/port.ts';

export const ExportParams = Type.Object(
  {
    of: Type.Enum([...exportedKinds]),
    ...ShopsFilter,
    fromTime: DateTime,
    toTime: DateTime,
    filters: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'Other parameters of the search.' }),
    ),
    timeZone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    delimiter: Type.Optional(Type.Enum([',', ';'])),
    byteOrderMark: Type.Optional(Type.Boolean()),
    columns: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 40 }), {
        minItems: 1,
        maxItems: 40,
        description: 'In this order. Absent: all.',
      }),
    ),
  },
  { title: 'ExportParams' },
);

export const ExportSchema = Type.Object(
  {
    id: EntityID,
    of: Type.Enum([...exportedKinds]),
    createdAt: DateTime,
    status: Type.Enum([...exportStatuses]),
    rows: Type.Integer(),
    bytes: Type.Integer(),
    error: Type.Optional(Type.Enum(['tooManyRows', 'tooWide'])),
    asOf: Type.Optional(DateTime),
    sha256: Type.Optional(Type.String()),
    md5: Type.Optional(Type.String()),
    url: Type.Optional(Type.String()),
    expiresAt: Type.Optional(DateTime),
  },
  { title: 'Export' },
);

/** The key that asks: who ordered an export, and who got the link to its file. */
export function madeBy(caller: Caller): string {
  return caller.kind === 'apiKey' ? caller.keyId : caller.kind;
}

export function exportBody(
  found: Export,
  links: Exports['links'],
  caller: Caller,
): Static<typeof ExportSchema> {
  const { id, terms, createdAt, rows, bytes, failure, asOf, sha256, md5, expiresAt } = found;
  const error = failure === 'cancelled' ? undefined : failure;
  return {
    id,
    of: terms.of,
    createdAt,
    status: statusOf(found),
    rows: Number(rows),
    bytes: Number(bytes),
    ...defined({ error, asOf, sha256, md5, expiresAt }),
    ...(sha256 === undefined ? {} : { url: links.issue(found, madeBy(caller)) }),
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
