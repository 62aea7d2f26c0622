// Every command, as it is defined: its texts, its examples, its JSON and the arguments it refuses.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commandLine } from '../../test/support/processes/command-line.ts';
import { commandsUnder, isRunnable, wordsOfExample } from '../../test/support/processes/commands.ts';
import { settings } from '../app/settings/settings.ts';
import { jsonMembersOf } from './json-members.ts';
import type { MandateCommand } from './mandate-command.ts';
import { createProgram } from './program.ts';

const all = commandsUnder(createProgram());
const runnable = all.filter(isRunnable);
const byPath = (commands: MandateCommand[]) => commands.map((command) => [command.path(), command] as const);

/** A command that every setting keeps from running: PORT is wrong. */
const run = (...words: string[]) => commandLine(words, { PORT: 'none' });

/** Arguments and options that the command cannot do without. */
function requiredWords(command: MandateCommand): string[] {
  const args = command.registeredArguments.filter(({ required }) => required);
  const options = command.options.filter(({ mandatory }) => mandatory);
  return [
    ...args.map(({ argChoices }) => argChoices?.[0] ?? 'X'),
    ...options.flatMap(({ long, argChoices }) => [long ?? '', argChoices?.[0] ?? 'X']),
  ];
}

test('there are more than 60 commands', () => {
  expect(all.length).toBeGreaterThan(60);
});

describe.each(byPath(all))('mandate %s', (path, command) => {
  test('has a short summary, and describes its arguments and options', () => {
    expect(command.summary()).toMatch(/^[A-Z].{5,59}$/);
    expect(command.summary()).not.toMatch(/[.:]$/);
    for (const { description } of command.registeredArguments) expect(description).not.toBe('');
    for (const { description } of command.options) expect(description).not.toBe('');
  });

  test('prints help with examples', async () => {
    const { code, output } = await run(...wordsOf(path), '--help');
    expect(code).toBe(0);
    expect(output).toContain(`Usage: mandate ${path}`);
    expect(command.examples.length).toBeGreaterThan(0);
    for (const example of command.examples) expect(output).toContain(`  ${example}\n`);
  });

  test('has examples that the program accepts', async () => {
    for (const example of command.examples) expect(await parsed(example)).toContain(path);
  });
});

describe.each(byPath(runnable))('mandate %s', (path, command) => {
  const words = [...wordsOf(path), ...requiredWords(command)];

  test('refuses an unknown option', async () => {
    const { code, errors, output } = await run(...words, '--nonsense');
    expect(errors).toMatch(/^mandate: Unknown option "--nonsense"\./);
    expect(errors).toContain(`Run "mandate ${path} --help" for usage and examples.\n`);
    expect({ isRefused: code !== 0, output }).toEqual({ isRefused: true, output: '' });
  });

  test('refuses an argument too many', async () => {
    const optional = command.registeredArguments.filter(({ required }) => !required).map(() => 'X');
    const { code, errors, output } = await run(...words, ...optional, 'toomuch');
    expect(errors).toMatch(/^mandate: (Unexpected argument|Unknown command) "toomuch"\./);
    expect({ isRefused: code !== 0, output }).toEqual({ isRefused: true, output: '' });
  });
});

