// Which book an operator means: that of a bank he names by id or address, or one in a file, and whose it is.
import { existsSync } from 'node:fs';
import type { BankSettings, Banks } from '../../acquiring/banks.ts';
import { readBookFile } from '../../acquiring/reconciliation/report-file.ts';
import { openBookReader } from '../../acquiring/adapters/http/read-report.ts';
import type { Clock } from '../../clock.ts';
import type { Foundation } from '../../app/compose.ts';
import type { Config } from '../../app/config.ts';
import { listBanks } from '../../acquiring/store/banks.ts';
import type { TransactionReport } from '../../acquiring/reconciliation/reconcile.ts';

export type BankReport = TransactionReport & {
  readonly bankId: string;
  /** Where it is, for people. */
  readonly name: string;
  stop(): Promise<void>;
};

type Tools = {
  readonly banks: Pick<Banks, 'settingsOf'>;
  readonly all: readonly Omit<BankSettings, 'secret'>[];
  readonly config: Pick<Config, 'mode' | 'bankSecret'>;
  readonly clock: Clock;
};

/** The one that the options of a command name. */
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
  const ids = all.map(({ id }) => id).join(', ') || 'none at all';
  const only = all.length === 1 ? all[0]?.id : undefined;
  const bank = wanted ?? only;
  if (bank === undefined) throw new Error(`say with --bank which book; the banks are ${ids}`);

  /** The bank that was named with --bank-id, or the one that follows from what was asked for, or the only one. */
  function whose(follows?: string): string {
    const id = given ?? follows ?? only;
    if (id === undefined) throw new Error(`say with --bank-id whose book it is; the banks are ${ids}`);
    if (!all.some((one) => one.id === id)) throw new Error(`there is no bank ${id}; the banks are ${ids}`);
    return id;
  }

  function overHttp(bankId: string, { url, secret }: Omit<BankSettings, 'id'>): BankReport {
    const plain = config.mode === 'sandbox' ? { allowPlainHttp: true as const } : {};
    return { bankId, name: url, grows: true, ...openBookReader({ url, secret, clock, ...plain }) };
  }

  const named = await banks.settingsOf(bank);
  if (named) return overHttp(whose(named.id), named);
  if (/^https?:\/\//.test(bank)) {
    const url = bank.replace(/\/$/, '');
    const there = all.find((one) => one.url.replace(/\/$/, '') === url);
    const settings = there && (await banks.settingsOf(there.id));
    if (settings) return overHttp(whose(settings.id), settings);
    const { bankSecret: secret } = config;
    if (secret === undefined)
      throw new Error(`no bank here has the address ${url}; set BANK_SECRET to what it signs with`);
    return overHttp(whose(), { url, secret });
  }
  if (!existsSync(bank)) {
    throw new Error(
      `${bank} is no bank, no address with https:// and no file that can be seen from here; the banks are ${ids}`,
    );
  }
  const entriesAfter = () => readBookFile(bank);
  return { bankId: whose(), name: bank, grows: false, entriesAfter, stop: () => Promise.resolve() };
}
