// Which part of src may know which. The table is the rule; the functions below read the import lines of the sources and
// say in a sentence which one breaks it. docs/architecture.md explains the parts and the direction.
import { posix } from 'node:path';

/** The sources by their path within src. */
export type Sources = ReadonlyMap<string, string>;

const words = ['clock', 'ids', 'money', 'refusal'];
const roomMayImport = ['http', 'keys', 'events', 'engine', 'ledger', 'reconciliation', 'database', ...words];

/** The rooms of the business, and the pure files of each: one bears the name of each aggregate, others hold a part of it. */
const rooms: Record<string, readonly string[]> = {
  cards: ['card', 'kept-card', 'payment-resource', 'payout-card'],
  checkout: [
    'checkout-page',
    'checkout-request',
    'consent-text',
    'html',
    'network-signs',
    'printed-money',
    'words',
    'words.en',
    'words.ru',
  ],
  customers: [
    'binding',
    'binding.bank',
    'binding.card',
    'binding.commands',
    'binding.postings',
    'customer',
    'customer-json',
    'customer.notices',
  ],
  invoices: ['invoice', 'invoice-json', 'invoice.notices'],
  merchants: ['party'],
  payments: [
    'payment',
    'payment.bank',
    'payment.card',
    'payment.commands',
    'payment.postings',
    'payment.settling',
    'payment.terminal',
    'payment-failure',
    'payment-json',
    'payment.notices',
    'refund',
  ],
  recurring: [
    'calendar',
    'consent-sheet',
    'letter',
    'mandate',
    'may-charge',
    'notices',
    'receipt',
    'rule-packs',
    'series',
    'series.notices',
  ],
  wallets: [
    'destination',
    'identity',
    'payout-failure',
    'payout-limits',
    'payout.notices',
    'provider',
    'wallet',
    'withdrawal',
    'withdrawal.bank',
    'withdrawal.commands',
  ],
  webhooks: ['webhook', 'delivery', 'snapshot'],
};

/** Outside the rooms: what a bank can be asked and can answer; what moves which money. */
const pureFiles: Record<string, readonly string[]> = {
  ...rooms,
  bank: ['bank'],
  events: ['log', 'topic'],
  ledger: ['account', 'fee', 'ledger', 'postings'],
  retention: ['rules'],
  reconciliation: ['after-restore', 'difference', 'expected', 'tally'],
};

/**
 * A part is a folder of src, or a file that lies in src itself; within itself it is free. In `types` are the parts of
 * which it may know nothing but types, which are gone when the program runs.
 */
