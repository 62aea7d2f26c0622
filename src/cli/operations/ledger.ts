// mandate ledger: check the ledger, show an account, and shard the balance of a busy one.
import { checkLedger, type Finding } from '../../platform/ledger/check-ledger.ts';
import { everyInvariant } from '../../app/composition/invariants.ts';
import { shardAccount } from '../../platform/ledger/store/journals.ts';
import { findAccounts, viewAccount, type AccountView } from '../../platform/ledger/store/account-details.ts';
import { printTable, wholeNumber, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';

export async function runLedgerCheck(options: { recent?: true; json?: true }): Promise<void> {
  // If anything fails from here on, the check did not run.
  process.exitCode = 2;
  const findings = await withFoundation(({ database }) =>
    checkLedger(database, options.recent ? 'recent' : 'all', everyInvariant),
  );
  if (options.json) printJson('ledger check', findings.map(findingToJson));
  else printFindings(findings);
  process.exitCode = findings.some(({ violations }) => violations > 0n) ? 1 : 0;
}

export async function showAccount(id: string, options: { hours: string; json?: true }): Promise<void> {
  const hours = wholeNumber('--hours', options.hours, 1, 24 * 366);
  const view = await withFoundation(async ({ database }) => {
    const found = await viewAccount(database, id, hours);
    if (found) return found;
    const similar = (await findAccounts(database, id)).map((other) => `\n  ${other}`).join('');
    const hint =
      similar === ''
        ? 'No ID contains it: give a part, such as the ID of the shop. An account is opened by its first transfer.'
        : `These IDs contain it:${similar}`;
    throw new Error(`Account ${id} not found. ${hint}`);
  });
  if (options.json) return console.log(JSON.stringify(view, textOfBigint, 2));
  printAccount(view, hours);
}

export async function shard(id: string, options: { shards: string }): Promise<void> {
  const shards = wholeNumber('--shards', options.shards, 0, 256);
  const found = await withFoundation(({ database }) => shardAccount(database, id, shards));
  if (!found)
    throw new Error(`Account ${id} not found. Find its ID with "mandate ledger account <part of the ID>".`);
  console.log(`Account ${id} has ${shards} shards next to its main row.`);
}

function printFindings(findings: readonly Finding[]): void {
  printTable(
    ['', 'holds', 'checked', 'violations', 'invariant'],
    findings.map(({ id, says, checked, violations }) => [
      id,
      violations === 0n ? 'yes' : 'NO',
      String(checked),
      String(violations),
      says,
    ]),
  );
  for (const { id, examples } of findings) {
    for (const example of examples) console.log(`${id}: ${JSON.stringify(example)}`);
  }
}

function printAccount(
  { account, normalBalance, balance, shards, transfers }: AccountView,
  hours: number,
): void {
  printTable(
    ['account', account.account_id],
    [
      ['normal balance', normalBalance],
      ['overdraft', account.forbids_overdraft ? 'forbidden' : 'allowed'],
      ['opened', account.opened_at.slice(0, 19)],
      ['own', String(balance.own)],
      ['available', String(balance.available)],
      ['most', String(balance.most)],
    ],
  );
  console.log();
  printTable(
    ['shard', 'debits', 'credits', 'debits pending', 'credits pending'],
    shards.map(({ shard, debits_posted, credits_posted, debits_pending, credits_pending }) =>
      [shard, debits_posted, credits_posted, debits_pending, credits_pending].map(String),
    ),
  );
  console.log();
  if (transfers.length === 0) return console.log(`No transfers in the last ${hours} hours.`);
  printTable(
    ['time', 'side', 'posted', 'pending', 'of', 'step', 'other account'],
    transfers.map((transfer) => [
      transfer.created_at.slice(0, 19),
      transfer.is_debit ? 'debit' : 'credit',
      String(transfer.posted_minor),
      String(transfer.pending_minor),
      `${transfer.aggregate_id} ${transfer.operation_id}`,
      `${transfer.step} ${transfer.phase}`,
      transfer.other_account,
    ]),
  );
}

function findingToJson({ id, says, checked, violations, examples }: Finding) {
  return {
    id,
    says,
    holds: violations === 0n,
    checked: Number(checked),
    violations: Number(violations),
    examples,
  };
}

function textOfBigint(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
