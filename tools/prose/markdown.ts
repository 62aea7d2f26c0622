// A Markdown document as passages: what a reader reads as sentences, and its headings. Code and addresses are left out.
import type { Passage } from './rules.ts';

export type MarkdownText = { readonly prose: readonly Passage[]; readonly headings: readonly Passage[] };

export function readMarkdown(text: string): MarkdownText {
  const prose: Passage[] = [];
  const headings: Passage[] = [];
  let paragraph: Passage | undefined;
  const close = () => {
    if (paragraph !== undefined) prose.push(paragraph);
    paragraph = undefined;
  };
  withoutFences(text)
    .split('\n')
    .forEach((raw, index) => {
      const line = index + 1;
      const heading = /^#+\s+(.*)$/.exec(raw);
      if (heading) {
        close();
        headings.push({ line, text: plain(heading[1] ?? '') });
      } else if (/^\s*\|/.test(raw)) {
        close();
        prose.push(...cellsOf(raw).map((cell) => ({ line, text: plain(cell) })));
      } else if (raw.trim() === '') {
        close();
      } else if (/^\s*(?:[-*+]|\d+\.)\s+/.test(raw)) {
        close();
        paragraph = { line, text: plain(raw.replace(/^\s*(?:[-*+]|\d+\.)\s+/, '')) };
      } else {
        const rest = plain(raw.replace(/^\s*(?:>\s?)+/, ''));
        paragraph =
          paragraph === undefined
            ? { line, text: rest }
            : { ...paragraph, text: `${paragraph.text}\n${rest}` };
      }
    });
  close();
  return { prose, headings };
}

/** Lines stay where they are, so that a fault has the line of the document. A fence that is not closed hides nothing. */
function withoutFences(text: string): string {
  const lines = text.replace(/<!--[\s\S]*?-->/g, (block) => block.replace(/[^\n]/g, '')).split('\n');
  for (let index = 0; index < lines.length; index++) {
    const open = /^\s*(`{3,}|~{3,})/.exec(lines[index] ?? '')?.[1];
    if (open === undefined) continue;
    const isClose = (line: string) => line.trim().startsWith(open) && /^([`~])\1*$/.test(line.trim());
    const close = lines.findIndex((line, at) => at > index && isClose(line));
    if (close === -1) continue;
    lines.fill('', index, close + 1);
  }
  return lines.join('\n');
}

function cellsOf(row: string): string[] {
  return row
    .replaceAll('\\|', ' ')
    .split('|')
    .filter((cell) => /[\p{L}\p{N}]/u.test(cell));
}

function plain(text: string): string {
  return text
    .replace(/`[^`]*`/g, (code) => (code.length > 2 ? 'X' : ''))
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<https?:[^>]*>/g, 'X')
    .replace(/<[^>]*alt="([^"]*)"[^>]*>/g, '$1')
    .replace(/<[^>]+>/g, '')
    .replace(/[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}/g, '')
    .trim();
}