const parts: Record<string, { readonly may: readonly string[]; readonly types?: readonly string[] }> = {
  main: { may: ['commands', 'own-files'] },
  commands: {
    may: [
      'compose',
      'config',
      'log',
      'http',
      'bank',
      'mail',
      'sandbox',
      ...Object.keys(rooms),
      ...words,
      'ledger',
      'reconciliation',
      'bank-comparison',
      'retention',
    ],
  },
  compose: {
    may: [
      'gauges',
      'due-work',
      'config',
      'routes',
      'log',
      'own-files',
      'http',
      'keys',
      'engine',
      'ledger',
      'events',
      'database',
      'bank',
      'mail',
      ...Object.keys(rooms),
      ...words,
    ],
    types: ['service'],
  },
  gauges: { may: ['ledger', ...Object.keys(rooms), ...words], types: ['http', 'engine', 'database', 'log'] },
  'due-work': {
    may: ['card-needs', 'cards', 'invoices', 'payments', 'customers', 'recurring', 'wallets'],
    types: ['bank', 'mail', 'engine', 'database', 'clock', 'log'],
  },
  retention: { may: ['recurring', 'wallets', 'webhooks', 'database', ...words] },
  'card-needs': { may: Object.keys(rooms), types: ['database', 'clock'] },
  config: { may: ['keys', 'mail', 'money'] },
  routes: { may: Object.keys(rooms), types: ['http'] },
  service: {
    may: [],
    types: [
      'merchants',
      'cards',
      'customers',
      'bank',
      'recurring',
      'wallets',
      'webhooks',
      'engine',
      'keys',
      'database',
      ...words,
    ],
  },
  customers: {
    may: ['payments', 'invoices', 'cards', 'merchants', 'recurring', ...roomMayImport],
    types: ['bank', 'service', 'log'],
  },
  payments: {
    may: ['invoices', 'cards', 'merchants', 'recurring', ...roomMayImport],
    types: ['bank', 'service'],
  },
  // Its page uses the API; the room itself only looks at what is to be paid, or whose card is to be bound, to whom, and on which terms.
  checkout: {
    may: ['invoices', 'customers', 'merchants', 'recurring', ...roomMayImport],
    types: ['service', 'log'],
  },
  wallets: { may: ['cards', 'merchants', ...roomMayImport], types: ['bank', 'service', 'log'] },
  webhooks: { may: roomMayImport, types: ['service', 'log'] },
  recurring: { may: ['cards', 'mail', 'merchants', ...roomMayImport], types: ['service'] },
  invoices: { may: ['merchants', ...roomMayImport], types: ['service'] },
  cards: { may: roomMayImport, types: ['service'] },
  merchants: { may: roomMayImport, types: ['bank', 'service'] },
  sandbox: { may: ['bank', 'keys', 'database', ...words], types: ['log'] },
  bank: { may: ['keys', 'database', ...words], types: ['log'] },
  mail: { may: words },
  http: { may: ['keys', 'database', 'own-files', ...words], types: ['service', 'merchants', 'log'] },
  jobs: { may: ['database', ...words], types: ['log'] },
  events: { may: ['database', ...words] },
  ledger: { may: ['database', ...words] },
  reconciliation: { may: ['database', ...words], types: ['bank'] },
  'bank-comparison': { may: ['reconciliation', ...Object.keys(rooms)] },
  keys: { may: ['database', ...words] },
  database: { may: ['own-files', ...words], types: ['log'] },
  log: { may: [] },
  'own-files': { may: [] },
  ...Object.fromEntries(words.map((word) => [word, { may: [] }])),
};

/** Packages have few friends each, so that one can be replaced. */
const packages: Record<string, { readonly may: readonly string[]; readonly types?: readonly string[] }> = {
  commander: { may: ['main', 'commands'] },
  esbuild: { may: ['http'] },
  nodemailer: { may: ['mail'] },
  fastify: { may: ['http', 'sandbox'], types: ['checkout', 'compose', 'customers', 'payments', 'recurring'] },
  pg: { may: ['database'] },
  pino: { may: ['log'], types: ['engine', 'http'] },
  'prom-client': { may: ['http'] },
  typebox: { may: ['http', 'bank', 'sandbox', ...Object.keys(rooms)] },
  undici: { may: ['bank', 'webhooks'] },
};

/** What a pure file must be given instead of asking for it. */
const askingOutside = /\b(Date\.now|new Date|performance\.|Math\.random|process\.|async|await)\b/;
const vagueNames = ['utils', 'util', 'helpers', 'helper', 'common', 'shared', 'misc', 'index'];
const maxLines = 400;

/** What these write is a part of the statements of others. */
const partsOfStatements = ['platform/ledger/store/journals.ts', 'recurring/store/charge-fragments.ts'];

type Import = { readonly of: string; readonly isType: boolean };

/** Every sentence about what is wrong; none when all is well. */
export function breaches(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => [
    ...breachesOfForm(file, text),
    ...importsIn(text).flatMap((found) => breachOf(file, found, sources) ?? []),
  ]);
}

