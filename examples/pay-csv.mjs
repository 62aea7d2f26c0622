#!/usr/bin/env node
// Pays what a CSV file says, and reports each row: plain Node 20, to copy. docs/guide/payouts.md explains it.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const pollDelaysMs = [200, 500, 1_000, 2_000, 5_000];
const timeoutMs = 30_000;
const reportColumns = ['externalID', 'withdrawal', 'wallet', 'amount', 'currency', 'status', 'reason'];
/** Final. A refusal is not: a limit frees up, for instance. */
const isFinal = (status) => status === 'Succeeded' || status === 'Failed';

const usage = 'node pay-csv.mjs payouts.csv [--report FILE] [--parallel 8] [--wait 120]';
const { values: options, positionals } = readOptions();
const [file] = positionals;
const key = process.env.MANDATE_API_KEY;
const url = (process.env.MANDATE_URL ?? 'http://127.0.0.1:8080').replace(/\/$/, '');
const parallel = Number(options.parallel);
const waitMs = Number(options.wait) * 1_000;
const problems = [
  file === undefined && `Name a CSV file: ${usage}`,
  !key && 'Set MANDATE_API_KEY to the API key of your server.',
  !(Number.isInteger(parallel) && parallel >= 1 && parallel <= 256) &&
    `--parallel "${options.parallel}" is not valid. Use a number from 1 to 256.`,
  !(waitMs >= 0) && `--wait "${options.wait}" is not valid. Use a number of seconds.`,
];
exitOn(problems.filter(Boolean));

const report = options.report ?? `${file}.report.csv`;
const rows = readRows();
const known = readReport();
const results = new Map([...known].filter(([, result]) => isFinal(result.status)));
// Old lines of rows that are retried would contradict the new ones.
writeReport();
const reportFile = openSync(report, 'a');

let stopping = '';
const identities = new Map();
const counts = { Succeeded: 0, Failed: 0, Refused: 0, Pending: 0 };
for (const { externalID } of rows) if (results.has(externalID)) counts[results.get(externalID).status] += 1;
const before = counts.Succeeded + counts.Failed;
if (before > 0) console.error(`${before} of ${rows.length} rows were final before.`);

const fresh = rows.filter(({ externalID }) => !results.has(externalID)).values();
/** Rows in progress, each with the time of its next request. */
const inProgress = [];
const maxInProgress = parallel * 25;
process.once('SIGINT', () => (stopping ||= 'interrupted'));
const startedAt = Date.now();
/** When the service last responded to anything but an overload or a fault. */
let respondedAt = startedAt;
const ticker = setInterval(showProgress, process.stderr.isTTY ? 200 : 5_000);
await Promise.all(Array.from({ length: parallel }, work));
clearInterval(ticker);
showProgress();
if (process.stderr.isTTY) process.stderr.write('\n');

writeReport();
const unknown = rows.length - counts.Succeeded - counts.Failed - counts.Refused;
if (stopping) console.error(`Stopped: ${stopping}.`);
console.error(
  `${counts.Succeeded} paid, ${counts.Failed + counts.Refused} not paid, ${unknown} unknown. The report is ${report}.`,
);
const open = [...results.values()].find(({ status }) => status === 'Unknown' || status === 'Pending');
if (open) console.error(`${open.externalID}: ${open.reason}. Run it again with the same file.`);
process.exitCode = unknown > 0 || stopping ? 3 : counts.Failed + counts.Refused > 0 ? 2 : 0;

/** Sends one request for one row, then takes the next row: no worker waits for a bank. */
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
    task.at = Date.now() + (next.afterMs ?? pollDelaysMs[Math.min(task.times++, pollDelaysMs.length - 1)]);
    if (task.reason === undefined || task.at < task.begunAt + waitMs) inProgress.push(task);
    else finish(task, 'Unknown', task.reason);
    // The service is unavailable: the next rows would fare no better.
    if (task.reason !== undefined && Date.now() > respondedAt + waitMs) stopping ||= task.reason;
  }
}

/** A row that is due, else a new one, else the row that is due next. */
function nextTask() {
  const place = inProgress.reduce((best, { at }, index) => (at < inProgress[best].at ? index : best), 0);
  const isDue = inProgress.length >= maxInProgress || inProgress[place]?.at <= Date.now();
  const { value: row } = isDue ? {} : fresh.next();
  const withdrawal = row && known.get(row.externalID)?.withdrawal;
  return row ? { row, withdrawal, begunAt: Date.now(), at: 0, times: 0 } : inProgress.splice(place, 1)[0];
}

