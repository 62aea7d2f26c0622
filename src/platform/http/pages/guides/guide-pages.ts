// The documents of docs/ as pages under /docs/guides, which need no script and no network. Like bundles they are made from the sources:
// on request in a checkout, and by the build.
import { readdir, readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { escaped, renderMarkdown } from './markdown.ts';

const documents = new URL('../../../../../docs/', import.meta.url);

/** The list of pages, in this order. A folder below one of these is listed with it. */
const groups = [
  { folder: 'guide/', title: 'Integration' },
  { folder: 'operations/runbooks/', title: 'Runbooks' },
  { folder: 'operations/', title: 'Operations' },
  { folder: 'decisions/', title: 'Decisions' },
  { folder: '', title: 'More' },
] as const;

type Guide = { readonly name: string; readonly title: string; readonly text: string };

/** Each page and picture by its path below /docs/guides. */
export async function guidePages(): Promise<Map<string, Buffer>> {
  const names = await filesIn('');
  const guides = await Promise.all(
    names
      .filter((name) => name.endsWith('.md'))
      .map(async (name): Promise<Guide> => {
        const text = await readFile(new URL(name, documents), 'utf8');
        return { name, title: /^# (.*)$/m.exec(text)?.[1] ?? name, text };
      }),
  );
  const files = new Map<string, Buffer>();
  for (const name of names.filter((other) => /\.(svg|webp)$/.test(other)))
    files.set(name, await readFile(new URL(name, documents)));
  const known = new Set(names);
  for (const guide of guides) files.set(pageOf(guide.name), Buffer.from(pageText(guide, known)));
  files.set('index.html', Buffer.from(listText(guides)));
  return files;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(new URL(folder, documents), { withFileTypes: true });
  const found = entries.map(async (entry) =>
    entry.isDirectory() ? filesIn(`${folder}${entry.name}/`) : [`${folder}${entry.name}`],
  );
  return (await Promise.all(found)).flat().sort();
}

function pageOf(name: string): string {
  return name.replace(/\.md$/, '.html');
}

/** Another site, a place in this page, or another document or picture. What is not in docs/ is not served. */
function resolveIn(page: string, known: ReadonlySet<string>) {
  return (target: string): string | undefined => {
    if (/^(https?:|#)/.test(target)) return target;
    const [path = '', anchor] = target.split('#');
    const name = posix.join(posix.dirname(page), path);
    if (!known.has(name)) return undefined;
    return pageOf(path) + (anchor === undefined ? '' : `#${anchor}`);
  };
}

function pageText({ name, title, text }: Guide, known: ReadonlySet<string>): string {
  const up = '../'.repeat(name.split('/').length - 1);
  const body = renderMarkdown(text, resolveIn(name, known));
  return frame({ title, up, list: `${up}../guides`, reference: `${up}../../docs` }, body);
}

function listText(guides: readonly Guide[]): string {
  const groupOf = ({ name }: Guide) => groups.find(({ folder }) => name.startsWith(folder));
  const sections = groups.map((group) => {
    const links = guides
      .filter((guide) => groupOf(guide) === group)
      .sort((one, other) => one.title.localeCompare(other.title, 'en'))
      .map(({ name, title }) => `<li><a href="guides/${escaped(pageOf(name))}">${escaped(title)}</a></li>`);
    return `<h2>${group.title}</h2>\n<ul class="pages">${links.join('\n')}</ul>`;
  });
  const body = `<h1>Guides</h1>\n${sections.join('\n')}`;
  return frame({ title: 'Guides', up: 'guides/', list: 'guides', reference: '../docs' }, body);
}

type Frame = {
  readonly title: string;
  /** From the page to the folder of guides, to their list and to the reference of the API. */
  readonly up: string;
  readonly list: string;
  readonly reference: string;
};

function frame({ title, up, list, reference }: Frame, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Mandate</title>
<link rel="icon" href="${reference}/mandate.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up}guides.css">
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="home" href="${reference}"><img src="${reference}/mandate.svg" alt="" width="26" height="26">Mandate</a>
<nav aria-label="Documentation"><a href="${list}">Guides</a> <a href="${reference}">API reference</a></nav>
</header>
<main id="content" tabindex="-1">
${body}
</main>
</body>
</html>
`;
}
