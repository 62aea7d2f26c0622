// The members that each command prints with --json: their help, the reference and the printing all read this table.

const arrays = {
  'bank list': ['bankId', 'url', 'terminals', 'createdAt'],
  'bindings refunds': [
    'customerId',
    'bindingId',
    'partyId',
    'status',
    'amountMinor',
    'currency',
    'refundDueAt',
    'isOverdue',
    'stuckReason',
  ],
  config: ['name', 'value', 'source'],
  'consent keys': ['keyVersion', 'publicKey'],
  'consent missing': ['seriesId', 'shopId', 'consentedAt', 'chargesMade'],
  'identity list': ['identityId', 'name', 'provider', 'class', 'level', 'status'],
  'jobs stuck': ['kind', 'id', 'partyId', 'since', 'reason'],
  'keys list': ['keyId', 'mode', 'name', 'scopes', 'createdAt', 'expiresAt', 'revokedAt'],
  'ledger check': ['id', 'says', 'holds', 'checked', 'violations', 'examples'],
  'party list': ['partyId', 'name', 'status'],
  'retention show': ['name', 'rows', 'bytes', 'kept'],
  'shop list': ['shopId', 'name', 'url', 'currency', 'mode', 'status'],
  'terminal list': [
    'terminalId',
    'shopId',
    'payouts',
    'bankId',
    'merchantId',
    'descriptor',
    'priority',
    'retiredAt',
  ],
  'webhooks list': ['id', 'partyId', 'topic', 'owner', 'url', 'eventTypes', 'createdAt'],
  'webhooks parked': ['objectId', 'parkedAt', 'attempts', 'lastFailure'],
} as const;

const objects = {
  'bank check': ['bankId', 'url', 'works', 'tookMs', 'problem'],
  'ledger account': ['account', 'normalBalance', 'balance', 'shards', 'transfers'],
  reconcile: [
    'bankID',
    'book',
    'period',
    'lines',
    'linesOutside',
    'equal',
    'open',
    'edge',
    'sums',
    'differences',
  ],
  sandbox: ['url', 'apiUrl', 'apiKey', 'shopID', 'bankUrl', 'docsUrl', 'demoUrl'],
  'shop fees': ['payment', 'refund'],
} as const;

type Arrays = typeof arrays;

/** A sentence for the help of a command. Undefined where there is no JSON. */
export function jsonMembersOf(command: string): string | undefined {
  if (command === 'shop origins') return 'an array of strings.';
  const found = Object.entries<readonly string[]>({ ...arrays, ...objects }).find(
    ([name]) => name === command,
  );
  if (!found) return undefined;
  const members = found[1].join(', ');
  return command in arrays
    ? `an array of objects with the members ${members}. A member without a value is null.`
    : `an object with the members ${members}.`;
}

/** Prints exactly the members of the table; one without a value is null. */
export function printJson<Row extends object, Name extends keyof Arrays>(
  command: Name & (Arrays[Name][number] extends keyof Row ? unknown : never),
  rows: readonly Row[],
): void {
  const members: readonly string[] = arrays[command];
  const valueOf = (row: Row, member: string): unknown =>
    Object.entries(row).find(([name]) => name === member)?.[1];
  const picked = rows.map((row) =>
    Object.fromEntries(members.map((member) => [member, valueOf(row, member) ?? null])),
  );
  console.log(JSON.stringify(picked, null, 2));
}
