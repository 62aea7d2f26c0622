// The trace is one hash over every choice and result, so that two runs can be compared.
// It also keeps the first lines for the story.
import { createHash } from 'node:crypto';

export type Trace = {
  add(line: string): void;
  lines(): readonly string[];
  /** 16 hexadecimal digits. */
  digest(): string;
};

export function openTrace(maxLines = 200_000): Trace {
  const hash = createHash('sha256');
  const lines: string[] = [];
  return {
    add(line) {
      hash.update(line).update('\n');
      if (lines.length < maxLines) lines.push(line);
    },
    lines: () => lines,
    digest: () => hash.copy().digest('hex').slice(0, 16),
  };
}
