// What a night leaves for a release: prove-night/<commit>.json.
import type { LeftOut } from './parts.ts';

/** Of git's ignored files. */
export const recordFolder = 'prove-night';
export const leastSeconds = 20 * 60;

export type PartResult = {
  readonly name: string;
  readonly command: string;
  readonly seed: number;
  readonly seconds: number;
  readonly result: 'passed' | 'failed';
};

export type NightRecord = {
  readonly commit: string;
  /** No file differed from the commit, at the beginning and at the end. */
  readonly isClean: boolean;
  readonly node: string;
  readonly began: string;
  readonly seed: number;
  readonly seconds: number;
  readonly parts: readonly PartResult[];
  /** Parts that time did not reach. */
  readonly notReached: readonly string[];
  readonly leftOut: readonly LeftOut[];
};

/** Says why a commit may not be released, or nothing. `text` is its record, if there is one. */
export function nightFault(commit: string, text: string | undefined): string | undefined {
  const file = `${recordFolder}/${commit}.json`;
  const night = 'Run "npm run prove:night"';
  if (text === undefined) return `${file} is missing. ${night} on this commit`;
  const record = read(text);
  if (!record) return `${file} cannot be read. ${night} again`;
  if (record.commit !== commit) return `${file} is about ${record.commit}. ${night} on this commit`;
  if (!record.isClean) return `${file}: the checkout had changes. ${night} without them`;
  const failed = record.parts.filter(({ result }) => result !== 'passed');
  if (failed.length > 0) {
    const commands = failed.map(({ command }) => command).join('; ');
    return `${file}: ${failed.length} parts failed. Repeat and mend: ${commands}`;
  }
  if (record.parts.length === 0 || !(record.seconds >= leastSeconds))
    return `${file}: ${record.seconds} s are too short, at least ${leastSeconds} s are wanted. ${night} for longer`;
  return undefined;
}

function read(text: string): NightRecord | undefined {
  try {
    const record = JSON.parse(text) as NightRecord | null;
    return record !== null && Array.isArray(record.parts) ? record : undefined;
  } catch {
    return undefined;
  }
}
