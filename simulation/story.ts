// What happened, for a person: of a failing world only the lines about the object it is wrong with, and what hit all.
import type { Report } from './run-world.ts';

const linesMost = 120;
const charactersMost = 240;

export function storyOf({ lines, findings }: Report): string[] {
  const about = findings[0]?.about ?? '';
  // An id, without what stands behind it of a payment or a refund.
  const [id = about] = /[0-9A-Za-z]{20,}/.exec(about) ?? [];
  const concerns = (line: string) =>
    line.includes(id) ||
    /^!|starts|dies|nothing goes wrong/.test(line) ||
    (/ ms pass$/.test(line) && Number.parseInt(line, 10) > 1_000);
  const told = lines.filter(concerns).map((line) => line.slice(0, charactersMost));
  const cut = told.length - linesMost;
  return cut > 0 ? [...told.slice(0, linesMost), `… and ${cut} lines more: --story shows all`] : told;
}
