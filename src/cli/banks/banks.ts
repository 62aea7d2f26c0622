// mandate bank add, change, list, check, remove. Secrets come from a file, standard input or the environment: every process of the
// machine can read a command line.
import { readFileSync } from 'node:fs';
import { bankOverviews, type BankOverview } from '../../acquiring/bank-overview.ts';
import { deleteBank, listBanks } from '../../acquiring/store/banks.ts';
import type { Banks } from '../../acquiring/banks.ts';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { bankAddress } from '../../acquiring/adapters/http/http-bank.ts';
import { buildService } from '../../app/compose.ts';
import type { Foundation } from '../../app/composition/foundation.ts';
import type { Config } from '../../app/config.ts';
import { printTable, sentence, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';
import { refuseCardNumber } from '../option-values.ts';

type SecretOptions = { readonly secretFile?: string };

export async function addBank(id: string, options: SecretOptions & { url: string }): Promise<void> {
  refuseCardNumber('<bankID>', id);
  // It is part of the callback address.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/.test(id)) {
    throw new Error(
      `"${id}" is not an ID of a bank. Use 1 to 40 of A-Z a-z 0-9 . _ - beginning with A-Z, a-z or 0-9.`,
    );
  }
  await withBanks(async (banks, { config }) => {
    const secret = readSecret(options, config);
    const bank = { id, url: checkedUrl({ url: options.url, secret, mode: config.mode }), secret };
    if (await banks.settingsOf(id)) {
      throw new Error(
        `Bank ${id} exists already. Change its address or secret with "mandate bank change ${id}".`,
      );
    }
    await banks.putBank(bank);
  });
  console.log(`Added bank ${id}. Check that it answers: mandate bank check ${id}`);
}

export async function changeBank(
  id: string,
  options: SecretOptions & { url?: string; newSecret?: true },
): Promise<void> {
  const isNewSecret = options.newSecret === true || options.secretFile !== undefined;
  if (options.url === undefined && !isNewSecret) {
    throw new Error('Nothing to change. Give --url, --secret-file or --new-secret.');
  }
  await withBanks(async (banks, { config, database }) => {
    const known = (await database.run(listBanks, {})).some(({ bank_id }) => bank_id === id);
    if (!known) throw noSuchBank(id);
    // If both are new, the old ones need not be readable.
    const old = options.url !== undefined && isNewSecret ? undefined : await banks.settingsOf(id);
    const secret = isNewSecret ? readSecret(options, config) : (old?.secret ?? '');
    const url = checkedUrl({ url: options.url ?? old?.url ?? '', secret, mode: config.mode });
    await banks.putBank({ id, url, secret });
  });
  console.log(
    `Changed bank ${id}. Every node uses it within a second. Check that it answers: mandate bank check ${id}`,
  );
}

export async function listAllBanks(options: { json?: true }): Promise<void> {
  const banks = await withFoundation(({ database, ports }) => bankOverviews(database, ports.clock.now()));
  if (options.json) return printJson('bank list', banks);
  if (banks.length === 0) return console.log('No bank yet. Add one with "mandate bank add".');
  printTable(
    ['bank', 'address', 'terminals', 'created', 'report', 'away since'],
    banks.map((bank) => [
      bank.bankId,
      bank.url,
      String(bank.terminals),
      bank.createdAt.slice(0, 19),
      reportText(bank),
      bank.awaySince ? `${bank.awaySince.slice(0, 19)} (${bank.awayBecause})` : '',
    ]),
  );
  for (const { bankId, stoppedAt, stoppedBecause, chargesHeldUntil, chargesHeldBecause } of banks) {
    if (chargesHeldUntil !== null)
      console.log(
        `Bank ${bankId} gets no charges of subscriptions until ${chargesHeldUntil.slice(0, 19)}Z (${chargesHeldBecause}).`,
      );
    if (stoppedAt !== null) console.log(`Bank ${bankId} is stopped since ${stoppedAt}: ${stoppedBecause}.`);
  }
}

/** What the report says about lost operations, and whether it and the updates can be read (app/bank-watch). */
function reportText(bank: BankOverview): string {
  if (bank.stoppedAt !== null) return 'STOPPED';
  if (bank.checkProblem !== null) return 'cannot be checked';
  if (bank.isShared) return 'not checked: shared account';
  return bank.checkedAt === null ? 'not checked yet' : `checked ${bank.checkedAt.slice(0, 19)}`;
}

