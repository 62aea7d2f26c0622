// The members that each command prints with --json: their help, the reference and the printing all read this table.

const paymentLink = [
  'id',
  'paymentLink',
  'partyId',
  'shopId',
  'product',
  'description',
  'name',
  'amount',
  'lifetime',
  'createdAt',
] as const;

const arrays = {
  'bank contradictions': ['bankId', 'operationId', 'what', 'heard', 'notedAt'],
  'bank list': [
    'bankId',
    'url',
    'terminals',
    'createdAt',
    'isShared',
    'stoppedAt',
    'stoppedBecause',
    'checkedAt',
    'checkProblem',
    'awaySince',
    'awayBecause',
    'chargesHeldUntil',
    'chargesHeldBecause',
  ],
  'bank waiting': ['bankId', 'operationId', 'what', 'notedAt', 'state'],
  'bindings list': ['customerId', 'bindingId', 'shopId', 'state', 'createdAt', 'card', 'error', 'seriesId'],
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
  'card-testing list': ['partyId', 'shopId', 'mode', 'since', 'until', 'bin', 'approved', 'declined'],
  config: ['name', 'value', 'source'],
  'consent keys': ['keyVersion', 'publicKey'],
  'consent missing': ['seriesId', 'shopId', 'consentedAt', 'chargesMade'],
  'customers list': ['customerId', 'shopId', 'status', 'createdAt', 'externalId', 'email'],
  'export list': [
    'id',
    'of',
    'shopId',
    'shopIds',
    'status',
    'rows',
    'bytes',
    'madeBy',
    'createdAt',
    'asOf',
    'sha256',
    'md5',
    'error',
    'expiresAt',
  ],
  'identity list': ['identityId', 'name', 'provider', 'class', 'level', 'status'],
  'jobs failing': ['kind', 'id', 'partyId', 'attempts', 'nextTryAt', 'reason'],
  'console sessions': [
    'sessionId',
    'partyId',
    'isOperator',
    'status',
    'madeBy',
    'createdAt',
    'openedAt',
    'seenAt',
    'endedAt',
  ],
  'jobs stuck': ['kind', 'id', 'partyId', 'since', 'reason'],
  'keys list': ['keyId', 'mode', 'name', 'scopes', 'createdAt', 'expiresAt', 'revokedAt'],
  'database check': ['role', 'rule', 'holds', 'violations'],
  'ledger check': ['id', 'says', 'holds', 'checked', 'violations', 'examples'],
  'links list': paymentLink,
  'payout limits list': [
    'party',
    'currency',
    'network',
    'level',
    'min',
    'perPayout',
    'perDay',
    'perMonth',
    'numberPerDay',
    'cardPerDay',
    'cardPerMonth',
    'cardNumberPerDay',
    'setBy',
    'setAt',
    'reason',
  ],
  'pan-scan': ['place', 'id', 'column'],
  'party list': ['partyId', 'name', 'status'],
  'payments list': [
    'id',
    'invoiceId',
    'paymentId',
    'partyId',
    'shopId',
    'status',
    'state',
    'amountMinor',
    'currency',
    'bankId',
    'createdAt',
    'waitingSince',
    'attempts',
    'nextTryAt',
    'stuckSince',
    'lastFailure',
  ],
  'retention show': ['name', 'rows', 'bytes', 'kept'],
  'shop list': ['shopId', 'name', 'url', 'currency', 'timeZone', 'mode', 'status'],
  'series list': ['seriesId', 'shopId', 'status', 'chargeable', 'createdAt', 'lastSuccessAt', 'chargesMade'],
  'subscriptions list': [
    'id',
    'partyId',
    'shopId',
    'customerId',
    'status',
    'parkedFor',
    'createdAt',
    'nextActionAt',
    'unpaidPeriods',
  ],
  'terminal list': [
    'terminalId',
    'shopId',
    'payouts',
    'bankId',
    'merchantId',
    'descriptor',
    'merchantFacts',
    'priority',
    'retiredAt',
    'pausedUntil',
    'pausedBecause',
    'currencies',
    'sourceOfFunds',
    'purposes',
    'demands',
  ],
  'webhooks list': ['id', 'partyId', 'topic', 'owner', 'url', 'eventTypes', 'createdAt'],
  'webhooks parked': ['objectId', 'parkedAt', 'attempts', 'lastFailure'],
} as const;

const objects = {
  'bank check': ['bankId', 'url', 'works', 'tookMs', 'problem'],
  'import cards': ['imported', 'repeated', 'conflicts', 'refused'],
  'ledger account': ['account', 'normalBalance', 'balance', 'shards', 'transfers'],
  'links create': paymentLink,
  'links show': paymentLink,
  'payments show': [
    'payment',
    'externalId',
    'card',
    'terminalId',
    'deadline',
    'failure',
    'exchanges',
    'exchangeLog',
    'bankReports',
    'recurring',
    'nextSteps',
  ],
  reconcile: [
    'bankId',
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
  'shop refunds': ['whenShort', 'overdraftLimit', 'available', 'waiting', 'currency'],
} as const;

type Arrays = typeof arrays;
type Objects = typeof objects;

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
  console.log(
    JSON.stringify(
      rows.map((row) => picked(row, arrays[command])),
      null,
      2,
    ),
  );
}

export function printJsonObject<Row extends object, Name extends keyof Objects>(
  command: Name & (Objects[Name][number] extends keyof Row ? unknown : never),
  row: Row,
): void {
  console.log(JSON.stringify(picked(row, objects[command]), null, 2));
}

function picked(row: object, members: readonly string[]) {
  const values = Object.entries<unknown>({ ...row });
  const valueOf = (member: string) => values.find(([name]) => name === member)?.[1] ?? null;
  return Object.fromEntries(members.map((member) => [member, valueOf(member)]));
}
