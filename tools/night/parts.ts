// What a night runs, in order of worth: first what the gate leaves out and what finds most.

export type Part = {
  readonly name: string;
  readonly does: string;
  /** The command for a shell; it repeats a failure. */
  command(seed: number): string;
  /** Another run tries something else, so it is worth repeating. */
  readonly repeats: boolean;
  /** A script of package.json that an earlier version may lack. */
  readonly script?: string;
  /** Programs it needs. */
  readonly needs?: readonly string[];
};

/** Of Debian's PostgreSQL, which the proofs of operations use. */
const debianPostgres = ['initdb'];

/** A test with a browser skips itself without one, unless CI is set. */
const withBrowser = (seed: number) => `CI=true SEED=${seed}`;

export const nightParts: readonly Part[] = [
  {
    name: 'worlds',
    does: '40 long worlds',
    command: (seed) => `npm run simulate -- --worlds 40 --steps 8000 --processes 2 --seed ${seed}`,
    repeats: true,
  },
  {
    name: 'campaigns',
    does: 'all campaigns in full, with every look of the pages',
    command: (seed) => `${withBrowser(seed)} npm run prove:campaigns`,
    repeats: true,
  },
  {
    name: 'lives',
    does: '200,000 lives of subscriptions against their model',
    command: (seed) => `npm run prove:lives -- --lives 200000 --seed ${seed}`,
    repeats: true,
    script: 'prove:lives',
  },
  {
    name: 'torture',
    does: '30 processes killed under load',
    command: () => 'npm run torture -- --kills 30 --operations 3000',
    repeats: true,
  },
  {
    name: 'mutants',
    does: 'every planted fault is found',
    // With a fresh seed a fault may need many worlds. The first that finds it is the last.
    command: (seed) => `npm run simulate:mutants -- --worlds 60 --seed ${seed}`,
    repeats: true,
  },
  {
    name: 'node-24',
    does: 'the whole suite on Node 24',
    command: (seed) => `${withBrowser(seed)} npm run prove:node-24`,
    repeats: true,
  },
  ...(
    [
      ['faults', 'payments with a faulty bank'],
      ['payouts', 'payouts with faults'],
      ['hostile', 'hostile requests'],
      ['webhooks', 'events to a receiver that fails'],
      ['rules', 'charge histories against the rules'],
    ] as const
  ).map(([name, does]): Part => ({
    name,
    does,
    command: (seed) => `SEED=${seed} npm run prove:${name}`,
    repeats: true,
  })),
  {
    name: 'lifecycles',
    does: 'small mistakes in lifecycle files are found',
    command: () => 'npm run mutate:lifecycles',
    repeats: false,
  },
  {
    name: 'traces',
    does: 'the same traces on a busy machine',
    command: () => 'npm run prove:traces',
    repeats: false,
  },
  {
    name: 'fail-over',
    does: 'a standby promoted under load',
    command: () => 'npm run prove:fail-over',
    repeats: true,
    needs: debianPostgres,
  },
  {
    name: 'backup',
    does: 'a restore to a point in time',
    command: () => 'npm run prove:backup',
    repeats: false,
    needs: debianPostgres,
  },
  {
    name: 'pgbouncer',
    does: 'PgBouncer by session and by transaction',
    command: () => 'npm run prove:pgbouncer',
    repeats: false,
    needs: [...debianPostgres, 'pgbouncer'],
  },
  {
    name: 'clients',
    does: 'generated clients pay, bind and pay out',
    command: () => 'npm run clients:try',
    repeats: false,
    script: 'clients:try',
    needs: ['java', 'mvn', 'python3'],
  },
  {
    name: 'junk',
    does: 'one caller next to a caller of junk',
    command: () => 'npm run bench:junk -- 30 --margin 0.3',
    repeats: true,
    script: 'bench:junk',
  },
  {
    name: 'timings',
    does: 'the service next to its floor',
    command: () => 'npm run bench -- --quick',
    repeats: false,
  },
];

/** Leaves out what this machine or this version cannot run, with the reason. */
export function runnable(
  parts: readonly Part[],
  here: { hasScript(name: string): boolean; hasProgram(name: string): boolean },
): { readonly parts: readonly Part[]; readonly leftOut: readonly LeftOut[] } {
  const leftOut = parts.flatMap(({ name, script, needs = [] }): LeftOut[] => {
    if (script !== undefined && !here.hasScript(script)) return [{ name, why: `no script ${script}` }];
    const missing = needs.filter((program) => !here.hasProgram(program));
    return missing.length > 0 ? [{ name, why: `not installed: ${missing.join(', ')}` }] : [];
  });
  return { parts: parts.filter(({ name }) => !leftOut.some((one) => one.name === name)), leftOut };
}

export type LeftOut = { readonly name: string; readonly why: string };
