// The paths that requests may use, as the router knows them.

/** `/x/{id}` as the router writes it. */
export function routerPathOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/**
 * A request through a proxy may name its whole URL; only the path counts (RFC 9112, 3.2.2). /v1 is another name for /v2, also
 * percent-encoded.
 */
export function pathForRouter(target: string): string {
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
