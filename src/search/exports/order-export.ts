// Orders an export: for a merchant by the API, and for an operator by a command.
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Database } from '../../platform/database/database.ts';
import { compileCheck, validationMessage, validationMessageOf } from '../../platform/http/errors/validate.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { isTimeZone } from '../../retry-rules/domain/time-zones.ts';
import { wholeRange } from '../api/search-schema.ts';
import { commonZone } from '../sums/shop-zones.store.ts';
import { exportedKinds, type Export, type ExportedKind, type ExportTerms } from './domain/export.ts';
import { storeOrder } from './exports.store.ts';
import type { ExportSource, ExportSources } from './source.ts';

export type AskedExport = {
  readonly of: ExportedKind;
  readonly shopID?: string;
  readonly fromTime: string;
  readonly toTime: string;
  readonly filters?: object;
  readonly timeZone?: string;
  readonly delimiter?: ExportTerms['delimiter'];
  readonly byteOrderMark?: boolean;
};

export type OrderExport = (
  deps: { readonly db: Database; readonly ids: Ids; readonly merchants: Merchants },
  asked: AskedExport,
  by: { readonly partyId: string; readonly madeBy: string; readonly now: Instant },
) => Promise<Outcome<Export, 'invalidRequest' | 'searchTooWide' | 'shopNotFound' | 'tooManyExports'>>;

export function openOrderExport(sources: ExportSources): OrderExport {
  const checks = Object.fromEntries(
    exportedKinds.map((kind) => [kind, filterCheckOf(sources[kind])]),
  ) as Readonly<Record<ExportedKind, ReturnType<typeof filterCheckOf>>>;

  return async ({ db, ids, merchants }, asked, { partyId, madeBy, now }) => {
    const { of, shopID, filters = {}, timeZone } = asked;
    const { isOfShop } = sources[of];
    const faultOf = checks[of];
    if (isOfShop && shopID === undefined) return faulty('shopID', 'not_found', `name the shop of the ${of}`);
    if (!isOfShop && shopID !== undefined)
      return faulty('shopID', 'schema_violated', `leave it out: ${of} are of no shop`);
    const fault = faultOf(filters);
    if (fault) return refuse('invalidRequest', { message: fault });
    if (timeZone !== undefined && !isTimeZone(timeZone))
      return faulty('timeZone', 'wrong_format', 'must be an IANA name such as Europe/Moscow');
    const range = wholeRange(asked);
    if (!range.ok) return range;
    const shop = shopID === undefined ? undefined : await merchants.shop(partyId, shopID);
    if (shopID !== undefined && !shop) return refuse('shopNotFound');
    const order = {
      id: ids.next(),
      partyId,
      madeBy,
      createdAt: now,
      terms: {
        of,
        ...range.value,
        filters: { ...filters },
        timeZone: timeZone ?? (shop ? await commonZone(db, partyId, [shop]) : 'UTC'),
        delimiter: asked.delimiter ?? ',',
        hasByteOrderMark: asked.byteOrderMark ?? false,
        ...defined({ shopId: shopID }),
      },
    };
    if (!(await storeOrder(db, order))) return refuse('tooManyExports');
    return accept({ ...order, run: 0, rows: 0n, bytes: 0n });
  };
}

/** What is wrong with filters. One with another name would be passed over, and the file would have more than was asked for. */
function filterCheckOf({ filters: known }: ExportSource) {
  const check = compileCheck(known);
  const names = Object.keys(known.properties);
  return (filters: object): string | undefined => {
    if (Object.keys(filters).some((name) => !names.includes(name)))
      return validationMessage('filters', 'schema_violated', `use ${names.join(', ')} alone`);
    const fault = check?.(filters)?.next().value;
    return fault && validationMessageOf({ ...fault, where: `filters.${fault.where}` });
  };
}

function faulty(parameter: string, type: string, description: string) {
  return refuse('invalidRequest', { message: validationMessage(parameter, type, description) });
}
