#!/usr/bin/env node
// Pays out what a CSV file says, row by row, and writes what became of each into a report. Plain Node 20; copy it and make it yours.
//
//   MANDATE_API_KEY=… node pay-csv.mjs payouts.csv [--report FILE] [--parallel 8] [--wait 120]
//
// --wait says for how many seconds a row is asked about, and how long the service may be away.
//
// The file begins with the names of its columns: externalID, wallet, amount, currency, and destination or cardToken. Amounts
// are in minor units; a cardToken (of POST /payres/v0/bank-cards) becomes a destination of the wallet's identity first.
// The whole file is looked at before anything is paid.
//
// It may be killed at any moment and started again, also with rows added: rows that are over in the report are passed over,
// and of all others the service is asked first whether it has a withdrawal of that externalID. Such a one is followed to its end,
// whatever has become of the card's token since; only where there is none the row is sent, under that externalID.
// That is why every row has one, and why it must never be used for anything else.
//
// Settings: MANDATE_API_KEY, and MANDATE_URL (http://127.0.0.1:8080). Exit code: 0 all are paid, 1 nothing was begun,
// 2 some were not paid, 3 of some it is not known yet: start it again.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const askAgainMs = [200, 500, 1_000, 2_000, 5_000];
const answerMs = 30_000;
const reportColumns = ['externalID', 'withdrawal', 'wallet', 'amount', 'currency', 'status', 'reason'];
/** What cannot become anything else. A refusal can: a limit, for instance, frees up. */
const isOver = (status) => status === 'Succeeded' || status === 'Failed';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    report: { type: 'string' },
    parallel: { type: 'string', default: '8' },
    wait: { type: 'string', default: '120' },
  },
});
const [file] = positionals;
const key = process.env.MANDATE_API_KEY;
const url = (process.env.MANDATE_URL ?? 'http://127.0.0.1:8080').replace(/\/$/, '');
const parallel = Number(options.parallel);
const waitMs = Number(options.wait) * 1_000;
const problems = [
  file === undefined && 'which file? node pay-csv.mjs payouts.csv',
  !key && 'set MANDATE_API_KEY to the API key of your server',
  !(Number.isInteger(parallel) && parallel >= 1 && parallel <= 256) && '--parallel is a number from 1 to 256',
  !(waitMs >= 0) && '--wait is a number of seconds',
];
giveUpOn(problems.filter(Boolean));

const report = options.report ?? `${file}.report.csv`;
const rows = readRows();
const known = readReport();
const results = new Map([...known].filter(([, result]) => isOver(result.status)));
// Old lines of rows that are tried again would contradict the new ones.
writeReport();
const reportFile = openSync(report, 'a');

let stopping = '';
const identities = new Map();
const counts = { Succeeded: 0, Failed: 0, Refused: 0, Pending: 0 };
for (const { externalID } of rows) if (results.has(externalID)) counts[results.get(externalID).status] += 1;
const before = counts.Succeeded + counts.Failed;
if (before > 0) console.error(`${before} of ${rows.length} rows were over before.`);

const fresh = rows.filter(({ externalID }) => !results.has(externalID)).values();
/** Rows that have been begun, and when the next thing is to be asked about them. */
const begun = [];
const begunMost = parallel * 25;
process.once('SIGINT', () => (stopping ||= 'interrupted'));
const startedAt = Date.now();
/** When the service has last answered anything but that it cannot now. */
let heardAt = startedAt;
const ticker = setInterval(showProgress, process.stderr.isTTY ? 200 : 5_000);
await Promise.all(Array.from({ length: parallel }, work));
clearInterval(ticker);
showProgress();
if (process.stderr.isTTY) process.stderr.write('\n');

writeReport();
const unknown = rows.length - counts.Succeeded - counts.Failed - counts.Refused;
if (stopping) console.error(`Stopped: ${stopping}.`);
console.error(
  `${counts.Succeeded} paid, ${counts.Failed + counts.Refused} not paid, ${unknown} not known yet. ${report}`,
);
const open = [...results.values()].find(({ status }) => status === 'Unknown' || status === 'Pending');
if (open) console.error(`${open.externalID}: ${open.reason}. Start it again to go on.`);
process.exitCode = unknown > 0 || stopping ? 3 : counts.Failed + counts.Refused > 0 ? 2 : 0;

