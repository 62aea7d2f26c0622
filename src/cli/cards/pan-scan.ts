// mandate pan-scan: searches everything stored for card numbers in the clear: tables, files of the data folder, and archives.
// A finding names its place, never the number.
import { createReadStream, existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { holdsCardNumber, mayHoldCardNumber } from '../../cards/domain/written-numbers.ts';
import { codeOf } from '../../error-code.ts';
import { readEveryText } from '../../platform/database/every-text.ts';
import { printTable, withDatabase } from '../foundation.ts';
import { printJson } from '../json-members.ts';
import { settingsHere } from '../settings.ts';
import { openContents } from './archives.ts';

export type Found = { readonly place: string; readonly id: string; readonly column: string | null };
type Finds = {
  readonly add: (found: Found) => void;
  readonly notSearched: (place: string, why: string) => void;
  readonly progress: (text: string) => void;
};

const maxListed = 10_000;
const reportEveryMs = 5_000;
const exitCodes = { none: 0, found: 1, notSearched: 3 };

export async function scanForCards(options: { path?: string[]; json?: true }): Promise<void> {
  // If anything fails from here on, not everything was searched.
  process.exitCode = 2;
  const listed: Found[] = [];
  let count = 0;
  let notSearched = 0;
  const finds: Finds = {
    add(found) {
      count += 1;
      if (listed.length < maxListed) listed.push(found);
    },
    notSearched(place, why) {
      notSearched += 1;
      console.error(`not searched: ${place}: ${why}`);
    },
    progress: progressOn(process.stderr),
  };
  await withDatabase((database) => scanTables(database, finds));
  await scanDataFolder(settingsHere().dataFolder, finds);
  for (const path of options.path ?? []) await scanPath(path, finds);
  if (options.json) printJson('pan-scan', listed);
  else if (count === 0) console.log('No card number found.');
  else
    printTable(
      ['place', 'id', 'column'],
      listed.map(({ place, id, column }) => [place, id, column ?? '']),
    );
  if (count > listed.length)
    console.error(`${count} places, of which the first ${listed.length} are listed.`);
  if (notSearched > 0)
    console.error(
      `${notSearched} files or parts were not searched. Unpack them, and give their place with --path.`,
    );
  process.exitCode = count > 0 ? exitCodes.found : notSearched > 0 ? exitCodes.notSearched : exitCodes.none;
}

type Database = Parameters<Parameters<typeof withDatabase>[0]>[0];

async function scanTables(database: Database, { add, progress }: Finds): Promise<void> {
  let rows = 0;
  await database.withClient((client) =>
    readEveryText(client, (name, more, texts) => {
      rows += more;
      progress(`table ${name}, ${rows} rows so far`);
      for (const { table, id, column, text } of texts) {
        const searched = withoutNumbersOfNetworks(text);
        if (holdsCardNumber(searched) || mayHoldCardNumber(searched))
          add({ place: `table ${table}`, id, column });
      }
    }),
  );
}

/** Numbers of our own and of card networks, which can pass for a card's: one in ten has a right checksum. */
const otherNumbers = /"(eventID|\w*[nN]etworkTransactionId|\w*_network_transaction_id)"\s*:\s*"?\d+"?/g;

function withoutNumbersOfNetworks(text: string): string {
  return text.includes('"') ? text.replace(otherNumbers, '') : text;
}

/** The private PostgreSQL. Its tables are read through it, so only its log is searched as files. */
const cluster = 'pg';

/** Live mode has none. */
async function scanDataFolder(folder: string, finds: Finds): Promise<void> {
  const entries = await readdir(folder).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    return [];
  });
  for (const name of entries) {
    const path = name === cluster ? join(folder, name, 'log') : join(folder, name);
    if (existsSync(path)) await scanPath(path, finds);
  }
}

async function scanPath(path: string, finds: Finds): Promise<void> {
  const found = await stat(path);
  if (found.isFile()) return scanFile(path, finds);
  if (!found.isDirectory()) return;
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    // A link may lead back to where it stands.
    if (entry.isSymbolicLink()) finds.notSearched(`file ${inner}`, 'a link to another place');
    else await scanPath(inner, finds);
  }
}

async function scanFile(file: string, finds: Finds): Promise<void> {
  const place = `file ${file}`;
  const bytes = createReadStream(file, { highWaterMark: 64 * 1_024 }) as AsyncIterable<Buffer>;
  try {
    await openContents(bytes, {
      text: (part, pieces) => scanText(place, part, pieces, finds),
      notSearched: (part, why) => finds.notSearched(part === '' ? place : `${place}: ${part}`, why),
    });
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    finds.notSearched(place, code);
  }
}

/** A number may lie across two pieces, so each begins with the end of the one before. */
const overlap = 200;

async function scanText(
  place: string,
  part: string,
  pieces: AsyncIterable<Buffer>,
  { add, progress }: Finds,
): Promise<void> {
  const decoder = new TextDecoder();
  let before = '';
  let offset = 0;
  for await (const piece of pieces) {
    progress(`${place}, ${part}${offset} bytes so far`);
    const text = before + decoder.decode(piece, { stream: true });
    const found = mayHoldCardNumber(withoutDigests(withoutNumbersOfNetworks(text)));
    if (found) add({ place, id: `${part}byte ${Math.max(0, offset - before.length)}`, column: null });
    // Part of a longer number is none.
    before = found ? '' : text.slice(-overlap).replace(/^\d+/, '');
    offset += piece.length;
  }
}

const digests = /(?<=\\x)[0-9a-f]{26,}|(?<![0-9a-z])(?=\d*[a-f])[0-9a-f]{32,}\b/gi;

/** Encrypted columns of a dump and digests have digits by chance. What the columns have of text is read from them. */
function withoutDigests(text: string): string {
  return text.replace(digests, (word) => ` ${Buffer.from(word, 'hex').toString('latin1')} `);
}

function progressOn(stream: NodeJS.WriteStream): (text: string) => void {
  let reportedAtMs = performance.now();
  return (text) => {
    if (performance.now() - reportedAtMs < reportEveryMs) return;
    reportedAtMs = performance.now();
    stream.write(`${text}\n`);
  };
}
