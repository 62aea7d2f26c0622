// Pages that are one response, with script and style inside.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const zip = promisify(gzip);

/** For a page that does not change: it is compressed once, when a browser first wants it so. */
export function zippedOnce(html: string): () => Promise<Buffer> {
  let zipped: Promise<Buffer> | undefined;
  return () => (zipped ??= zip(html));
}

export async function sendPage(
  html: string,
  request: FastifyRequest,
  reply: FastifyReply,
  zipped = () => zip(html),
): Promise<FastifyReply> {
  reply.header('Vary', 'Accept-Encoding, Accept-Language').type('text/html; charset=utf-8');
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(html);
  return reply.header('Content-Encoding', 'gzip').send(await zipped());
}

export function textOf(file: { readonly content: Buffer } | undefined): string {
  if (!file) throw new Error('a file of the page is missing from the build');
  // The hash covers the text between the tags, without a line break at its end.
  return file.content.toString().trimEnd();
}
