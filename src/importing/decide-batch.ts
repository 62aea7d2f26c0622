// Decides the rows of a batch on what is stored: which are imported, which are imported already, and why others cannot be.
import { isPast } from '../cards/domain/card.ts';
import type { Cards } from '../cards/vault.ts';
import type { Instant } from '../clock.ts';
import { approvalOf, type BindingImport, type CardOwner, type NewImport } from '../customers/port.ts';
import { defined } from '../defined.ts';
import type { Ids } from '../ids.ts';
import type { Shop } from '../merchants/domain/party.ts';
import type { Currency } from '../money.ts';
import type { Database } from '../platform/database/database.ts';
import { requestFingerprint } from '../platform/http/idempotent-create.ts';
import type { RecurringSettings } from '../recurring/domain/settings.ts';
import type { SeriesImport } from '../recurring/port.ts';
import type { CheckedRow } from './row.ts';
import type { SeenRow, SeenRows } from './dry-run-rows.ts';

export type ImportDeps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly cards: Pick<Cards, 'prepareImport' | 'storeImported' | 'cardMatchHash' | 'takes'>;
  readonly bindings: BindingImport;
  readonly series: SeriesImport;
  readonly shop: (shopId: string) => Promise<Shop | undefined>;
  readonly settings: (shopId: string) => Promise<RecurringSettings>;
};

/** Of one party. */
export type ImportOptions = {
  readonly partyId: string;
  readonly now: Instant;
  /** Decides all rows and writes nothing. */
  readonly isDryRun: boolean;
};

/** By the line of its row. No value of the row is in the reason. */
export type Problem = { readonly line: number; readonly reason: string };
export type NumberedRow = { readonly line: number; readonly row: CheckedRow };

type PreparedCard = Awaited<ReturnType<Cards['prepareImport']>>;

/** What is written of one row. */
type Import = {
  readonly card: PreparedCard;
  readonly binding: ReturnType<BindingImport['bindingOf']>;
  readonly series: NonNullable<ReturnType<SeriesImport['seriesOf']>>;
  readonly seen: SeenRow;
};

export type Decided = {
  readonly imports: Import[];
  repeated: number;
  readonly conflicts: Problem[];
  readonly refused: Problem[];
  /** Rows that need what another row of this batch writes: its customer, or its external ID. */
  readonly rest: NumberedRow[];
};

type Candidate = NumberedRow & {
  readonly shop: Shop;
  readonly owner: NewImport['owner'];
  readonly fingerprint: Buffer;
};
type RowDecision =
  | ({ readonly is: 'candidate' } & Candidate)
  | { readonly is: 'repeated' }
  | { readonly is: 'conflict'; readonly reason: string }
  | { readonly is: 'refused'; readonly reason: string };

export async function decideBatch(
  deps: ImportDeps,
  rows: readonly NumberedRow[],
  options: ImportOptions,
  seen: SeenRows,
): Promise<Decided> {
  const stored = await lookUp(deps, rows, options, seen);
  const decided: Decided = { imports: [], repeated: 0, conflicts: [], refused: [], rest: [] };
  const candidates: Candidate[] = [];
  const awaited = new Set<string>();
  for (const numbered of rows) {
    const { line, row } = numbered;
    const owner = stored.ownerOf(row);
    const names = namesIn(row, owner);
    const isLater = names.some((name) => awaited.has(name));
    const decision = isLater ? undefined : await decideRow(deps, numbered, { stored, owner, ...options });
    if (!decision || decision.is === 'candidate') for (const name of names) awaited.add(name);
    if (!decision) decided.rest.push(numbered);
    else if (decision.is === 'candidate') candidates.push(decision);
    else if (decision.is === 'repeated') decided.repeated++;
    else if (decision.is === 'conflict') decided.conflicts.push({ line, reason: decision.reason });
    else decided.refused.push({ line, reason: decision.reason });
  }
  await prepare(deps, candidates, options, { seen, decided });
  return decided;
}

/** What two rows have in common if the later one has to wait for the earlier one. */
function namesIn(row: CheckedRow, owner: Owner): readonly string[] {
  const { externalID, customerExternalID, customerID } = row;
  const known = typeof owner === 'object' && !('newId' in owner) ? owner.id : customerID;
  return [
    `row ${externalID}`,
    ...(customerExternalID ? [`row ${customerExternalID}`] : []),
    `customer ${known ?? externalID}`,
  ];
}

async function decideRow(
  deps: ImportDeps,
  { line, row }: NumberedRow,
  { stored, owner, now }: { readonly stored: Stored; readonly owner: Owner; readonly now: Instant },
): Promise<RowDecision> {
  const { number, expiry } = row.card;
  const hash = await deps.cards.cardMatchHash({ number, ...defined({ expiry }) });
  const fingerprint = requestFingerprint(['import', hash.toString('hex'), row.rest]);
  const earlier = stored.fingerprintOf(row.externalID);
  if (earlier?.equals(fingerprint)) return { is: 'repeated' };
  if (earlier) return { is: 'conflict', reason: 'a binding with its externalID exists, with other values' };
  const shop = await deps.shop(row.shopID);
  if (!shop) return { is: 'refused', reason: 'shopID is unknown' };
  if (shop.isBlocked) return { is: 'refused', reason: 'its shop is blocked' };
  if (owner === 'taken')
    return { is: 'conflict', reason: 'a customer has its externalID: name it in customerExternalID' };
  if (!owner) return { is: 'refused', reason: 'its customer is unknown' };
  const reason = problemOf(deps, row, { shop, owner, now });
  return reason === undefined
    ? { is: 'candidate', line, row, shop, owner, fingerprint }
    : { is: 'refused', reason };
}

const onlyTestCards = 'card: This sandbox takes test cards only';

