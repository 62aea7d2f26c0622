// mandate bank add, change, list, check, remove: the banks real money goes through. Their secrets come from a file, from standard
// input or from the environment, never from the command line, which every process of the machine can read; they are never shown.
import { readFileSync } from 'node:fs';
import { deleteBank, listBanks } from '../../acquiring/store/banks.ts';
import type { Banks } from '../../acquiring/banks.ts';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { bankAddress } from '../../acquiring/adapters/http/http-bank.ts';
import { buildService, type Foundation } from '../../app/compose.ts';
import type { Config } from '../../app/config.ts';
import { printTable, withFoundation } from '../foundation.ts';

type SecretOptions = { readonly secretFile?: string };

export async function addBank(id: string, options: SecretOptions & { url: string }): Promise<void> {
  // It is a step of the address the bank calls back to.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/.test(id)) {
    throw new Error('the id of a bank has 1 to 40 of A-Z a-z 0-9 . _ - and begins with a letter or digit');
  }
  await withBanks(async (banks, { config }) => {
    const secret = readSecret(options, config);
    const bank = { id, url: checkedUrl({ url: options.url, secret, mode: config.mode }), secret };
    if (await banks.settingsOf(id)) {
      throw new Error(
        `there is a bank ${id} already; mandate bank change gives it another address or secret`,
      );
    }
    await banks.putBank(bank);
  });
  console.log(`${id} is added. See whether it answers: mandate bank check ${id}`);
}

export async function changeBank(
  id: string,
  options: SecretOptions & { url?: string; newSecret?: true },
): Promise<void> {
  const isNewSecret = options.newSecret === true || options.secretFile !== undefined;
  if (options.url === undefined && !isNewSecret) {
    throw new Error('nothing to change: give --url, --secret-file or --new-secret');
  }
  await withBanks(async (banks, { config, database }) => {
    const known = (await database.run(listBanks, {})).some(({ bank_id }) => bank_id === id);
    if (!known) throw noSuchBank(id);
    // Both new: then it does not matter whether the old ones can still be read.
    const old = options.url !== undefined && isNewSecret ? undefined : await banks.settingsOf(id);
    const secret = isNewSecret ? readSecret(options, config) : (old?.secret ?? '');
    const url = checkedUrl({ url: options.url ?? old?.url ?? '', secret, mode: config.mode });
    await banks.putBank({ id, url, secret });
  });
  console.log(
    `${id} is changed; every node knows within a second. See whether it answers: mandate bank check ${id}`,
  );
}

export async function listAllBanks(options: { json?: true }): Promise<void> {
  const rows = await withFoundation(({ database }) => database.run(listBanks, {}));
  const banks = rows.map((row) => ({
    bankId: row.bank_id,
    url: row.url,
    terminals: Number(row.terminals),
    createdAt: row.created_at,
  }));
  if (options.json) return console.log(JSON.stringify(banks, null, 2));
  if (banks.length === 0) return console.log('There is no bank yet; mandate bank add makes one known.');
  printTable(
    ['bank', 'address', 'terminals', 'made'],
    banks.map((bank) => [bank.bankId, bank.url, String(bank.terminals), bank.createdAt.slice(0, 19)]),
  );
}

export async function removeBank(id: string): Promise<void> {
  const [row] = await withFoundation(async ({ database }) => {
    const known = (await database.run(listBanks, {})).some(({ bank_id }) => bank_id === id);
    if (!known) throw noSuchBank(id);
    return database.run(deleteBank, { bank_id: id });
  });
  if (!row?.is_deleted) {
    throw new Error(
      `${row?.terminals ?? 0} terminals are of ${id}, retired ones counted: what was paid through them is given back ` +
        'through it. mandate terminal remove keeps new payments away from it',
    );
  }
  console.log(`${id} is removed.`);
}

/** Asks about an operation that never was. A bank that keeps the protocol says so, and only to who signs rightly. */
export async function checkBank(id: string, options: { json?: true }): Promise<void> {
  const report = await withBanks(async (banks, { ports }) => {
    const settings = await banks.settingsOf(id);
    const bank = settings && (await banks.bankNamed(id));
    if (!settings || !bank) throw noSuchBank(id);
    const operationId = `check.${ports.ids.next()}`;
    const startedAtMs = performance.now();
    const terminal = { id: 'CHECK', bankId: id, merchantId: 'CHECK', descriptor: 'CHECK' };
    const answer = await bank.inquire(operationId, terminal);
    const tookMs = Math.round(performance.now() - startedAtMs);
    const problem = problemOf(answer);
    return {
      bankId: id,
      url: settings.url,
      works: problem === undefined,
      tookMs,
      ...(problem ? { problem } : {}),
    };
  });
  if (options.json) console.log(JSON.stringify(report, null, 2));
  else if (report.works) {
    console.log(`${id} answers at ${report.url} and accepts our signature (${report.tookMs} ms).`);
    console.log('Whether it keeps the whole protocol: mandate bank conformance, against its test system.');
  }
  if (report.works) return;
  if (options.json) process.exitCode = 1;
  else throw new Error(`${id} at ${report.url}: ${report.problem}`);
}

function problemOf(answer: BankResponse): string | undefined {
  if (answer.outcome === 'notFound') return undefined;
  if (answer.outcome !== 'unknown') return `it answered ${answer.outcome} about an operation that never was`;
  const { why } = answer;
  const [, advice] = problems.find(([pattern]) => pattern.test(why)) ?? [];
  return advice === undefined ? why : `${why}: ${advice}`;
}

const problems: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nobody listens there'],
  [/ENOTFOUND|EAI_AGAIN/, 'nobody knows a machine of that name'],
  [/UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/, 'the machine cannot be reached from here'],
  [/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|EPROTO/, 'its certificate or its TLS is not in order'],
  [/401/, 'the secret is not the one the bank has, or the clocks are more than five minutes apart'],
  [/status 404/, 'something else answers at this address; look at the path'],
  [/no answer within/, 'it takes the connection and says nothing'],
];

export async function withBanks<T>(work: (banks: Banks, foundation: Foundation) => Promise<T>): Promise<T> {
  return withFoundation(async (foundation) => {
    const { banks } = buildService(foundation);
    try {
      return await work(banks, foundation);
    } finally {
      await banks.stop();
    }
  });
}

function readSecret({ secretFile }: SecretOptions, { bankSecret }: Config): string {
  // The end of the line belongs to the file, not to the secret.
  if (secretFile !== undefined) {
    return readFileSync(secretFile === '-' ? 0 : secretFile, 'utf8').replace(/\r?\n$/, '');
  }
  if (bankSecret !== undefined) return bankSecret;
  throw new Error(
    'give the secret the bank and we sign with: in a file (--secret-file), on standard input (--secret-file -) or in ' +
      'BANK_SECRET. `openssl rand -base64 32` makes one',
  );
}

function checkedUrl(bank: { url: string; secret: string; mode: 'sandbox' | 'live' }): string {
  const { url, secret, mode } = bank;
  return bankAddress({ url, secret, ...(mode === 'sandbox' ? { allowPlainHttp: true } : {}) }).href.replace(
    /\/$/,
    '',
  );
}

export function noSuchBank(id: string): Error {
  return new Error(`there is no bank ${id}; mandate bank list shows all`);
}