/** Asks one thing about one row, and takes the next: nobody waits for a bank. */
async function work() {
  for (let task = nextTask(); task && !stopping; task = nextTask()) {
    await sleep(Math.max(0, task.at - Date.now()));
    let next;
    try {
      next = await step(task);
    } catch (error) {
      stopping ||= error.message;
      return;
    }
    if (next === undefined) continue;
    task.reason = next.reason;
    task.at = Date.now() + (next.afterMs ?? askAgainMs[Math.min(task.times++, askAgainMs.length - 1)]);
    if (task.reason === undefined || task.at < task.begunAt + waitMs) begun.push(task);
    else finish(task, 'Unknown', task.reason);
    // Nobody is there: the rows to come would fare no better.
    if (task.reason !== undefined && Date.now() > heardAt + waitMs) stopping ||= task.reason;
  }
}

/** One that is due, else a new one, else the one that is due next. */
function nextTask() {
  const place = begun.reduce((best, { at }, index) => (at < begun[best].at ? index : best), 0);
  const isDue = begun.length >= begunMost || begun[place]?.at <= Date.now();
  const { value: row } = isDue ? {} : fresh.next();
  const withdrawal = row && known.get(row.externalID)?.withdrawal;
  return row ? { row, withdrawal, begunAt: Date.now(), at: 0, times: 0 } : begun.splice(place, 1)[0];
}

/** Asks one thing about a row. Undefined when it is over; otherwise it is asked again. */
async function step(task) {
  const { row } = task;
  if (task.withdrawal) {
    const answer = await ask('GET', `/wallet/v0/withdrawals/${task.withdrawal}`);
    if (answer.status !== 200) return { reason: reasonOf(answer), afterMs: answer.retryAfterMs };
    const { status, failure } = answer.body;
    if (isOver(status)) return finish(task, status, failure ? reasonOfFailure(failure) : '');
    return Date.now() < task.begunAt + waitMs ? {} : finish(task, 'Pending', 'the bank has not said it yet');
  }
  if (!task.isNew) return findEarlier(task);
  if (!task.destination && row.destination) task.destination = row.destination;
  if (!task.destination) return findDestination(task);
  const answer = await ask('POST', '/wallet/v0/withdrawals', {
    wallet: row.wallet,
    destination: task.destination,
    body: { amount: row.amount, currency: row.currency },
    externalID: row.externalID,
  });
  if (answer.status === 202) task.withdrawal = answer.body.id;
  else return refusedOrAgain(task, answer);
  task.times = 0;
  return {};
}

/** The withdrawal of a run before this one, which is in no report when that was killed. */
async function findEarlier(task) {
  const { row } = task;
  const name = encodeURIComponent(row.externalID);
  const answer = await ask('GET', `/wallet/v0/external-ids/withdrawals/${name}`);
  if (answer.status === 404) task.isNew = true;
  else if (answer.status !== 200) return refusedOrAgain(task, answer);
  else {
    const { id, wallet, destination, body } = answer.body;
    const isSame =
      wallet === row.wallet &&
      body.amount === row.amount &&
      body.currency === row.currency &&
      (!row.destination || destination === row.destination);
    if (!isSame)
      return finish(task, 'Refused', `externalIDConflict it is that of withdrawal ${id}, another one`);
    task.withdrawal = id;
  }
  return { afterMs: 0 };
}