describe('a mistake in the arguments is reported with what to do:', () => {
  test.each([
    [['jobs', 'stuk'], 'Unknown command "stuk". Did you mean stuck?'],
    [['help', 'kes'], 'Unknown command "kes". Did you mean keys?'],
    [['jobs', 'help', 'stuk'], 'Unknown command "stuk". Did you mean stuck?'],
    [['keys', 'list', '--party', 'P', '--jso'], 'Unknown option "--jso". Did you mean --json?'],
    [['keys', 'list'], 'Option --party <id> is missing.'],
    [['shop', 'list', '--prty', 'X'], 'Unknown option "--prty". Did you mean --party?'],
    [['shop', 'list', '--json', '--zzz'], 'Unknown option "--zzz".'],
    [['shop', 'list', '--', '--prty'], 'Option --party <id> is missing.'],
    [['keys', 'list', '--party'], 'Option --party <id> needs a value.'],
    [['keys', 'revoke'], 'Argument <keyID> is missing.'],
    [['serve', '--port', '9000'], 'Unknown option "--port". Set PORT in the environment instead.'],
    [['serve', '--mode=live'], 'Unknown option "--mode=live". Set MANDATE_MODE in the environment instead.'],
    [
      ['identity', 'level', 'I', 'gold', '--reason', 'r'],
      'Unknown level "gold". Use anonymous, partial or identified.',
    ],
    [
      ['payout', 'resolve', 'W', '--as', 'paid', '--reason', 'r'],
      'Unknown value "paid" for --as. Use succeeded or failed.',
    ],
    [
      ['wallet', 'deposit', 'W', '--amount', '1', '--amount', '2'],
      'Option --amount is given twice. Give it once.',
    ],
    [
      ['party', 'create', '--name', 'Paid by 4242 4242 4242 4242 12/30'],
      'Option --name must not contain a card number.',
    ],
    [
      ['payout', 'resolve', 'W', '--as', 'failed', '--reason=card 4242-4242-4242-4242'],
      'Option --reason must not contain a card number.',
    ],
    [
      ['shop', 'create', '--url', 'https://x.example/4242424242424242'],
      'Option --url must not contain a card number.',
    ],
    [['bank', '--seed', '7', 'list'], 'Option --seed is for the simulated bank alone. Remove it.'],
  ])('%j', async (words, message) => {
    const { code, errors } = await run(...words);
    expect(errors).toContain(`mandate: ${message}\n`);
    expect(code).toBe(1);
  });

  test('an option that is repeatable may be given twice', async () => {
    const origins = ['--add', 'https://a.example', '--add', 'https://b.example'];
    const { errors } = await run('shop', 'origins', 'S', '--party', 'P', ...origins);
    expect(errors).toContain('PORT is "none"');
  });
});

describe('--json', () => {
  const offering = all.filter((command) => command.options.some(({ long }) => long === '--json'));

  test.each(byPath(all.filter((command) => /^List (?!and)/.test(command.summary()))))(
    'is offered by %s, which lists',
    (_, command) => expect(offering).toContain(command),
  );

  test.each(byPath(offering))('is documented in the help of %s', async (path) => {
    expect(jsonMembersOf(path)).toBeDefined();
    const { output } = await run(...wordsOf(path), '--help');
    expect(output.replaceAll(/\s+/g, ' ')).toContain(`JSON: ${jsonMembersOf(path)}`);
  });

  test('is documented for no other command', () => {
    const others = all.filter((command) => !offering.includes(command));
    expect(others.filter((command) => jsonMembersOf(command.path()) !== undefined)).toEqual([]);
  });
});

test('every command is in a group of the help', async () => {
  const { output } = await run('--help');
  expect(output).not.toContain('\nCommands:\n');
  expect(output).toMatch(/Start and set up:\n {2}serve /);
});

