// The rules for imports in src. npm run arrows prints each import that breaks one; docs/architecture.md explains the modules.

/** Basic types and functions that every module may import. */
const words = [
  'caller.ts',
  'clock.ts',
  'defined.ts',
  'error-code.ts',
  'ids.ts',
  'livemode.ts',
  'money.ts',
  'nearest-name.ts',
  'not-set-up.ts',
  'refusal.ts',
];

/** The platform modules that most modules need. */
const ground = ['database', 'events', 'http', 'jobs', 'keys', 'ledger', 'log.ts'].map(
  (part) => `platform/${part}`,
);

/**
 * Each module of src with the modules it may import, in addition to itself and the words. They stand above it in this list, so
 * modules have no cycles, and a change affects only modules further down.
 */
const mayImport = {
  ...Object.fromEntries(words.map((word) => [word, []])),
  'asset-paths.ts': [],
  'platform/log.ts': [],
  'platform/make-folder.ts': [],
  'platform/database': ['asset-paths.ts'],
  'platform/events': ['platform/database'],
  'platform/jobs': ['platform/database', 'platform/log.ts'],
  'platform/keys': ['platform/database', 'platform/make-folder.ts'],
  'platform/ledger': ['platform/database'],
  'platform/mail': [],
  // A caller can wait for a job.
  'platform/http': [
    'asset-paths.ts',
    'platform/database',
    'platform/jobs',
    'platform/keys',
    'platform/log.ts',
  ],
  'platform/lists': ['platform/database', 'platform/http'],
  acquiring: ['platform/database', 'platform/http', 'platform/jobs', 'platform/keys', 'platform/log.ts'],
  merchants: ground,
  cards: [...ground, 'acquiring'],
  'retry-rules': ['acquiring', 'cards'],
  emails: [...ground, 'platform/mail'],
  receipts: [...ground, 'emails', 'acquiring', 'merchants', 'cards'],
  recurring: [...ground, 'emails', 'acquiring', 'merchants', 'cards', 'retry-rules', 'receipts'],
  invoices: [...ground, 'acquiring', 'merchants', 'cards', 'retry-rules', 'receipts', 'recurring'],
  payments: [
    ...ground,
    'emails',
    'acquiring',
    'merchants',
    'cards',
    'retry-rules',
    'invoices',
    'receipts',
    'recurring',
  ],
  customers: [...ground, 'acquiring', 'merchants', 'cards', 'retry-rules', 'recurring', 'payments'],
  importing: [
    ...ground,
    'acquiring',
    'merchants',
    'cards',
    'retry-rules',
    'recurring',
    'payments',
    'customers',
  ],
  'consent-links': [...ground, 'merchants', 'cards', 'retry-rules', 'receipts', 'recurring', 'customers'],
  subscriptions: [
    ...ground,
    'platform/lists',
    'emails',
    'acquiring',
    'merchants',
    'cards',
    'retry-rules',
    'receipts',
    'recurring',
    'invoices',
    'payments',
    'customers',
  ],
  identities: [...ground, 'platform/lists', 'merchants', 'cards'],
  wallets: [...ground, 'platform/lists', 'merchants', 'identities'],
  payouts: [...ground, 'platform/lists', 'acquiring', 'merchants', 'cards', 'identities', 'wallets'],
  webhooks: [...ground, 'merchants'],
  search: [
    ...ground,
    'acquiring',
    'merchants',
    'cards',
    'retry-rules',
    'recurring',
    'invoices',
    'payments',
    'customers',
    'webhooks',
  ],
  timeline: [
    ...ground,
    'emails',
    'acquiring',
    'merchants',
    'cards',
    'retry-rules',
    'receipts',
    'recurring',
    'invoices',
    'payments',
    'customers',
    'identities',
    'wallets',
    'payouts',
  ],
  checkout: [
    ...ground,
    'merchants',
    'cards',
    'retry-rules',
    'invoices',
    'receipts',
    'recurring',
    'customers',
    'consent-links',
    'subscriptions',
  ],
  console: [...ground, 'merchants', 'cards'],
  // A bank, a shop and a database to try the program with. Only app, cli and main may import them.
  sandbox: [
    'platform/database',
    'platform/http',
    'platform/keys',
    'platform/log.ts',
    'platform/make-folder.ts',
    'acquiring',
    'merchants',
  ],
  // Opens all modules and passes each what it needs.
  get app() {
    return Object.keys(this).filter((name) => !['app', 'cli', 'main.ts'].includes(name));
  },
  get cli() {
    return Object.keys(this).filter((name) => !['cli', 'main.ts'].includes(name));
  },
  'main.ts': ['asset-paths.ts', 'cli'],
};