/** The destination of a card, once the service has checked that it takes payouts. */
async function findDestination(task) {
  const { row } = task;
  if (task.checking) {
    const answer = await ask('GET', `/wallet/v0/destinations/${task.checking}`);
    if (answer.status !== 200) return refusedOrAgain(task, answer);
    const { status, failure } = answer.body;
    if (failure) return finish(task, 'Refused', reasonOfFailure(failure));
    if (status === 'Authorized') task.destination = task.checking;
    return status === 'Authorized' ? { afterMs: 0 } : {};
  }
  if (!identities.has(row.wallet)) {
    const answer = await ask('GET', `/wallet/v0/wallets/${row.wallet}`);
    if (answer.status !== 200) return refusedOrAgain(task, answer);
    identities.set(row.wallet, answer.body.identity);
  }
  const answer = await ask('POST', '/wallet/v0/destinations', {
    name: row.externalID,
    identity: identities.get(row.wallet),
    currency: row.currency,
    resource: { type: 'BankCardDestinationResource', token: row.cardToken },
    externalID: `${row.externalID}.card`,
  });
  if (answer.status !== 201) return refusedOrAgain(task, answer);
  task.checking = answer.body.id;
  return {};
}

function refusedOrAgain(task, answer) {
  const isTransient = answer.status === 0 || answer.status === 429 || answer.status >= 500;
  if (isTransient) return { reason: reasonOf(answer), afterMs: answer.retryAfterMs };
  return finish(task, 'Refused', reasonOf(answer));
}

function finish({ row, withdrawal = '' }, status, reason) {
  const { externalID, wallet, amount, currency } = row;
  const result = { externalID, withdrawal, wallet, amount: String(amount), currency, status, reason };
  results.set(externalID, result);
  counts[status] = (counts[status] ?? 0) + 1;
  appendFileSync(reportFile, csvLine(reportColumns.map((name) => result[name])));
}

/** Never throws for what may be better later: then the status is 0. A key that is not accepted ends everything. */
async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'x-request-id': randomUUID(),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(answerMs),
    });
    const text = await answer.text();
    const seconds = Number(answer.headers.get('retry-after') ?? NaN);
    const retryAfter = seconds >= 0 ? { retryAfterMs: seconds * 1_000 } : {};
    const isJson = answer.headers.get('content-type')?.includes('json') && text !== '';
    answer = { status: answer.status, body: isJson ? JSON.parse(text) : {}, ...retryAfter };
  } catch (error) {
    return { status: 0, body: { message: `no answer: ${error.cause?.code ?? error.message}` } };
  }
  if (answer.status < 500 && answer.status !== 429) heardAt = Date.now();
  if (answer.status === 401 || answer.status === 403) throw new Error('the API key is not accepted');
  return answer;
}

function reasonOf({ status, body }) {
  const { code, message, errorType, description, retryAfter } = body;
  const frees = retryAfter && `until ${retryAfter}`;
  return [code ?? errorType ?? (status || undefined), message ?? description, frees]
    .filter(Boolean)
    .join(' ');
}

function reasonOfFailure(failure) {
  const inner = failure.subError ? ` ${reasonOfFailure(failure.subError)}` : '';
  return `${failure.code ?? ''}${inner}`;
}

function showProgress() {
  const { Succeeded: paid, Failed, Refused } = counts;
  const perSecond = ((paid + Failed - before) / Math.max(0.001, (Date.now() - startedAt) / 1_000)).toFixed(0);
  const left = rows.length - paid - Failed - Refused;
  const line = `${rows.length - left}/${rows.length}  paid ${paid}  not paid ${Failed + Refused}  left ${left}  ${perSecond}/s`;
  const trouble = begun.find(({ reason }) => reason)?.reason;
  const text = trouble ? `${line}  (${trouble})` : line;
  process.stderr.write(
    process.stderr.isTTY ? `\r\x1b[K${text.slice(0, process.stderr.columns - 1)}` : `${text}\n`,
  );
}

