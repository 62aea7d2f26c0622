// The story of a failing world: only lines about the object that is wrong, faults that hit all, and the time in between.
import type { Report } from './run-world.ts';

const maxLines = 120;
const maxCharacters = 240;
const pause = /^(\d+) ms pass$/;

export function storyOf({ lines, findings }: Report): string[] {
  const about = findings[0]?.about ?? '';
  // The aggregate's ID alone, without the payment's or refund's.
  const [id = about] = /[0-9A-Za-z]{20,}/.exec(about) ?? [];
  const story: string[] = [];
  let passedMs = 0;
  for (const line of lines) {
    passedMs += Number(pause.exec(line)?.[1] ?? 0);
    if (!line.includes(id) && !/^!|starts|dies|nothing goes wrong/.test(line)) continue;
    if (passedMs > 0) story.push(`${passedMs} ms later`);
    passedMs = 0;
    story.push(line.slice(0, maxCharacters));
  }
  const cut = story.length - maxLines;
  return cut > 0 ? [...story.slice(0, maxLines), `… and ${cut} lines more: --story shows all`] : story;
}
