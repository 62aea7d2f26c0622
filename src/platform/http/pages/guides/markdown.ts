// Renders the Markdown of this repository's documents as HTML: what the formatter leaves of it, and nothing a document could run.
// Links are resolved by the caller.

/** The address in a page, or undefined if the target is not served: then only the text is shown. */
export type Resolve = (target: string) => string | undefined;

export function renderMarkdown(text: string, resolve: Resolve): string {
  const lines = text.replace(/^<!--[\s\S]*?-->\n/gm, '').split('\n');
  return blocks(lines, { resolve, slugs: new Map() });
}

/** The anchor of a heading, as code hosts make it. */
function slugOf(heading: string): string {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
}

type Context = { readonly resolve: Resolve; readonly slugs: Map<string, number> };

const fence = /^(\s*)(`{3,})[^`]*$/;
const item = /^( *)([-*]|\d+\.) +/;

function blocks(lines: readonly string[], context: Context): string {
  const html: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    const kind = kindOf(line);
    const end = kind.endOf(lines, at);
    html.push(kind.html(lines.slice(at, end), context));
    at = end;
  }
  return html.filter((block) => block !== '').join('\n');
}

type Kind = {
  readonly starts: (line: string) => boolean;
  /** The first line behind the block. */
  readonly endOf: (lines: readonly string[], start: number) => number;
  readonly html: (lines: readonly string[], context: Context) => string;
};

const oneLine: Kind['endOf'] = (_, start) => start + 1;
const whileLines =
  (belongs: (line: string) => boolean): Kind['endOf'] =>
  (lines, start) => {
    const end = lines.findIndex((line, at) => at > start && !belongs(line));
    return end === -1 ? lines.length : end;
  };

const kinds: readonly Kind[] = [
  { starts: (line) => line.trim() === '', endOf: oneLine, html: () => '' },
  { starts: (line) => fence.test(line), endOf: endOfFence, html: codeBlock },
  {
    starts: (line) => /^#{1,6} /.test(line),
    endOf: oneLine,
    html: ([line = ''], context) => heading(line, context),
  },
  { starts: (line) => /^---+$/.test(line), endOf: oneLine, html: () => '<hr>' },
  { starts: isRow, endOf: whileLines(isRow), html: table },
  {
    starts: (line) => line.startsWith('>'),
    endOf: whileLines((line) => line.startsWith('>')),
    html: (lines, context) =>
      `<blockquote>${blocks(
        lines.map((line) => line.replace(/^> ?/, '')),
        context,
      )}</blockquote>`,
  },
  { starts: (line) => item.test(line), endOf: endOfList, html: list },
];
const paragraph: Kind = {
  starts: () => true,
  endOf: whileLines((line) => kindOf(line) === paragraph),
  html: (lines, context) => `<p>${inline(lines.join('\n'), context.resolve)}</p>`,
};

function kindOf(line: string): Kind {
  return kinds.find(({ starts }) => starts(line)) ?? paragraph;
}

function isRow(line: string): boolean {
  return line.startsWith('|');
}

function endOfFence(lines: readonly string[], start: number): number {
  const [, , ticks = ''] = fence.exec(lines[start] ?? '') ?? [];
  const end = lines.findIndex((line, at) => at > start && line.trim() === ticks);
  return end === -1 ? lines.length : end + 1;
}

function codeBlock([first = '', ...rest]: readonly string[]): string {
  const [, indent = ''] = fence.exec(first) ?? [];
  const code = rest.slice(0, -1).map((line) => line.replace(new RegExp(`^ {0,${indent.length}}`), ''));
  return `<pre tabindex="0"><code>${escaped(code.join('\n'))}</code></pre>`;
}

