// Orders an export: for a merchant by the API, and for an operator by a command.
import { holdsCardNumber } from '../../cards/domain/written-numbers.ts';
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Database } from '../../platform/database/database.ts';
import { compileCheck, validationMessage, validationMessageOf } from '../../platform/http/errors/validate.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { isTimeZone } from '../../retry-rules/domain/time-zones.ts';
import type { Shop } from '../../merchants/domain/party.ts';
import { wholeRange } from '../api/search-schema.ts';
import { ShopsFilter, shopsOf, type ShopsAsked } from '../api/shop-filter.ts';
import { commonZone } from '../sums/shop-zones.store.ts';
import { exportedKinds, type Export, type ExportedKind, type ExportTerms } from './domain/export.ts';
import { columnNames } from './export-lines.ts';
import { storeOrder } from './exports.store.ts';
import type { ExportSource, ExportSources } from './source.ts';

export type AskedExport = ShopsAsked & {
  readonly of: ExportedKind;
  readonly fromTime: string;
  readonly toTime: string;
  readonly filters?: object;
  readonly timeZone?: string;
  readonly delimiter?: ExportTerms['delimiter'];
  readonly byteOrderMark?: boolean;
  readonly columns?: readonly string[];
};

export type OrderExport = (
  deps: {
    readonly db: Database;
    readonly ids: Ids;
    readonly merchants: Merchants;
    readonly payouts: { readonly livemode: boolean };
  },
  asked: AskedExport,
  by: { readonly partyId: string; readonly madeBy: string; readonly now: Instant },
) => Promise<Outcome<Export, 'invalidRequest' | 'searchTooWide' | 'shopNotFound' | 'tooManyExports'>>;

export function openOrderExport(sources: ExportSources): OrderExport {
  const checks = Object.fromEntries(
    exportedKinds.map((kind) => [kind, filterCheckOf(sources[kind])]),
  ) as Readonly<Record<ExportedKind, ReturnType<typeof filterCheckOf>>>;

  return async (deps, asked, { partyId, madeBy, now }) => {
    const { of, filters = {}, timeZone } = asked;
    const { isOfShop } = sources[of];
    const named = Object.keys(ShopsFilter).find((name) => name in asked);
    if (!isOfShop && named !== undefined)
      return faulty(named, 'schema_violated', `leave it out: ${of} are of no shop`);
    const fault = checks[of](filters);
    if (fault) return refuse('invalidRequest', { message: fault });
    const wrongColumn = wrongColumnIn(sources[of], asked.columns);
    if (wrongColumn !== undefined) return faulty('columns', 'no_match', wrongColumn);
    if (timeZone !== undefined && !isTimeZone(timeZone))
      return faulty('timeZone', 'wrong_format', 'must be an IANA name such as Europe/Moscow');
    const range = wholeRange(asked);
    if (!range.ok) return range;
    const shops = isOfShop
      ? await shopsOf(deps, { caller: { partyId }, query: asked })
      : accept<readonly Shop[]>([]);
    if (!shops.ok) return shops;
    const order = {
      id: deps.ids.next(),
      partyId,
      madeBy,
      createdAt: now,
      terms: {
        of,
        ...range.value,
        filters: { ...filters },
        timeZone: timeZone ?? (await commonZone(deps.db, partyId, shops.value)),
        delimiter: asked.delimiter ?? ',',
        hasByteOrderMark: asked.byteOrderMark ?? false,
        ...defined({ columns: asked.columns }),
        ...shopTerms(isOfShop ? shops.value : undefined),
      },
    };
    if (!(await storeOrder(deps.db, order))) return refuse('tooManyExports');
    return accept({ ...order, run: 0, rows: 0n, bytes: 0n });
  };
}

function shopTerms(shops: readonly Shop[] | undefined): Pick<ExportTerms, 'shopId' | 'shopIds'> {
  const ids = shops?.map(({ id }) => id);
  const [only] = ids ?? [];
  return ids?.length === 1 && only !== undefined ? { shopId: only } : defined({ shopIds: ids });
}

/** What is wrong with filters. One with another name would be passed over, and the file would have more than was asked for. */
function filterCheckOf({ filters: known }: ExportSource) {
  const check = compileCheck(known);
  const names = Object.keys(known.properties);
  return (filters: object): string | undefined => {
    if (Object.keys(filters).some((name) => !names.includes(name)))
      return validationMessage('filters', 'schema_violated', `use ${names.join(', ')} alone`);
    // An operator's command passes through no check of requests.
    const numbered = Object.entries(filters).find(([, value]) => holdsCardNumber(String(value)));
    if (numbered)
      return validationMessage(`filters.${numbered[0]}`, 'cardNumber', 'must not contain a card number');
    const fault = check?.(filters)?.next().value;
    return fault && validationMessageOf({ ...fault, where: `filters.${fault.where}` });
  };
}

function wrongColumnIn(source: ExportSource, columns: readonly string[] = []): string | undefined {
  const known = columnNames(source);
  if (columns.some((name) => !known.includes(name))) return `use ${known.join(', ')} alone`;
  return new Set(columns).size < columns.length ? 'name each column once' : undefined;
}

function faulty(parameter: string, type: string, description: string) {
  return refuse('invalidRequest', { message: validationMessage(parameter, type, description) });
}