function problemOf(
  { cards }: ImportDeps,
  { card, firstPayment }: CheckedRow,
  { shop, owner, now }: Pick<Candidate, 'shop' | 'owner'> & { readonly now: Instant },
): string | undefined {
  if (card.expiry !== undefined && isPast(card.expiry, now)) return 'card: Invalid expiration date';
  if (!cards.takes(card.number)) return onlyTestCards;
  if ('shopId' in owner && owner.shopId !== shop.id) return 'its customer is of another shop';
  if (firstPayment.currency !== shop.currency) return 'firstPayment.currency is not that of the shop';
  return undefined;
}

/** `taken`: a new customer cannot have the row's external ID. */
type Owner = NewImport['owner'] | 'taken' | undefined;

/** What the batch's rows name, as it is stored. */
type Stored = {
  fingerprintOf(externalId: string): Buffer | undefined;
  ownerOf(row: CheckedRow): Owner;
};

async function lookUp(
  { bindings, ids }: ImportDeps,
  rows: readonly NumberedRow[],
  { partyId }: ImportOptions,
  seen: SeenRows,
): Promise<Stored> {
  const own = rows.map(({ row }) => row.externalID);
  const named = rows.flatMap(({ row }) => row.customerExternalID ?? []);
  const taken = await bindings.taken(partyId, { bindings: own, customers: [...own, ...named] });
  const behind = named.flatMap((externalId) => taken.customers.get(externalId) ?? []);
  const customerIds = [...rows.flatMap(({ row }) => row.customerID ?? []), ...behind];
  const owners = await bindings.owners(partyId, customerIds);
  return {
    fingerprintOf: (externalId) => taken.bindings.get(externalId) ?? seen.fingerprintOf(externalId),
    ownerOf({ externalID, customerID, customerExternalID, contactInfo = {}, metadata = {} }) {
      if (customerID !== undefined) return owners.get(customerID);
      if (customerExternalID !== undefined)
        return owners.get(taken.customers.get(customerExternalID) ?? '') ?? seen.ownerOf(customerExternalID);
      if (taken.customers.has(externalID)) return 'taken';
      return { newId: ids.next(), contactInfo, metadata };
    },
  };
}

function customerIdOf(owner: NewImport['owner']): string {
  return 'newId' in owner ? owner.newId : owner.id;
}

/** Encrypts the cards and makes what is written. */
async function prepare(
  deps: ImportDeps,
  candidates: readonly Candidate[],
  options: ImportOptions,
  { seen, decided }: { readonly seen: SeenRows; readonly decided: Decided },
): Promise<void> {
  const { partyId, now } = options;
  const prepared = [];
  for (const candidate of candidates) {
    const { row, owner, shop } = candidate;
    const binding = { customerId: customerIdOf(owner), bindingId: deps.ids.next() };
    const given = { partyId, card: row.card, binding, ...defined({ ip: row.firstPayment.ip }) };
    const card = await deps.cards.prepareImport(given, now);
    const { livemode } = shop;
    const seriesId = deps.series.idOf({ ...card, ...binding, partyId, livemode });
    prepared.push({ candidate, card, seriesId, ...binding });
  }
  const ofKnown = prepared.filter(({ candidate }) => !('newId' in candidate.owner));
  const known = await deps.series.known(ofKnown.map(({ seriesId }) => seriesId));
  for (const one of prepared) {
    const { line, shop } = one.candidate;
    if (known.has(one.seriesId) || seen.hasSeries(one.seriesId)) {
      decided.refused.push({ line, reason: 'its customer has a consent for this card already' });
      continue;
    }
    const made = importOf(deps, one, { settings: await deps.settings(shop.id), now });
    if (made) decided.imports.push(made);
    else decided.refused.push({ line, reason: 'recurrentTerms.validUntil is over' });
  }
}

type Prepared = {
  readonly candidate: Candidate;
  readonly card: PreparedCard;
  readonly seriesId: string;
  readonly customerId: string;
  readonly bindingId: string;
};

/** Undefined if the consent has ended. */
function importOf(
  { bindings, series }: ImportDeps,
  { candidate, card, ...ids }: Prepared,
  { settings, now }: { readonly settings: RecurringSettings; readonly now: Instant },
): Import | undefined {
  const { row, shop, owner, fingerprint } = candidate;
  const { partyId, id: shopId, livemode } = shop;
  const { given, firstPayment, externalID: externalId, lastChargedAt } = row;
  const { createdAt, amount: amountMinor, ip, ...known } = firstPayment;
  const first = { ...known, createdAt, amountMinor, currency: shop.currency satisfies Currency };
  const of = { partyId, shopId, livemode, given, ...ids };
  const { contactInfo } = owner;
  const { networkId: _, ...payment } = first;
  const started = series.seriesOf(
    {
      ...of,
      card: {
        ...card.resource.card,
        token: card.resource.token,
        numberHash: card.numberHash,
        expiry: row.card.expiry ?? '',
      },
      evidence: {
        payer: { contactInfo, ...defined({ ip }) },
        payment: { ...payment, ...approvalOf(first) },
      },
      ...defined({ lastChargedAt }),
    },
    settings,
    now,
  );
  if (!started) return undefined;
  const bound = { ...of, externalId, owner, card: card.resource, firstPayment: first, fingerprint };
  const binding = bindings.bindingOf(bound, now);
  return { card, binding, series: started, seen: seenOf(binding, { externalId, fingerprint, ...ids }) };
}

function seenOf(
  { customer, version, at, isNewCustomer }: Import['binding'],
  row: Omit<SeenRow, 'owner' | 'isNewCustomer'>,
): SeenRow {
  const owner: CardOwner = { ...customer, version, changedAt: at };
  return { ...row, owner, isNewCustomer };
}
