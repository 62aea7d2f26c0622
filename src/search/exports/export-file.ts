// The file of an export: in pieces, each compressed, and encrypted for its place in this file alone.
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { epochMsOf, laterBy } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { leaseMs, type LeasedJob } from '../../platform/jobs/job-table.ts';
import { keyFor, type DataKey, type Keyring } from '../../platform/keys/keyring.ts';
import { decrypt, encrypt } from '../../platform/keys/master-key.ts';
import type { Export } from './domain/export.ts';
import { findPiece, storePiece } from './exports.store.ts';

export type FileKeys = Pick<Keyring, 'newest' | 'find'>;

/** Before it is compressed. */
const pieceBytes = 1_048_576;
/** The lease of the job is longer. */
const pieceEveryMs = 10_000;
const fastest = { level: 1 };

const secretOf = ({ secret }: DataKey) => keyFor(secret, 'export');
const placeOf = ({ partyId, id }: Export, run: number, number: number) =>
  JSON.stringify(['export', partyId, id, run, number]);

export type WrittenFile = {
  readonly rows: bigint;
  readonly bytes: bigint;
  readonly sha256: string;
  readonly md5: string;
};

export function openExportFile(
  { db, keys }: { readonly db: Database; readonly keys: FileKeys },
  {
    of,
    run,
    clock,
    leaseMoved,
  }: { readonly of: Export; readonly run: number } & Pick<LeasedJob, 'clock' | 'leaseMoved'>,
) {
  const hashes = openHashes();
  const count = { pieces: 0, rows: 0n, bytes: 0n };
  let lines: string[] = [];
  let length = 0;
  const nowMs = () => epochMsOf(clock.now());
  let storedAtMs = nowMs();

  async function store(): Promise<boolean> {
    const plain = Buffer.from(lines.join(''));
    [lines, length] = [[], 0];
    hashes.update(plain);
    count.bytes += BigInt(plain.length);
    count.pieces += 1;
    const key = keys.newest('access_token');
    const place = placeOf(of, run, count.pieces);
    const content = encrypt(secretOf(key), gzipSync(plain, fastest), place);
    storedAtMs = nowMs();
    const leasedUntil = laterBy(clock.now(), leaseMs);
    const piece = { ...count, number: count.pieces, keyVersion: key.keyVersion, content };
    const isStored = await storePiece(db, { of, run, leasedUntil }, piece);
    if (isStored) leaseMoved(leasedUntil);
    return isStored;
  }

  return {
    /** False if another run has begun: this one writes no more. */
    async write(text: string, rows: number): Promise<boolean> {
      lines.push(text);
      length += text.length;
      count.rows += BigInt(rows);
      return length >= pieceBytes || nowMs() - storedAtMs >= pieceEveryMs ? store() : true;
    },
    /** Undefined if another run has begun. */
    async end(): Promise<WrittenFile | undefined> {
      if (!(await store())) return undefined;
      return { rows: count.rows, bytes: count.bytes, ...hashes.digests() };
    },
  };
}

/** Clients of published reports compare the MD5, which protects from nothing. */
function openHashes() {
  const [sha256, md5] = [createHash('sha256'), createHash('md5')];
  return {
    update(plain: Buffer): void {
      sha256.update(plain);
      md5.update(plain);
    },
    digests: () => ({ sha256: sha256.digest('hex'), md5: md5.digest('hex') }),
  };
}

/** Piece by piece. It fails if the file is deleted meanwhile. */
export async function* readExportFile(
  { db, keys }: { readonly db: Pick<Database, 'run'>; readonly keys: FileKeys },
  of: Export,
): AsyncGenerator<Buffer, void> {
  if (of.sha256 === undefined) throw new Error(`The file of export ${of.id} is not whole.`);
  let bytes = 0n;
  for (let number = 1; bytes < of.bytes; number++) {
    const piece = await findPiece(db, of, number);
    const key = piece && (await keys.find('access_token', piece.keyVersion));
    if (!key) throw new Error(`Piece ${number} of export ${of.id} cannot be read.`);
    const plain = gunzipSync(decrypt(secretOf(key), piece.content, placeOf(of, of.run, number)));
    bytes += BigInt(plain.length);
    yield plain;
  }
}
