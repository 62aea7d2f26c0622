// mandate bank: the simulated bank as a program of its own. mandate bank conformance: check that a bank keeps the protocol.
import { defined } from '../../defined.ts';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { checkBank } from '../../acquiring/conformance/conformance.ts';
import { systemClock } from '../../clock.ts';
import { settingsHere } from '../settings.ts';
import { openLog } from '../../platform/log.ts';

export async function runBank(options: { publicUrl?: string; seed: string }): Promise<void> {
  const { dataFolder, host, logLevel, bankPort, bankSecret } = settingsHere();
  const log = openLog({ level: logLevel, human: process.stdout.isTTY });
  const { bankSecretIn, openSimulatedBank } = await import('../../sandbox/bank/simulated-bank.ts');
  const folder = join(dataFolder, 'bank');
  const bank = await openSimulatedBank({
    clock: systemClock,
    secret: bankSecret ?? bankSecretIn(folder),
    log,
    folder,
    host,
    port: bankPort,
    seed: seedOf(options.seed),
    ...defined({ publicUrl: options.publicUrl?.replace(/\/$/, '') }),
  });
  if (!bank.isOurs()) {
    await bank.stop();
    throw new Error(
      `The bank of ${folder} runs already, at ${bank.url}. Stop it, or set MANDATE_DATA to another folder.`,
    );
  }
  if (process.stdout.isTTY) console.log(greeting(bank.url, bankSecret === undefined ? folder : undefined));
  log.info({ address: bank.url, pid: process.pid }, 'ready');
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, resolve);
  });
  log.info({ signal }, 'shutting down');
  await bank.stop();
  log.info('stopped');
}

export async function checkConformance(options: {
  url: string;
  card: string;
  otherCard: string;
  declinedCard: string;
  challengeCard: string;
  currency: string;
}): Promise<void> {
  const { bankSecret: secret } = settingsHere();
  if (secret === undefined)
    throw new Error('BANK_SECRET is not set. Set it to the secret the bank signs its messages with.');
  if (!URL.canParse(options.url))
    throw new Error(`"${options.url}" is not an address. Begin it with https://.`);
  const { url, currency, card, otherCard, declinedCard, challengeCard } = options;
  const report = await checkBank({
    url,
    secret,
    currency,
    cards: { approved: card, other: otherCard, declined: declinedCard, challenged: challengeCard },
    onResult({ number, promise, problem, notDeclared }) {
      const passed = notDeclared === undefined ? styleText('green', 'pass') : 'skip';
      const verdict = problem === undefined ? passed : styleText('red', 'FAIL');
      console.log(`${String(number).padStart(2)}  ${verdict}  ${promise}`);
      if (problem !== undefined) console.log(`          ${problem}`);
      if (notDeclared !== undefined) console.log(`          not declared: ${notDeclared}`);
    },
  });
  const skipped = report.notDeclared > 0 ? `, ${report.notDeclared} not declared` : '';
  console.log(`\n${report.passed} passed, ${report.failed} failed${skipped}.`);
  if (report.failed > 0) process.exitCode = 1;
}

function greeting(url: string, folder: string | undefined): string {
  const secret = folder === undefined ? 'BANK_SECRET' : `in ${join(folder, 'secret')}`;
  return `
${styleText('bold', 'The simulated bank is ready.')} No real money moves.

  Protocol  ${url}/operations
  Faults    ${url}/faults
  Secret    ${secret}
`;
}

function seedOf(text: string): number {
  const seed = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (seed < 2 ** 32) return seed;
  throw new Error(`--seed is "${text}". Use a whole number below ${2 ** 32}.`);
}
