// mandate reconcile: compare the report of a bank with our records, and say what to do about each difference.
import { styleText } from 'node:util';
import { parseInstant, type Instant } from '../../clock.ts';
import { reconciliationSources } from '../../app/sources/reconciliation-sources.ts';
import { buildService } from '../../app/compose.ts';
import { splitByRestore, lostOperations } from '../../acquiring/reconciliation/domain/after-restore.ts';
import { differenceClasses, type Difference } from '../../acquiring/reconciliation/domain/difference.ts';
import { reconcile, type Progress, type Reconciliation } from '../../acquiring/reconciliation/reconcile.ts';
import type { Sum } from '../../acquiring/reconciliation/domain/totals.ts';
import { reportOf, type BankReport } from './bank-report.ts';
import { defined } from '../../defined.ts';
import { printTable, withFoundation } from '../foundation.ts';

export type ReconcileCommand = {
  readonly bank?: string;
  readonly bankId?: string;
  readonly from?: string;
  readonly to?: string;
  readonly pendingHours: string;
  readonly list: string;
  readonly restoredTo?: string;
  readonly json?: true;
};

/** After a restore, every lost operation is listed: each has to be recovered. */
const maxListedAfterRestore = 1_000_000;

export async function reconcileWithBank(options: ReconcileCommand): Promise<void> {
  // If anything fails from here on, nothing was compared.
  process.exitCode = 2;
  const period = defined({ from: moment('--from', options.from), to: moment('--to', options.to) });
  const pendingHours = wholeNumber('--pending-hours', options.pendingHours);
  const restoredTo = moment('--restored-to', options.restoredTo);
  const maxList = restoredTo ? maxListedAfterRestore : wholeNumber('--list', options.list);
  const progress = progressOn(process.stderr);

  const { report, result } = await withFoundation(async (foundation) => {
    const { database: db, ports } = foundation;
    const { banks } = buildService(foundation);
    const report = await reportOf(foundation, banks, options);
    try {
      const result = await reconcile({
        db,
        clock: ports.clock,
        comparison: reconciliationSources,
        book: report,
        bankId: report.bankId,
        period,
        pendingHours,
        maxList,
        report: progress.show,
      });
      return { report, result };
    } finally {
      progress.end();
      await report.stop();
    }
  });
  if (options.json) console.log(JSON.stringify(toJson(report, result, restoredTo), null, 2));
  else print(report, result, restoredTo);
  process.exitCode = result.sums.length > 0 ? 1 : 0;
}

function print({ bankId, name }: BankReport, result: Reconciliation, restoredTo: Instant | undefined): void {
  const { period, lines, linesOutside, equal, open, edge, sums } = result;
  const { from, to } = period;
  const between = [...(from ? [` from ${from}`] : []), ...(to ? [` to ${to}`] : [])].join('');
  console.log(
    `Report of bank ${bankId}, ${name}${between}: ${lines} lines${linesOutside > 0 ? `, ${linesOutside} more outside the period` : ''}.`,
  );
  const number = sums.reduce((all, sum) => all + sum.number, 0);
  console.log(`${equal} equal, ${open} in progress, ${edge} at the edge of the period, ${number} different.`);
  if (number === 0) return;
  console.log();
  printTable(
    ['difference', 'number', 'at stake, minor units'],
    sums.map((sum) => [sum.class, String(sum.number), amountText(sum.atStakeMinor, sum.currency)]),
  );
  const differences = restoredTo ? printLost(result, restoredTo) : result.differences;
  for (const name of new Set(sums.map((sum) => sum.class))) {
    const listed = differences.filter((difference) => difference.class === name);
    const all = sums.filter((sum) => sum.class === name).reduce((count, sum) => count + sum.number, 0);
    if (listed.length > 0) printClass(name, listed, restoredTo ? listed.length : all);
  }
}

/** Prints what the restore lost, and returns the other differences. */
function printLost({ differences }: Reconciliation, restoredTo: Instant): readonly Difference[] {
  const { lost, others } = splitByRestore(differences, restoredTo);
  for (const [work, found] of lost) {
    const { means, advice } = lostOperations[work];
    const name = `${work} since ${restoredTo.slice(0, 19)}, ${found.length}`;
    console.log(`\n${process.stdout.isTTY ? styleText('bold', name) : name}: ${means}\n${advice}\n`);
    for (const difference of found)
      console.log(`${difference.operationId}  ${lineText(difference)}\n  here  ${oursText(difference)}`);
  }
  return others;
}

