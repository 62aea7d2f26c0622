// mandate vault: the keys of the cards, beside running nodes.
import { reencryptCards, type Progress } from '../../cards/reencrypt.ts';
import { withFoundation } from '../foundation.ts';

export async function rotateVault(options: { wait: string }): Promise<void> {
  const waitSeconds = Number(options.wait);
  if (!(waitSeconds >= 0 && waitSeconds <= 3_600))
    throw new Error('--wait must be a number of seconds, an hour at most');
  const { isTTY } = process.stderr;
  const show = isTTY ? barOn(process.stderr) : linesOn(process.stderr, () => performance.now());
  const result = await withFoundation(({ database: db, keyring }) =>
    reencryptCards({ db, keyring, report: show, nodesLearnWithinMs: waitSeconds * 1_000 }),
  );
  if (isTTY) process.stderr.write('\n');
  const { keyVersion, done, resumed, unreadable } = result;
  console.log(`${done} cards were encrypted again, with key version ${keyVersion}.`);
  if (resumed) {
    console.log('This finished an earlier run that was interrupted. Run it again for another new key.');
  }
  if (unreadable.length === 0) return;
  throw new Error(
    `${unreadable.length} cards do not open with the key they name and were left as they are: ${unreadable.join(', ')}`,
  );
}

type Terminal = { write(text: string): unknown };

const barCharacters = 30;

export function barOn(terminal: Terminal): (progress: Progress) => void {
  return (progress) => {
    const { done, left } = progress;
    const filled = left === 0 ? barCharacters : Math.floor((done / (done + left)) * barCharacters);
    const bar = '█'.repeat(filled).padEnd(barCharacters, '░');
    terminal.write(`\r\x1b[K${bar} ${validationMessageOf(progress)}`);
  };
}

const linesAtMostEveryMs = 5_000;

/** For logs and pipes: a line now and then. */
export function linesOn(terminal: Terminal, nowMs: () => number): (progress: Progress) => void {
  let saidAtMs = -Infinity;
  return (progress) => {
    if (nowMs() - saidAtMs < linesAtMostEveryMs) return;
    saidAtMs = nowMs();
    terminal.write(`${validationMessageOf(progress)}\n`);
  };
}

function validationMessageOf({ done, left, waitMs }: Progress): string {
  if (left > 0) return `${done} of ${done + left} cards`;
  const wait = waitMs > 0 ? `, waiting ${Math.ceil(waitMs / 1000)} s until every node knows the new key` : '';
  return `${done} cards${wait}`;
}
