// The paths that requests may use, as the router knows them. Other ways to write a path are rewritten here, before routing: checks,
// limits, metrics and logs know one path of each operation.
import type { IncomingMessage } from 'node:http';

/** `/x/{id}` as the router writes it. */
export function routerPathOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

const partiesInPaths = new WeakMap<IncomingMessage, string>();

/** The party that the request's path named before it was rewritten. The pipeline compares it with the caller's. */
export function partyInPath(request: IncomingMessage): string | undefined {
  return partiesInPaths.get(request);
}

/** The URL of a request for the router. */
export function pathForRouter(request: IncomingMessage): string {
  const path = withoutOlderVersion(request.url ?? '');
  const [, name = '', rest = ''] = /^\/v2\/processing\/parties\/([^/?#]+)(.*)$/s.exec(path) ?? [];
  const party = readable(name);
  if (name === '' || party === undefined) return path;
  partiesInPaths.set(request, party);
  // Without more of a path it is about the party itself.
  const isOfParty = /^(\/(suspend|activate))?([?#]|$)/.test(rest);
  return `/v2/processing${isOfParty ? '/me' : ''}${rest}`;
}

/**
 * A request through a proxy may name its whole URL; only the path counts (RFC 9112, 3.2.2). /v1 is another name for /v2, also
 * percent-encoded.
 */
function withoutOlderVersion(target: string): string {
  if (target.startsWith('/v2/')) return target;
  const path = target.replace(/^https?:\/\/[^/?#]*\/?/i, '/');
  const [start, ...words] = /^\/([^/?#]{2,6})\/([^/?#]{10,30})\//.exec(path) ?? [];
  if (start === undefined || readablePath(words.join('/')) !== 'v1/processing') return path;
  return `/v2/processing/${path.slice(start.length)}`;
}

/** The path as the router reads it; undefined if it cannot be decoded. */
export function readablePath(url: string): string | undefined {
  try {
    return decodeURI(/^[^?#]*/.exec(url)?.[0] ?? '');
  } catch {
    return undefined;
  }
}

/** A part of a path between slashes. */
function readable(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
