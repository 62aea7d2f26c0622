// mandate vault: encrypt the stored cards with a new key. Nodes may run.
import { reencryptCards, type Progress } from '../../cards/reencrypt.ts';
import { findPaidOutTo } from '../../payouts/store/destinations.ts';
import { withFoundation } from '../foundation.ts';

export async function rotateVault(options: { wait: string }): Promise<void> {
  const waitSeconds = Number(options.wait);
  if (!(waitSeconds >= 0 && waitSeconds <= 3_600))
    throw new Error(`--wait is "${options.wait}". Use a number of seconds from 0 to 3600.`);
  const { isTTY } = process.stderr;
  const show = isTTY ? barOn(process.stderr) : linesOn(process.stderr, () => performance.now());
  const result = await withFoundation(({ database: db, keyring }) => {
    const paidOutTo = (cardIds: readonly string[]) => findPaidOutTo(db, cardIds);
    return reencryptCards({ db, keyring, paidOutTo, report: show, nodesLearnWithinMs: waitSeconds * 1_000 });
  });
  if (isTTY) process.stderr.write('\n');
  const { keyVersion, done, resumed, unreadable } = result;
  console.log(`Encrypted ${done} cards with key version ${keyVersion}.`);
  if (resumed) {
    console.log('This completed an interrupted run. Run it again for another new key.');
  }
  if (unreadable.length === 0) return;
  throw new Error(
    `${unreadable.length} cards cannot be decrypted with their key and were not changed: ${unreadable.join(', ')}. ` +
      'Restore them from a backup.',
  );
}

type Terminal = { write(text: string): unknown };

const barCharacters = 30;

export function barOn(terminal: Terminal): (progress: Progress) => void {
  return (progress) => {
    const { done, left } = progress;
    const filled = left === 0 ? barCharacters : Math.floor((done / (done + left)) * barCharacters);
    const bar = '█'.repeat(filled).padEnd(barCharacters, '░');
    terminal.write(`\r\x1b[K${bar} ${textOf(progress)}`);
  };
}

const lineEveryMs = 5_000;

/** For logs and pipes. */
export function linesOn(terminal: Terminal, nowMs: () => number): (progress: Progress) => void {
  let printedAtMs = -Infinity;
  return (progress) => {
    if (nowMs() - printedAtMs < lineEveryMs) return;
    printedAtMs = nowMs();
    terminal.write(`${textOf(progress)}\n`);
  };
}

function textOf({ done, left, waitMs }: Progress): string {
  if (left > 0) return `${done} of ${done + left} cards`;
  const wait = waitMs > 0 ? `, waiting ${Math.ceil(waitMs / 1000)} s until every node uses the new key` : '';
  return `${done} cards${wait}`;
}
