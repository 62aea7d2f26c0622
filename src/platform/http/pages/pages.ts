// Pages for people in a browser. A page is a folder of /pages, with a policy that lets it load nothing from elsewhere.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { assetPath } from '../../../asset-paths.ts';

type Page = {
  readonly name: string;
  readonly path: string;
  readonly contentSecurityPolicy: string;
  readonly isForSandbox?: true;
};
export type ServedFile = {
  readonly type: string;
  readonly tag: string;
  readonly content: Buffer;
  readonly compressed: Readonly<Record<'br' | 'gzip', () => Buffer>>;
};

const policyOf = (loads: string) =>
  `default-src 'none'; ${loads}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`;
const scripted = "script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:";

const pages: readonly Page[] = [
  { name: 'docs', path: '/docs', contentSecurityPolicy: policyOf(scripted) },
  {
    name: 'guides',
    path: '/docs/guides',
    contentSecurityPolicy: policyOf("style-src 'self'; img-src 'self'"),
  },
  {
    name: 'demo',
    path: '/demo',
    contentSecurityPolicy: policyOf(`${scripted}; frame-src 'self'`),
    isForSandbox: true,
  },
  {
    name: 'mailbox',
    path: '/mailbox',
    contentSecurityPolicy: policyOf(`${scripted}; frame-src 'self'`),
    isForSandbox: true,
  },
];

/** A browser or a link checker may send HEAD. */
const withHead = { exposeHeadRoute: true };

const typeOfEnding: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  webp: 'image/webp',
  json: 'application/json; charset=utf-8',
};

export function addPages(app: FastifyInstance, mode: 'sandbox' | 'live'): void {
  if (mode === 'sandbox') app.get('/', withHead, (_request, reply) => reply.redirect('docs'));
  for (const page of pages.filter(({ isForSandbox }) => mode === 'sandbox' || !isForSandbox)) {
    const files = pageFiles(page.name);
    app.get(page.path, withHead, async (request, reply) =>
      sendPage(page, await files(), 'index.html', request, reply),
    );
    app.get<{ Params: { '*': string } }>(`${page.path}/*`, withHead, async (request, reply) =>
      sendPage(page, await files(), request.params['*'], request, reply),
    );
  }
}

const reading = new Map<string, Promise<ReadonlyMap<string, ServedFile>>>();

/** The files of a page, read on first use in this process. After a fault, the next request reads them again. */
export function pageFiles(name: string): () => Promise<ReadonlyMap<string, ServedFile>> {
  return () => {
    const files =
      reading.get(name) ??
      readPage(name).catch((error: unknown) => {
        reading.delete(name);
        throw error;
      });
    reading.set(name, files);
    return files;
  };
}

function sendPage(
  page: Page,
  files: ReadonlyMap<string, ServedFile>,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  request.operation = 'page';
  if (name === '') return reply.redirect(`../${page.name}`);
  const file = files.get(name);
  if (!file) {
    reply.callNotFound();
    return reply;
  }
  reply.header('Content-Security-Policy', page.contentSecurityPolicy);
  return sendFile(file, request, reply);
}

/** Browsers revalidate it each time and get 304 without content if it is unchanged, so they see a new release immediately. */
export function sendFile(file: ServedFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({ 'Cache-Control': 'no-cache', ETag: file.tag, Vary: 'Accept-Encoding' });
  if (request.headers['if-none-match'] === file.tag) return reply.code(304).send();
  reply.type(file.type);
  const accepted = request.headers['accept-encoding'] ?? '';
  const coding = (['br', 'gzip'] as const).find((name) => new RegExp(`\\b${name}\\b`).test(accepted));
  if (!coding) return reply.send(file.content);
  return reply.header('Content-Encoding', coding).send(file.compressed[coding]());
}

/** Sources are bundled on request. A built program has what tools/build/build-program.ts wrote. */
async function readPage(name: string): Promise<Map<string, ServedFile>> {
  const isSource = import.meta.url.endsWith('.ts');
  const contents = isSource
    ? await (await import('./bundle-page.ts')).bundlePage(name)
    : await readFolder(assetPath(`pages/${name}/`));
  return new Map([...contents].map(([file, content]) => [file, servedFile(file, content)]));
}

async function readFolder(folder: URL, below = ''): Promise<Map<string, Buffer>> {
  const entries = await readdir(new URL(below, folder), { withFileTypes: true });
  const read = entries.map(async (entry) => {
    const name = `${below}${entry.name}`;
    if (entry.isDirectory()) return [...(await readFolder(folder, `${name}/`))];
    return [[name, await readFile(new URL(name, folder))] as const];
  });
  return new Map((await Promise.all(read)).flat());
}

export function servedFile(name: string, content: Buffer): ServedFile {
  const ending = name.slice(name.lastIndexOf('.') + 1);
  return {
    type: typeOfEnding[ending] ?? 'application/octet-stream',
    tag: `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 16)}"`,
    content,
    compressed: {
      br: once(() =>
        brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
      ),
      gzip: once(() => gzipSync(content, { level: 9 })),
    },
  };
}

/** The next step up takes five times as long, and other requests would wait. */
const brotliQuality = 9;

/** Of a hundred guides few are read: each is compressed when it is first asked for. */
function once(make: () => Buffer): () => Buffer {
  let made: Buffer | undefined;
  return () => (made ??= make());
}