function heading(line: string, { resolve, slugs }: Context): string {
  const [, marks = '', text = ''] = /^(#+) (.*)$/.exec(line) ?? [];
  const slug = slugOf(text);
  const before = slugs.get(slug) ?? 0;
  slugs.set(slug, before + 1);
  const id = before === 0 ? slug : `${slug}-${before}`;
  return `<h${marks.length} id="${escaped(id)}">${inline(text, resolve)}</h${marks.length}>`;
}

/** Lines that continue an item are indented as far as its text. */
function endOfList(lines: readonly string[], start: number): number {
  const isInside = (line: string, at: number) =>
    item.test(line) ||
    /^ {2,}\S/.test(line) ||
    isLazy(lines, at) ||
    (line.trim() === '' && goesOn(lines, at));
  const end = lines.findIndex((line, at) => at > start && !isInside(line, at));
  return end === -1 ? lines.length : end;
}

/** Text right below an item belongs to it without an indent, too. */
function isLazy(lines: readonly string[], at: number): boolean {
  return (lines[at - 1] ?? '').trim() !== '' && kindOf(lines[at] ?? '') === paragraph;
}

function goesOn(lines: readonly string[], at: number): boolean {
  const next = lines.slice(at).find((line) => line.trim() !== '') ?? '';
  return item.test(next) || /^ {2,}\S/.test(next);
}

function list(lines: readonly string[], context: Context): string {
  const [, indent = '', mark = ''] = item.exec(lines[0] ?? '') ?? [];
  const items: string[][] = [];
  for (const line of lines) {
    const [start = '', itsIndent] = item.exec(line) ?? [];
    if (start !== '' && (itsIndent ?? '').length <= indent.length) items.push([line.slice(start.length)]);
    else items.at(-1)?.push(line);
  }
  const width = (item.exec(lines[0] ?? '')?.[0] ?? '').length;
  const contents = items.map((all) => {
    const within = all.map((line, at) => (at === 0 ? line : line.replace(new RegExp(`^ {0,${width}}`), '')));
    const html = blocks(within, context);
    // A short item needs no paragraph around its text.
    return `<li>${html.replace(/^<p>((?:(?!<\/p>)[\s\S])*)<\/p>(?![\s\S]*<p>)/, '$1')}</li>`;
  });
  const tag = /\d/.test(mark) ? 'ol' : 'ul';
  const from = Number.parseInt(mark, 10);
  return `<${tag}${from > 1 ? ` start="${from}"` : ''}>${contents.join('\n')}</${tag}>`;
}

function table([head = '', , ...rows]: readonly string[], { resolve }: Context): string {
  const row = (line: string, tag: 'td' | 'th') =>
    `<tr>${cellsOf(line)
      .map((cell) => `<${tag}>${inline(cell, resolve)}</${tag}>`)
      .join('')}</tr>`;
  const body = rows.map((line) => row(line, 'td')).join('\n');
  return `<div class="table" tabindex="0"><table><thead>${row(head, 'th')}</thead><tbody>${body}</tbody></table></div>`;
}

function cellsOf(line: string): string[] {
  return line
    .replace(/^\||\|\s*$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

const inlinePatterns =
  /(?<ticks>`+)(?<code>[\s\S]*?[^`])\k<ticks>(?!`)|(?<image>!)?\[(?<text>(?:`[^`]*`|[^\]])*)\]\((?<target>[^)\s]+)\)|<(?<auto>https?:[^>\s]+)>|\*\*(?<strong>[\s\S]+?)\*\*|(?<![\w*])(?<mark>[_*])(?<weak>[^\s_*](?:[\s\S]*?[^\s])?)\k<mark>(?!\w)|\\(?<escape>[\\`*_{}[\]()#+.!|<>-])|(?<break><br>)/g;

function inline(text: string, resolve: Resolve): string {
  let html = '';
  let end = 0;
  for (const found of text.matchAll(inlinePatterns)) {
    html += escaped(text.slice(end, found.index));
    html += spanOf(found.groups ?? {}, resolve);
    end = found.index + found[0].length;
  }
  return html + escaped(text.slice(end));
}

function spanOf(groups: Readonly<Record<string, string | undefined>>, resolve: Resolve): string {
  const { code, image, text = '', target, auto, strong, weak, escape } = groups;
  if (code !== undefined) return `<code>${escaped(code)}</code>`;
  if (auto !== undefined) return `<a href="${escaped(auto)}">${escaped(auto)}</a>`;
  if (strong !== undefined) return `<strong>${inline(strong, resolve)}</strong>`;
  if (weak !== undefined) return `<em>${inline(weak, resolve)}</em>`;
  if (escape !== undefined) return escaped(escape);
  if (target === undefined) return '<br>';
  const address = resolve(target);
  if (image) return address === undefined ? '' : `<img src="${escaped(address)}" alt="${escaped(text)}">`;
  const content = inline(text, resolve);
  return address === undefined ? content : `<a href="${escaped(address)}">${content}</a>`;
}

export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