export async function removeBank(id: string): Promise<void> {
  const [row] = await withFoundation(async ({ database }) => {
    const known = (await database.run(listBanks, {})).some(({ bank_id }) => bank_id === id);
    if (!known) throw noSuchBank(id);
    return database.run(deleteBank, { bank_id: id });
  });
  if (!row?.is_deleted) {
    throw new Error(
      `Bank ${id} has ${row?.terminals ?? 0} terminals, removed ones included. Refunds of their payments need the bank. ` +
        'To send it no new payments, use "mandate terminal remove".',
    );
  }
  console.log(`Removed bank ${id}.`);
}

/** Queries an operation that does not exist. Only a correctly signed request gets `notFound`. */
export async function checkBank(id: string, options: { json?: true }): Promise<void> {
  const report = await withBanks(async (banks, { ports, database }) => {
    const settings = await banks.settingsOf(id);
    const bank = settings && (await banks.bankNamed(id));
    if (!settings || !bank) throw noSuchBank(id);
    const operationId = `check.${ports.ids.next()}`;
    const startedAtMs = performance.now();
    const terminal = { id: 'CHECK', bankId: id, merchantId: 'CHECK', descriptor: 'CHECK' };
    const answer = await bank.inquire({ operationId, terminal });
    const tookMs = Math.round(performance.now() - startedAtMs);
    const problem = problemOf(answer);
    const overviews = await bankOverviews(database, ports.clock.now());
    const { awaySince = null, awayBecause = null } = overviews.find(({ bankId }) => bankId === id) ?? {};
    return {
      bankId: id,
      url: settings.url,
      works: problem === undefined,
      tookMs,
      awaySince,
      awayBecause,
      ...(problem ? { problem } : {}),
    };
  });
  if (options.json) console.log(JSON.stringify(report, null, 2));
  else printReport(report);
  if (report.works) return;
  if (options.json) process.exitCode = 1;
  else throw new Error(`Bank ${id} at ${report.url}: ${sentence(report.problem ?? '')}`);
}

type Report = {
  readonly bankId: string;
  readonly url: string;
  readonly works: boolean;
  readonly tookMs: number;
} & Pick<BankOverview, 'awaySince' | 'awayBecause'>;

function printReport({ bankId, url, works, tookMs, awaySince, awayBecause }: Report): void {
  if (works) {
    console.log(`Bank ${bankId} answers at ${url} and accepts the signature (${tookMs} ms).`);
    console.log('To check the whole protocol, run "mandate bank conformance" against its test system.');
  }
  if (awaySince) {
    console.log(
      `It is away since ${awaySince.slice(0, 19)}Z (${awayBecause}): new operations go to other banks, if a shop has one.`,
    );
  }
}

function problemOf(answer: BankResponse): string | undefined {
  if (answer.outcome === 'notFound') return undefined;
  if (answer.outcome !== 'unknown')
    return `it answered ${answer.outcome} about an operation that does not exist, instead of notFound`;
  const { why } = answer;
  const [, advice] = problems.find(([pattern]) => pattern.test(why)) ?? [];
  return advice === undefined ? why : `${why}: ${advice}`;
}

const problems: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'no program listens there; check host and port'],
  [/ENOTFOUND|EAI_AGAIN/, 'no machine has that name; check the host'],
  [
    /UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/,
    'the machine cannot be reached from here; check the firewall',
  ],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|EPROTO/,
    'its certificate or TLS is invalid; have the bank correct it',
  ],
  [/401/, 'the bank has another secret, or the clocks differ by more than five minutes'],
  [/status 404/, 'another program answers at this address; check the path'],
  [/no answer within/, 'it accepts the connection and sends nothing'],
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
  // Editors end a file with a newline, which is not part of the secret.
  if (secretFile !== undefined) {
    return readFileSync(secretFile === '-' ? 0 : secretFile, 'utf8').replace(/\r?\n$/, '');
  }
  if (bankSecret !== undefined) return bankSecret;
  throw new Error(
    'The secret of the bank is missing. Give it in a file (--secret-file), on standard input (--secret-file -) or in ' +
      'BANK_SECRET. Create one with `openssl rand -base64 32`.',
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
  return new Error(`Bank ${id} not found. List banks with "mandate bank list".`);
}
