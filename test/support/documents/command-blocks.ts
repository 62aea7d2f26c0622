// The command blocks of a Markdown page, and what the page says they print.

type Fence = { readonly language: string; readonly content: string; readonly line: number };
type CommandBlock = {
  readonly line: number;
  readonly commands: string;
  /** The `text` block that follows it. */
  readonly output?: string;
};

/** Printed between the outputs of two blocks. */
const separator = '\u001E';

export function fencesOf(page: string): (Fence & { readonly followsFence: boolean })[] {
  return [...page.matchAll(/^([ \t]*)```(.*)\n([^]*?)^\1```$/gm)].map((found) => {
    const [, , language = '', content = ''] = found;
    const before = page.slice(0, found.index);
    return { language, content, line: before.split('\n').length, followsFence: /```\s*$/.test(before) };
  });
}

/** Those that run as they stand. A block that cannot is marked `sh by-hand`. */
export function commandBlocksOf(page: string): CommandBlock[] {
  const fences = fencesOf(page);
  return fences.flatMap(({ language, content, line }, index) => {
    if (language !== 'sh') return [];
    const next = fences[index + 1];
    const hasOutput = next?.language === 'text' && next.followsFence;
    return [{ line, commands: content, ...(hasOutput ? { output: next.content } : {}) }];
  });
}

/** One script of all of them, which ends at the first command that fails. */
export function scriptOf(blocks: readonly CommandBlock[]): string {
  const parts = blocks.map(({ commands }) => `${commands}printf '${separator}'\n`);
  return ['set -e -o pipefail', ...parts].join('\n');
}

export function outputsOf(printed: string): string[] {
  return printed.split(separator).slice(0, -1);
}

/** Whether a program printed what a page shows, in which `…` stands for any text. */
export function isPrinted(shown: string, printed: string): boolean {
  const parts = shown
    .trim()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}$`).test(printed.trim());
}