/** They import every module, because they put the modules together. */
const composers = ['app', 'cli', 'main.ts'];
/** The modules of the business: no platform modules and no composers. */
const business = Object.keys(mayImport).filter((name) => !/^platform|\.ts$|^(app|cli)$/.test(name));

/** The modules that may import a package, so that it can be replaced there. Those in `types` may import only its types. */
const packages = {
  commander: { by: ['main.ts', 'cli'] },
  esbuild: { by: ['platform/http'] },
  fastify: {
    by: ['platform/http', 'sandbox'],
    types: ['acquiring', 'app', 'checkout', 'console', 'customers', 'payments', 'recurring', 'search'],
  },
  nodemailer: { by: ['platform/mail'] },
  pg: { by: ['platform/database', 'sandbox'] },
  pino: { by: ['platform/log.ts'] },
  'prom-client': { by: ['platform/http'] },
  typebox: { by: ['platform/http', 'platform/lists', 'app', ...business] },
  undici: { by: ['acquiring', 'webhooks'] },
  uqr: { by: ['cli'] },
  'csv-parse': { by: ['acquiring'] },
  '@streamparser/json': { by: ['acquiring'] },
};

/** Store files that other modules may import: they supply part of a statement, or read rows that both modules use. */
const sharedStores = [
  'platform/ledger/store/(journals|invariants).ts',
  'acquiring/authorisation/store/reroute.ts',
  'acquiring/exchange-log/store/exchange-rows.ts',
  'acquiring/reconciliation/source.store.ts',
  'cards/store/attempt-counting.ts',
  'recurring/store/(charge-changes|series).ts',
  'customers/store/(bindings|customers).ts',
  'emails/store/payer-emails.ts',
  'payments/store/(refunds|rows|searched).ts',
  'invoices/store/invoices.ts',
  '(acquiring|cards|identities|invoices|payments|platform/ledger|receipts|recurring)/store/codec.ts',
  'identities/store/(sql-fragments|identities).ts',
  'wallets/store/(turnover|wallets).ts',
  // The sandbox creates its first merchant.
  'merchants/store/parties.ts',
];

/** The files of a business module that other business modules may import. */
const openParts = [
  '/domain/',
  '/api/[a-z-]*schema\\.ts$',
  '/port\\.ts$',
  '/webhook-events\\.ts$',
  // It sends an operation to a bank exactly once.
  '^src/acquiring/authorisation/(job|return-page)\\.ts$',
  '^src/acquiring/send-or-inquire\\.ts$',
  '^src/acquiring/exchange-log/hear-late-answer\\.ts$',
];
/** Opened once, by app. Other modules receive them and import only their types. */
const services = [
  'acquiring/banks.ts',
  'acquiring/adapters/http/http-bank.ts',
  'cards/payer-attempts.ts',
  'cards/vault.ts',
  'merchants/api-keys.ts',
  'merchants/merchants.ts',
  'receipts/receipts.ts',
];

const vagueNames = ['util', 'helper', 'common', 'shared', 'misc', 'index', 'manager'];

const path = (name) => `^src/${name.replaceAll('.', '\\.')}${name.endsWith('.ts') ? '$' : '/'}`;
const paths = (names) => names.map(path);
const packagePath = (name) => `(^|/)node_modules/(@types/)?${name}/`;
const types = ['type-only'];