function printClass(name: Sum['class'], listed: readonly Difference[], all: number): void {
  const { means, advice } = differenceClasses[name];
  console.log(`\n${process.stdout.isTTY ? styleText('bold', name) : name}: ${means}\n${advice}\n`);
  for (const difference of listed) {
    const { operationId, atStakeMinor, currency } = difference;
    console.log(`${operationId}  ${amountText(atStakeMinor, currency)}`);
    console.log(`  here  ${oursText(difference)}\n  bank  ${lineText(difference)}`);
  }
  if (all > listed.length) console.log(`${all - listed.length} more. List all with --list ${all}.`);
}

function oursText({ ours }: Difference): string {
  if (!ours) return 'not recorded';
  const { object, objectId, status, partyId, kind, sign, minor, currency, bankId } = ours;
  return `${object} ${objectId} of party ${partyId}, ${status}: ${movement(kind, sign, minor, currency)}${bankId === undefined ? '' : ` by ${bankId}`}`;
}

function lineText({ line }: Difference): string {
  if (!line) return 'not in the report';
  const { sequence, kind, sign, minor, currency, at, originalId, cardMask } = line;
  const more = [originalId && `of ${originalId}`, cardMask].filter((text) => text !== undefined).join(' ');
  return `line ${sequence}, ${at.slice(0, 19)}: ${movement(kind, sign, minor, currency)} ${more}`.trimEnd();
}

function movement(kind: string, sign: number, minor: bigint, currency: string): string {
  if (sign !== 0) return `${kind} ${amountText(BigInt(sign) * minor, currency)}`;
  return `${kind}, ${minor} ${currency} ${kind === 'reverse' ? 'released' : 'held'}`;
}

function amountText(minor: bigint, currency: string): string {
  return `${minor > 0n ? '+' : ''}${minor} ${currency}`;
}

/** Sums are text: in theory they can exceed 2^53. */
function toJson(
  { bankId, name }: BankReport,
  { sums, differences, ...counts }: Reconciliation,
  restoredTo: Instant | undefined,
) {
  const lost = restoredTo ? splitByRestore(differences, restoredTo).lost : [];
  const lostAs = new Map([...lost].flatMap(([work, found]) => found.map((one) => [one, work] as const)));
  return {
    bankId,
    book: name,
    ...counts,
    sums: sums.map((sum) => ({ ...sum, atStakeMinor: sum.atStakeMinor.toString() })),
    differences: differences.map((difference) => {
      const { ours, line, atStakeMinor, ...named } = difference;
      const lostWith = lostAs.get(difference);
      return {
        ...named,
        atStakeMinor: Number(atStakeMinor),
        ...(lostWith
          ? { sinceRestore: lostWith, ...lostOperations[lostWith] }
          : differenceClasses[difference.class]),
        ...(ours ? { ours: { ...ours, minor: Number(ours.minor) } } : {}),
        ...(line ? { line: { ...line, minor: Number(line.minor) } } : {}),
      };
    }),
  };
}

const lineEveryMs = 5_000;

/** In place on a terminal, one line every 5 s elsewhere. */
function progressOn(stream: NodeJS.WriteStream) {
  let printedAtMs = performance.now();
  return {
    show({ doing, lines }: Progress): void {
      const nowMs = performance.now();
      if (nowMs - printedAtMs < (stream.isTTY ? 100 : lineEveryMs)) return;
      printedAtMs = nowMs;
      stream.write(stream.isTTY ? `\r\x1b[K${doing}: ${lines} lines` : `${doing}: ${lines} lines\n`);
    },
    end: () => void (stream.isTTY && stream.write('\r\x1b[K')),
  };
}

function moment(option: string, text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined;
  const instant = parseInstant(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (instant) return instant;
  throw new Error(
    `${option} is "${text}". Use 2026-11-20, which is midnight UTC, or 2026-11-20T00:00:00+03:00.`,
  );
}

function wholeNumber(option: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`${option} is "${text}". Use a whole number of at most 9 digits.`);
}
