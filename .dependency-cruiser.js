// Which part of src may know which; npm run arrows reads the imports of all files and names each that is against a rule.
// docs/architecture.md explains the modules and the direction.

/** Files of src in words everybody speaks. */
const words = [
  'caller.ts',
  'clock.ts',
  'defined.ts',
  'error-code.ts',
  'ids.ts',
  'livemode.ts',
  'money.ts',
  'refusal.ts',
];

/** What most modules stand on. */
const ground = ['database', 'events', 'http', 'jobs', 'keys', 'ledger', 'log.ts'].map(
  (part) => `platform/${part}`,
);

/**
 * Each module of src with the modules it may import, besides itself and the words: always those above it in this list, so there is no
 * cycle among modules. A change that begins in one part of the business then ends in the modules below it here, and in app.
 */
const mayImport = {
  ...Object.fromEntries(words.map((word) => [word, []])),
  'asset-paths.ts': [],
  'platform/log.ts': [],
  'platform/database': ['asset-paths.ts'],
  'platform/events': ['platform/database'],
  'platform/jobs': ['platform/database', 'platform/log.ts'],
  'platform/keys': ['platform/database'],
  'platform/ledger': ['platform/database'],
  'platform/mail': [],
  'platform/http': ['asset-paths.ts', 'platform/database', 'platform/keys', 'platform/log.ts'],
  acquiring: ['platform/database', 'platform/http', 'platform/jobs', 'platform/keys', 'platform/log.ts'],
  merchants: ground,
  cards: ground,
  'retry-rules': ['cards'],
  invoices: [...ground, 'merchants'],
  receipts: [...ground, 'cards'],
  recurring: [...ground, 'platform/mail', 'merchants', 'cards', 'retry-rules', 'receipts'],
  payments: [
    ...ground,
    'acquiring',
    'merchants',
    'cards',
    'retry-rules',
    'invoices',
    'receipts',
    'recurring',
  ],
  customers: [...ground, 'acquiring', 'merchants', 'cards', 'recurring', 'payments'],
  identities: [...ground, 'merchants'],
  wallets: [...ground, 'merchants', 'identities'],
  payouts: [...ground, 'acquiring', 'merchants', 'cards', 'identities', 'wallets'],
  webhooks: [...ground, 'merchants'],
  checkout: [...ground, 'merchants', 'retry-rules', 'invoices', 'receipts', 'customers'],
  // A bank, a shop and a database to try the program with. The program starts them; none of its modules knows them.
  sandbox: [
    'platform/database',
    'platform/http',
    'platform/keys',
    'platform/log.ts',
    'acquiring',
    'merchants',
  ],
  // Opens all modules and hands each what it needs.
  get app() {
    return Object.keys(this).filter((name) => !['app', 'cli', 'main.ts'].includes(name));
  },
  get cli() {
    return Object.keys(this).filter((name) => !['cli', 'main.ts'].includes(name));
  },
  'main.ts': ['asset-paths.ts', 'cli'],
};

/** Parts that know everybody because they put the others together. */
const composers = ['app', 'cli', 'main.ts'];
/** The modules of the business: those that are neither ground nor composers. */
const business = Object.keys(mayImport).filter((name) => !/^platform|\.ts$|^(app|cli)$/.test(name));

/** Few modules know each package, so that it can be replaced there. `types`: these name its types alone. */
const packages = {
  commander: { by: ['main.ts', 'cli'] },
  esbuild: { by: ['platform/http'] },
  fastify: {
    by: ['platform/http', 'sandbox'],
    types: ['acquiring', 'app', 'checkout', 'customers', 'payments', 'recurring'],
  },
  nodemailer: { by: ['platform/mail'] },
  pg: { by: ['platform/database', 'sandbox'] },
  pino: { by: ['platform/log.ts'] },
  'prom-client': { by: ['platform/http'] },
  typebox: { by: ['platform/http', ...business] },
  undici: { by: ['acquiring', 'webhooks'] },
  'csv-parse': { by: ['acquiring'] },
  '@streamparser/json': { by: ['acquiring'] },
};

/** Of another module's store only these: they write a part of the statement of whoever imports them, or read what both are about. */
const sharedStores = [
  'platform/ledger/store/(journals|invariants).ts',
  'recurring/store/charge-fragments.ts',
  'receipts/store/payer-emails.ts',
  '(acquiring|cards|invoices|payments|platform/ledger|recurring)/store/codec.ts',
  'identities/store/(sql-fragments|reads|identities).ts',
  'wallets/store/wallets.ts',
  // The sandbox makes its first merchant.
  'merchants/store/parties.ts',
];

/** What a module of the business shows to others. */
const openParts = [
  '/domain/',
  '/api/[a-z-]*schema\\.ts$',
  '/port\\.ts$',
  '/webhook-events\\.ts$',
  // What the three modules of payouts answer alike.
  '/api/(list-filters|list-page)\\.ts$',
  // How an operation gets to a bank exactly once.
  '^src/acquiring/send-or-inquire\\.ts$',
];
/** These are opened once, by app; others are given them, and know their types. */
const services = [
  'acquiring/banks.ts',
  'acquiring/adapters/http/http-bank.ts',
  'cards/vault.ts',
  'merchants/api-keys.ts',
  'merchants/merchants.ts',
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
      'Modules point one way, so that one can be read, tested and changed with only what is below it in mind.',
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
    comment: 'A new module is given its place in the list of modules first.',
    each: [{ from: { path: '^src/', pathNot: paths(Object.keys(mayImport)) }, to: {} }],
  },
  {
    name: 'pure-domain',
    comment:
      'Under domain/ stand the rules of the business. They know nothing but each other and the words, so they are tested without ' +
      'a database, a bank or a clock, and read without them.',
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
    comment:
      'What stands in the tables of a module is written and read by that module, so that their columns can change.',
    each: [
      {
        from: { path: '^src/((?:platform/)?[^/]+)/', pathNot: paths(composers) },
        to: { path: '/store/|\\.store\\.ts$', pathNot: ['^src/$1/', ...paths(sharedStores)] },
      },
    ],
  },
  {
    name: 'open-parts',
    comment:
      'Of another module of the business one knows its rules, its shapes on the API, its events and its port, not how it works.',
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
      // The sandbox's bank speaks the protocol from its other end.
      {
        from: { path: `^src/(${business.join('|')})/`, pathNot: paths(['acquiring', 'sandbox']) },
        to: { path: '^src/acquiring/adapters/http/', pathNot: paths(services) },
      },
    ],
  },
  {
    name: 'few-friends',
    comment: 'A package is known to few modules, so that it can be replaced, and a new one is a decision.',
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
    comment: 'Files that import each other, be it by types alone, can only be understood together.',
    each: [{ from: {}, to: { circular: true } }],
  },
  {
    name: 'telling-name',
    comment: 'A file is named after what it is about; under these names gathers what nobody looks for there.',
    each: [{ from: {}, to: { path: vagueNames.map((name) => `^src.*[/.]${name}s?[/.]`) } }],
  },
  {
    name: 'resolvable',
    comment:
      'What is not found is checked by no other rule. The program imports nothing from outside src but packages.',
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
    // Imports of types are arrows too.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.test\\.ts$' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