/** Sends one request for a row. Returns nothing when the row is final. */
async function step(task) {
  const { row } = task;
  if (task.withdrawal) {
    const response = await call('GET', `/wallet/v0/withdrawals/${task.withdrawal}`);
    if (response.status !== 200) return { reason: reasonOf(response), afterMs: response.retryAfterMs };
    const { status, failure } = response.body;
    if (isFinal(status)) return finish(task, status, failure ? reasonOfFailure(failure) : '');
    return Date.now() < task.begunAt + waitMs ? {} : finish(task, 'Pending', 'the bank has not replied');
  }
  if (!task.isNew) return findEarlier(task);
  if (!task.destination && row.destination) task.destination = row.destination;
  if (!task.destination) return findDestination(task);
  const response = await call('POST', '/wallet/v0/withdrawals', {
    wallet: row.wallet,
    destination: task.destination,
    body: { amount: row.amount, currency: row.currency },
    externalID: row.externalID,
  });
  if (response.status === 202) task.withdrawal = response.body.id;
  else return refusedOrRetry(task, response);
  task.times = 0;
  return {};
}

/** The withdrawal of an earlier run, which is not in the report if that run was killed. */
async function findEarlier(task) {
  const { row } = task;
  const name = encodeURIComponent(row.externalID);
  const response = await call('GET', `/wallet/v0/external-ids/withdrawals/${name}`);
  if (response.status === 404) task.isNew = true;
  else if (response.status !== 200) return refusedOrRetry(task, response);
  else {
    const { id, wallet, destination, body } = response.body;
    const isSame =
      wallet === row.wallet &&
      body.amount === row.amount &&
      body.currency === row.currency &&
      (!row.destination || destination === row.destination);
    if (!isSame)
      return finish(
        task,
        'Refused',
        `externalIDConflict the externalID belongs to withdrawal ${id}, which differs from this row`,
      );
    task.withdrawal = id;
  }
  return { afterMs: 0 };
}

/** The destination of a card, once the bank has confirmed that it takes payouts. */
async function findDestination(task) {
  const { row } = task;
  if (task.checking) {
    const response = await call('GET', `/wallet/v0/destinations/${task.checking}`);
    if (response.status !== 200) return refusedOrRetry(task, response);
    const { status, failure } = response.body;
    if (failure) return finish(task, 'Refused', reasonOfFailure(failure));
    if (status === 'Authorized') task.destination = task.checking;
    return status === 'Authorized' ? { afterMs: 0 } : {};
  }
  if (!identities.has(row.wallet)) {
    const response = await call('GET', `/wallet/v0/wallets/${row.wallet}`);
    if (response.status !== 200) return refusedOrRetry(task, response);
    identities.set(row.wallet, response.body.identity);
  }
  const response = await call('POST', '/wallet/v0/destinations', {
    name: row.externalID,
    identity: identities.get(row.wallet),
    currency: row.currency,
    resource: { type: 'BankCardDestinationResource', token: row.cardToken },
    externalID: `${row.externalID}.card`,
  });
  if (response.status !== 201) return refusedOrRetry(task, response);
  task.checking = response.body.id;
  return {};
}

function refusedOrRetry(task, response) {
  const isTransient = response.status === 0 || response.status === 429 || response.status >= 500;
  if (isTransient) return { reason: reasonOf(response), afterMs: response.retryAfterMs };
  return finish(task, 'Refused', reasonOf(response));
}

function finish({ row, withdrawal = '' }, status, reason) {
  const { externalID, wallet, amount, currency } = row;
  const result = { externalID, withdrawal, wallet, amount: String(amount), currency, status, reason };
  results.set(externalID, result);
  counts[status] = (counts[status] ?? 0) + 1;
  appendFileSync(reportFile, csvLine(reportColumns.map((name) => result[name])));
}