describe('mandate config', () => {
  const secrets = {
    MANDATE_MODE: 'live',
    DATABASE_URL: 'postgres://me:hush@db.internal:5433/mandate?sslmode=verify-full&password=hush',
    MANDATE_MASTER_KEY: Buffer.from('hush: a key that no page may see').toString('base64'),
    BANK_SECRET: 'hush hush',
    METRICS_TOKEN: 'hush-metrics',
    SMTP_URL: 'smtps://shop:hush@mail.example',
    SMTP_FROM: 'Shop <receipts@shop.example>',
    PUBLIC_URL: 'https://pay.example/',
    PUBLC_URL: 'https://pay.example',
  };
  const shown = async (environment: Record<string, string>) => {
    const { code, output, errors } = await commandLine(['config', '--json'], environment);
    expect(code).toBe(0);
    const rows = JSON.parse(output) as { name: string; value: string | null; source: string }[];
    const of = (name: string) => {
      const { value, source } = rows.find((row) => row.name === name)!;
      return [value, source];
    };
    return { rows, of, output, errors };
  };

  test('shows every setting in force and its source', async () => {
    const { rows, of } = await shown({ PORT: '9000', MANDATE_DATA: '/srv/data' });
    expect(rows.map(({ name }) => name)).toEqual(Object.values(settings).map(({ name }) => name));
    expect(of('PORT')).toEqual(['9000', 'environment']);
    expect(of('PUBLIC_URL')).toEqual(['http://127.0.0.1:9000', 'default']);
    expect(of('DATABASE_URL')).toEqual(['private PostgreSQL in /srv/data', 'sandbox']);
    expect(of('MANDATE_MASTER_KEY')).toEqual(['in /srv/data/master.key', 'sandbox']);
    expect(of('CARD_TESTING_LIMITS')).toEqual(['on', 'default']);
    expect(of('STRICT_REQUEST_ID')).toEqual(['off', 'default']);
    expect(of('SMTP_URL')).toEqual([null, 'default']);
    expect(of('SMTP_TIMEOUT_SECONDS')).toEqual(['20', 'default']);
  });

  test('shows SMTP_TIMEOUT_SECONDS without a mail server too', async () => {
    const { of } = await shown({ SMTP_TIMEOUT_SECONDS: '7' });
    expect(of('SMTP_TIMEOUT_SECONDS')).toEqual(['7', 'environment']);
  });

  test('masks secrets', async () => {
    const { of, output, errors } = await shown(secrets);
    expect(output + errors).not.toMatch(/hush|aHVz/);
    expect(of('DATABASE_URL')).toEqual(['postgres://db.internal:5433/mandate', 'environment']);
    expect(of('MANDATE_MASTER_KEY')).toEqual(['********', 'environment']);
    expect(of('SMTP_URL')).toEqual(['smtps://mail.example:465', 'environment']);
    expect(of('SMTP_FROM')).toEqual(['Shop <receipts@shop.example>', 'environment']);
    expect(of('PUBLIC_URL')).toEqual(['https://pay.example', 'environment']);
    expect(of('CARD_TESTING_LIMITS')).toEqual(['on', 'default']);
    const text = await commandLine(['config'], secrets);
    expect(text.output).not.toMatch(/hush|aHVz/);
    expect(text.output).toMatch(/^PORT +default +8080$/m);
  });

  test('shows an address without its parameters', async () => {
    const { of } = await shown({
      BANK_URL: 'https://bank.example/mandate?key=hush',
      PUBLIC_URL: 'https://pay.example/?key=hush',
    });
    expect(of('BANK_URL')).toEqual(['https://bank.example/mandate', 'environment']);
    expect(of('PUBLIC_URL')).toEqual(['https://pay.example', 'environment']);
  });

  test.each(['BANK_URL', 'PUBLIC_URL'])('refuses credentials in %s', async (name) => {
    const { code, errors, output } = await commandLine(['config'], { [name]: 'http://me:hush@host.example' });
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toContain(`${name} contains a user name or password.`);
    expect(errors).not.toContain('hush');
  });

  test('warns of a misspelt name on standard error', async () => {
    const { errors } = await shown({
      DATABSE_URL: 'postgres://db',
      HOSTS: 'x',
      MANDATE_MOD: 'live',
      MANDATE_COLOUR: 'red',
    });
    expect(errors).toBe(
      'mandate: warning: DATABSE_URL is not a setting. Did you mean DATABASE_URL?\n' +
        'mandate: warning: MANDATE_MOD is not a setting. Did you mean MANDATE_MODE?\n' +
        'mandate: warning: MANDATE_COLOUR is not a setting. "mandate config" lists all settings.\n',
    );
  });
});

test('the fields that the help of mandate sandbox names are those it prints', () => {
  const help = createProgram().commands.find((command) => command.name() === 'sandbox')!;
  const source = readFileSync(new URL('../sandbox/sandbox-setup.ts', import.meta.url), 'utf8');
  const [, type = ''] = /export type SandboxInfo = \{([^}]*)\}/.exec(source) ?? [];
  const stored = [...type.matchAll(/readonly (\w+)/g)].map(([, name]) => (name === 'apiUrl' ? 'url' : name));
  const description = help.registeredArguments[0]?.description ?? '';
  expect(description.replace('print only this one: ', '').split(/, | or /)).toEqual(stored);
});

function wordsOf(path: string): string[] {
  return path === '' ? [] : path.split(' ');
}

/** Parses an example without running it, and returns the command it names. */
async function parsed(example: string): Promise<string> {
  const words = wordsOfExample(example);
  const program = createProgram();
  let named = 'none';
  for (const command of commandsUnder(program)) {
    command.exitOverride((error) => {
      throw error;
    });
    command.configureOutput({ writeOut: () => {}, writeErr: () => {} });
    if (isRunnable(command)) command.action(() => void (named = command.path()));
  }
  const help = words.at(-1) === '--help';
  await program.parseAsync(help ? words.slice(0, -1) : words, { from: 'user' }).catch((error: unknown) => {
    if (!help) throw new Error(`${example}: ${String(error)}`);
    named = words.slice(0, -1).join(' ');
  });
  return named;
}
