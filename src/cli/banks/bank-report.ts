// The transaction report that the options of a command name: of a bank, by ID or address, or a file.
import { existsSync } from 'node:fs';
import type { BankSettings, Banks } from '../../acquiring/banks.ts';
import { readBookFile } from '../../acquiring/reconciliation/report-file.ts';
import { openBookReader } from '../../acquiring/adapters/http/read-report.ts';
import type { Clock } from '../../clock.ts';
import type { Foundation } from '../../app/composition/foundation.ts';
import type { Config } from '../../app/config.ts';
import { listBanks } from '../../acquiring/store/banks.ts';
import type { TransactionReport } from '../../acquiring/reconciliation/reconcile.ts';

export type BankReport = TransactionReport & {
  readonly bankId: string;
  /** Its address or file. */
  readonly name: string;
  stop(): Promise<void>;
};

type Tools = {
  readonly banks: Pick<Banks, 'settingsOf'>;
  readonly all: readonly Omit<BankSettings, 'secret'>[];
  readonly config: Pick<Config, 'mode' | 'bankSecret'>;
  readonly clock: Clock;
};

export async function reportOf(
  { database, config, ports: { clock } }: Foundation,
  banks: Banks,
  options: { readonly bank?: string; readonly bankId?: string },
): Promise<BankReport> {
  const all = (await database.run(listBanks, {})).map(({ bank_id: id, url }) => ({ id, url }));
  return openReport({ banks, all, config, clock }, options);
}

export async function openReport(
  { banks, all, config, clock }: Tools,
  { bank: wanted, bankId: given }: { readonly bank?: string; readonly bankId?: string },
): Promise<BankReport> {
  const known = `Known banks: ${all.map(({ id }) => id).join(', ') || 'none'}.`;
  const only = all.length === 1 ? all[0]?.id : undefined;
  const bank = wanted ?? only;
  if (bank === undefined)
    throw new Error(`There is not exactly one bank. Name the bank or a report file with --bank. ${known}`);

  function bankIdOf(found?: string): string {
    const id = given ?? found ?? only;
    if (id === undefined)
      throw new Error(`The report does not name its bank. Give it with --bank-id. ${known}`);
    if (!all.some((one) => one.id === id)) throw new Error(`Bank ${id} not found. ${known}`);
    return id;
  }

  function overHttp(bankId: string, { url, secret }: Omit<BankSettings, 'id'>): BankReport {
    const plain = config.mode === 'sandbox' ? { allowPlainHttp: true as const } : {};
    return { bankId, name: url, grows: true, ...openBookReader({ url, secret, clock, ...plain }) };
  }

  const named = await banks.settingsOf(bank);
  if (named) return overHttp(bankIdOf(named.id), named);
  if (/^https?:\/\//.test(bank)) {
    const url = bank.replace(/\/$/, '');
    const there = all.find((one) => one.url.replace(/\/$/, '') === url);
    const settings = there && (await banks.settingsOf(there.id));
    if (settings) return overHttp(bankIdOf(settings.id), settings);
    const { bankSecret: secret } = config;
    if (secret === undefined)
      throw new Error(`No known bank has the address ${url}. Set BANK_SECRET to the secret it signs with.`);
    return overHttp(bankIdOf(), { url, secret });
  }
  if (!existsSync(bank)) {
    throw new Error(`--bank "${bank}" is not a known bank, an address with https:// or a file. ${known}`);
  }
  const entriesAfter = () => readBookFile(bank);
  return { bankId: bankIdOf(), name: bank, grows: false, entriesAfter, stop: () => Promise.resolve() };
}