/** Returns status 0 for what may succeed later. Throws only when the API key is rejected. */
async function call(method, path, body) {
  let response;
  try {
    response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'x-request-id': randomUUID(),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    const seconds = Number(response.headers.get('retry-after') ?? NaN);
    const retryAfter = seconds >= 0 ? { retryAfterMs: seconds * 1_000 } : {};
    const isJson = response.headers.get('content-type')?.includes('json') && text !== '';
    response = { status: response.status, body: isJson ? JSON.parse(text) : {}, ...retryAfter };
  } catch (error) {
    return { status: 0, body: { message: `no response: ${error.cause?.code ?? error.message}` } };
  }
  if (response.status < 500 && response.status !== 429) respondedAt = Date.now();
  if (response.status === 401 || response.status === 403)
    throw new Error('the API key was rejected, check MANDATE_API_KEY');
  return response;
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
  const trouble = inProgress.find(({ reason }) => reason)?.reason;
  const text = trouble ? `${line}  (${trouble})` : line;
  process.stderr.write(
    process.stderr.isTTY ? `\r\x1b[K${text.slice(0, process.stderr.columns - 1)}` : `${text}\n`,
  );
}

function readRows() {
  if (!existsSync(file)) exitOn([`File ${file} not found.`]);
  const [header = [], ...lines] = parseCsv(file, readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  const needed = ['externalID', 'wallet', 'amount', 'currency'].filter((name) => !header.includes(name));
  if (!header.includes('destination') && !header.includes('cardToken'))
    needed.push('destination or cardToken');
  exitOn(needed.map((name) => `${file} lacks the column ${name}`));
  const found = lines.map((cells) => {
    const row = Object.fromEntries(header.map((name, place) => [name, (cells[place] ?? '').trim()]));
    return { ...row, line: cells.line, cells: cells.length };
  });
  const lineOf = new Map();
  exitOn(
    found.flatMap((row) => {
      const wrong = problemsOf(row, header.length);
      const first = lineOf.get(row.externalID);
      if (first !== undefined && row.externalID)
        wrong.push(`externalID ${row.externalID} is in line ${first} too`);
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
    row.cells !== columns && `${row.cells} cells instead of ${columns}`,
    !row.externalID && 'no externalID',
    row.externalID.length > longest && `externalID is longer than ${longest} characters`,
    !row.wallet && 'no wallet',
    !/^[1-9]\d{0,11}$/.test(row.amount) &&
      `amount ${JSON.stringify(row.amount)} is not a whole number of minor units`,
    !/^[A-Z]{3}$/.test(row.currency) && `currency ${JSON.stringify(row.currency)} is not an ISO 4217 code`,
    to === '' && 'no destination and no cardToken',
    Boolean(row.destination && row.cardToken) && 'both a destination and a cardToken; give one',
    /^[\d -]{12,}$/.test(to) && 'looks like a card number; store the card and give its token',
  ].filter(Boolean);
}

/** Rows of an earlier run. Its last line may be incomplete, and is then ignored. */
function readReport() {
  if (!existsSync(report)) return new Map();
  const text = readFileSync(report, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const [header = [], ...lines] = parseCsv(report, whole);
  if (whole !== '' && header.join() !== reportColumns.join())
    exitOn([`${report} is not a report of this program`]);
  /** @type {Map<string, Record<string, string>>} */
  const found = new Map(
    lines.map((cells) => [
      cells[0],
      Object.fromEntries(reportColumns.map((name, place) => [name, cells[place]])),
    ]),
  );
  exitOn(
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

/** Written to a new file and renamed, so that it is never incomplete. Rows no longer in the file come last. */
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

/** RFC 4180: rows of cells, each with the number of its first line. */
function parseCsv(name, text) {
  const parsed = [];
  let [line, place] = [1, 0];
  let cells = Object.assign([], { line });
  for (const found of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    const [whole, quoted, plain, end] = found;
    if (found.index !== place) exitOn([`${name}:${line}: a quotation mark in the wrong place`]);
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

function readOptions() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        report: { type: 'string' },
        parallel: { type: 'string', default: '8' },
        wait: { type: 'string', default: '120' },
      },
    });
  } catch (error) {
    return exitOn([`${error.message.split('. ')[0]}. Use: ${usage}`]);
  }
}

function exitOn(reasons) {
  if (reasons.length === 0) return;
  for (const reason of reasons.slice(0, 20)) console.error(reason);
  if (reasons.length > 20) console.error(`and ${reasons.length - 20} more`);
  console.error('Nothing was paid.');
  process.exit(1);
}