const rules = [
  {
    name: 'one-direction',
    comment:
      'Imports between modules have one direction, so that you can read, test and change a module without its importers.',
    each: Object.entries(mayImport).map(([name, others]) => ({
      from: { path: path(name) },
      to: {
        path: '^src/',
        pathNot: [path(name), ...paths(others), ...(words.includes(name) ? [] : paths(words))],
      },
    })),
  },
  {
    name: 'known-module',
    comment: 'Add a new module to the list of modules first.',
    each: [{ from: { path: '^src/', pathNot: paths(Object.keys(mayImport)) }, to: {} }],
  },
  {
    name: 'pure-domain',
    comment:
      'Files under domain/ are the rules of the business. They import only each other and the words, so that they are tested ' +
      'without a database, a bank or a clock.',
    each: [
      {
        from: { path: '/domain/' },
        to: { pathNot: ['^src/.+/domain/', ...paths(words)] },
      },
      { from: { path: '/domain/' }, to: { path: path('ids.ts'), dependencyTypesNot: types } },
    ],
  },
  {
    name: 'private-store',
    comment: 'Only a module itself reads and writes its tables, so that their columns can change.',
    each: [
      {
        from: { path: '^src/((?:platform/)?[^/]+)/', pathNot: paths(composers) },
        to: { path: '/store/|\\.store\\.ts$', pathNot: ['^src/$1/', ...paths(sharedStores)] },
      },
    ],
  },
  {
    name: 'open-parts',
    comment: 'From another business module, import only its rules, API schemas, webhook events and port.',
    each: [
      {
        from: { path: `^src/(${business.join('|')})/` },
        to: {
          path: `^src/(${business.join('|')})/`,
          pathNot: [
            '^src/$1/',
            '/store/|\\.store\\.ts$',
            ...openParts,
            ...paths(services),
            '^src/acquiring/adapters/http/',
          ],
        },
      },
      {
        from: { path: `^src/(${business.join('|')})/` },
        to: { path: paths(services), pathNot: '^src/$1/', dependencyTypesNot: types },
      },
      // The simulated bank implements the other end of the bank protocol.
      {
        from: { path: `^src/(${business.join('|')})/`, pathNot: paths(['acquiring', 'sandbox']) },
        to: { path: '^src/acquiring/adapters/http/', pathNot: paths(services) },
      },
    ],
  },
  {
    name: 'restricted-package',
    comment: 'Few modules import a package, so that it can be replaced. A new package is a decision.',
    each: [
      ...Object.entries(packages).map(([name, { by, types: byType = [] }]) => ({
        from: { pathNot: paths([...by, ...byType]) },
        to: { path: packagePath(name) },
      })),
      ...Object.entries(packages).map(([name, { by }]) => ({
        from: { pathNot: paths(by) },
        to: { path: packagePath(name), dependencyTypesNot: types },
      })),
      {
        from: {},
        to: { path: '(^|/)node_modules/', pathNot: Object.keys(packages).map(packagePath) },
      },
    ],
  },
  {
    name: 'no-cycle',
    comment: 'Files that import each other, even only types, can only be understood together.',
    each: [{ from: {}, to: { circular: true } }],
  },
  {
    name: 'vague-name',
    comment: 'A file is named after its content. Under these names unrelated code collects.',
    each: [{ from: {}, to: { path: vagueNames.map((name) => `^src.*[/.]${name}s?[/.]`) } }],
  },
  {
    name: 'resolvable',
    comment:
      'No other rule checks an import that is not found. Outside src, the program imports only packages.',
    each: [
      { from: {}, to: { couldNotResolve: true } },
      { from: {}, to: { path: '\\.[cm]?[jt]s$', pathNot: ['^src/', '(^|/)node_modules/'] } },
    ],
  },
];

export default {
  forbidden: rules.flatMap(({ name, comment, each }) =>
    each.map((rule) => ({ name, comment, severity: 'error', ...rule })),
  ),
  options: {
    // Imports of types count too.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.test\\.ts$' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
