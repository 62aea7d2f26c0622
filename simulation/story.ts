// What happened, for a person: of a failing world only the lines about the object it is wrong with, what hit all, and how much
// time passed in between.
import type { Report } from './run-world.ts';

const maxLines = 120;
const maxCharacters = 240;
const pause = /^(\d+) ms pass$/;

export function storyOf({ lines, findings }: Report): string[] {
  const about = findings[0]?.about ?? '';
  // An id, without what stands behind it of a payment or a refund.
  const [id = about] = /[0-9A-Za-z]{20,}/.exec(about) ?? [];
  const told: string[] = [];
  let passedMs = 0;
  for (const line of lines) {
    passedMs += Number(pause.exec(line)?.[1] ?? 0);
    if (!line.includes(id) && !/^!|starts|dies|nothing goes wrong/.test(line)) continue;
    if (passedMs > 0) told.push(`${passedMs} ms later`);
    passedMs = 0;
    told.push(line.slice(0, maxCharacters));
  }
  const cut = told.length - maxLines;
  return cut > 0 ? [...told.slice(0, maxLines), `… and ${cut} lines more: --story shows all`] : told;
}
