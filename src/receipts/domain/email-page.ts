// The HTML of an email to a payer: a heading, sentences and rows. All foreign text is escaped here.

export type EmailRow = {
  readonly label: string;
  readonly value: string;
  /** Instead of the value. */
  readonly button?: { readonly url: string; readonly text: string };
};

export function emailPage({
  language,
  subject,
  heading,
  sentences = [],
  rows,
}: {
  readonly language: string;
  readonly subject: string;
  readonly heading: string;
  readonly sentences?: readonly string[];
  readonly rows: readonly EmailRow[];
}): string {
  const table = rows.map(
    (row) => `<tr><th scope="row">${escaped(row.label)}</th><td>${cellOf(row)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(subject)}</title>
<style>body{background:Canvas;color:CanvasText;font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:2em auto;padding:0 1em}h1{font-size:1.5em}th{text-align:left;text-align:start;padding:.2em 1em .2em 0;vertical-align:top;white-space:nowrap}td{padding:.2em 0;vertical-align:top;overflow-wrap:anywhere}@media(max-width:30em){th,td{display:block;padding:0}td{padding-bottom:.6em}}.button{display:inline-block;padding:.5em 1em;border-radius:6px;background:#0b6b5c;color:#fff;text-decoration:none}</style>
<main>
<h1>${escaped(heading)}</h1>
${sentences.map((sentence) => `<p>${escaped(sentence)}</p>\n`).join('')}<table>
${table.join('\n')}
</table>
</main>
</html>
`;
}

function cellOf({ value, button }: EmailRow): string {
  return button
    ? `<a class="button" href="${escaped(button.url)}">${escaped(button.text)}</a>`
    : escaped(value);
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
}