function readRows() {
  if (!existsSync(file)) giveUpOn([`there is no file ${file}`]);
  const [header = [], ...lines] = parseCsv(file, readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  const needed = ['externalID', 'wallet', 'amount', 'currency'].filter((name) => !header.includes(name));
  if (!header.includes('destination') && !header.includes('cardToken'))
    needed.push('destination or cardToken');
  giveUpOn(needed.map((name) => `${file} has no column ${name}`));
  const found = lines.map((cells) => {
    const row = Object.fromEntries(header.map((name, place) => [name, (cells[place] ?? '').trim()]));
    return { ...row, line: cells.line, cells: cells.length };
  });
  const lineOf = new Map();
  giveUpOn(
    found.flatMap((row) => {
      const wrong = problemsOf(row, header.length);
      const first = lineOf.get(row.externalID);
      if (first !== undefined && row.externalID)
        wrong.push(`externalID ${row.externalID} is that of line ${first} too`);
      lineOf.set(row.externalID, row.line);
      return wrong.map((problem) => `${file}:${row.line}: ${problem}`);
    }),
  );
  return found.map((row) => ({ ...row, amount: Number(row.amount) }));
}

function problemsOf(row, columns) {
  const to = row.destination || row.cardToken || '';
  const longest = row.destination ? 64 : 59;
  return [
    row.cells !== columns && `${row.cells} cells under ${columns} columns`,
    !row.externalID && 'no externalID',
    row.externalID.length > longest && `externalID is longer than ${longest} characters`,
    !row.wallet && 'no wallet',
    !/^[1-9]\d{0,11}$/.test(row.amount) &&
      `amount ${JSON.stringify(row.amount)} is no whole number of minor units`,
    !/^[A-Z]{3}$/.test(row.currency) && `currency ${JSON.stringify(row.currency)} is no ISO 4217 code`,
    to === '' && 'no destination and no cardToken',
    Boolean(row.destination && row.cardToken) && 'a destination and a cardToken; one of them says where to',
    /^[\d -]{12,}$/.test(to) &&
      'looks like a card number, which belongs into no file: store the card, and write its token',
  ].filter(Boolean);
}

/** What is known of rows from an earlier run. A line that was being written when it ended says nothing. */
function readReport() {
  if (!existsSync(report)) return new Map();
  const text = readFileSync(report, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const [header = [], ...lines] = parseCsv(report, whole);
  if (whole !== '' && header.join() !== reportColumns.join())
    giveUpOn([`${report} is no report of this program`]);
  /** @type {Map<string, Record<string, string>>} */
  const found = new Map(
    lines.map((cells) => [
      cells[0],
      Object.fromEntries(reportColumns.map((name, place) => [name, cells[place]])),
    ]),
  );
  giveUpOn(
    rows.flatMap(({ externalID, wallet, amount, currency, line }) => {
      const was = found.get(externalID);
      const isSame =
        !was || (was.wallet === wallet && was.amount === String(amount) && was.currency === currency);
      if (isSame) return [];
      return [
        `${file}:${line}: ${externalID} is in ${report} with ${was.amount} ${was.currency} from ${was.wallet}`,
      ];
    }),
  );
  return found;
}

/** Aside and then renamed, so that it is never there in half; in the order of the file, and then what is not in it any more. */
function writeReport() {
  const names = new Set([...rows.map(({ externalID }) => externalID), ...results.keys()]);
  const lines = [...names].flatMap((name) => {
    const result = results.get(name);
    return result ? [csvLine(reportColumns.map((name) => result[name]))] : [];
  });
  writeFileSync(`${report}.new`, csvLine(reportColumns) + lines.join(''), { flush: true });
  renameSync(`${report}.new`, report);
}

function csvLine(cells) {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`;
}

/** Rows of cells, each with the number of the line it begins in; RFC 4180. No package, so that this file can be copied alone. */
function parseCsv(name, text) {
  const parsed = [];
  let [line, place] = [1, 0];
  let cells = Object.assign([], { line });
  for (const found of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    const [whole, quoted, plain, end] = found;
    if (found.index !== place) giveUpOn([`${name}:${line}: a quotation mark where there cannot be one`]);
    place += whole.length;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += (quoted?.split('\n').length ?? 1) - 1;
    if (end === ',') continue;
    line += 1;
    if (cells.length > 1 || cells[0] !== '') parsed.push(cells);
    cells = Object.assign([], { line });
  }
  return parsed;
}

function giveUpOn(reasons) {
  if (reasons.length === 0) return;
  for (const reason of reasons.slice(0, 20)) console.error(reason);
  if (reasons.length > 20) console.error(`and ${reasons.length - 20} more`);
  console.error('Nothing was paid.');
  process.exit(1);
}