function breachesOfForm(file: string, text: string): string[] {
  const found: string[] = [];
  const vague = file.split(/[/.]/).find((name) => vagueNames.includes(name));
  if (vague) found.push(`src/${file}: ${vague} says nothing; name what the file is about`);
  const asked = isListedAsPure(file) ? askingOutside.exec(codeOf(text))?.[0] : undefined;
  if (asked) found.push(`src/${file}: a pure file is given what it needs; it has ${asked}`);
  const lines = text.split('\n').length - 1;
  if (lines > maxLines)
    found.push(`src/${file} has ${lines} lines, more than ${maxLines}: it has two subjects`);
  if (!/^(#!.*\n)?\/[/*]/.test(text))
    found.push(`src/${file} does not begin with a comment that says what it is for`);
  if (!(partOf(file) in parts))
    found.push(`src/${file} is in no known part of src; give ${partOf(file)} a row in parts`);
  return found;
}

function breachOf(file: string, { of, isType }: Import, sources: Sources): string | undefined {
  const says = (rule: string) => `src/${file} imports ${isType ? 'the types of ' : ''}${of}: ${rule}`;
  if (isPure(file) && !mayPureKnow(targetOf(file, of), isType))
    return says('a pure file imports only pure files');
  if (of.startsWith('node:')) return undefined;
  const from = partOf(file);
  if (!of.startsWith('.')) return breachByPackage(packageOf(of), from, isType, says);

  const target = targetOf(file, of);
  if (!sources.has(target)) return says('there is no such file in src');
  const to = partOf(target);
  if (from === to && from !== file) return undefined;
  const { may = [], types = [] } = parts[from] ?? {};
  if (types.includes(to) && !isType) return says(`${from} may know nothing but the types of ${to}`);
  if (!may.includes(to) && !types.includes(to)) return says(`${from} may not know ${to}`);
  if (
    target.endsWith('.store.ts') &&
    !['compose', 'commands', 'gauges', 'due-work', 'card-needs', 'retention'].includes(from) &&
    !partsOfStatements.includes(target)
  ) {
    return says('the store of another part is its own affair');
  }
  if (from in rooms && to in rooms && !isPure(target) && !/\.(wire|events|store)\.ts$/.test(target))
    return says('of another room only pure files, shapes on the wire and the log may be known');
  return undefined;
}

function breachByPackage(
  name: string,
  from: string,
  isType: boolean,
  says: (rule: string) => string,
): string | undefined {
  const friends = packages[name];
  if (!friends) return says(`nobody uses the package ${name} yet; give it a row in packages`);
  if (friends.may.includes(from) || (isType && friends.types?.includes(from))) return undefined;
  return says(`the package ${name} is for ${[...friends.may].join(', ')}`);
}

/** Who calls is a value that decisions depend on. */
function mayPureKnow(file: string, isType: boolean): boolean {
  return isPure(file) || (isType && file === 'platform/http/caller.ts');
}

/** A pure file of its part, or a word of which only types and rules are wanted. New ids come in as values. */
function isPure(file: string): boolean {
  return isListedAsPure(file) || ['clock.ts', 'money.ts', 'refusal.ts'].includes(file);
}

function isListedAsPure(file: string): boolean {
  const [part = '', name = '', ...deeper] = file.split('/');
  return deeper.length === 0 && (pureFiles[part] ?? []).some((pure) => name === `${pure}.ts`);
}

/** `invoices/domain/invoice.ts` belongs to invoices, `compose.ts` to compose. */
function partOf(file: string): string {
  return (file.split('/')[0] ?? '').replace(/\.ts$/, '');
}

function targetOf(file: string, imported: string): string {
  return imported.startsWith('.') ? posix.join(posix.dirname(file), imported) : imported;
}

function packageOf(imported: string): string {
  const [scope = '', name] = imported.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}

const importing =
  /(?:^|\n)\s*(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g;

/** With `import { type A }` the module is still loaded, so that counts as an import of values. */
export function importsIn(text: string): Import[] {
  return [...codeOf(text).matchAll(importing)].map(([, type, named, loaded]) => ({
    of: named ?? loaded ?? '',
    isType: type !== undefined,
  }));
}

/** Without the lines that are comments. */
function codeOf(text: string): string {
  return text.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
}
