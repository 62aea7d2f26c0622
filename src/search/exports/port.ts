// What the rest of the program uses of exports.
import type { Logger } from '../../platform/log.ts';
import { openOrderExport, type OrderExport } from './order-export.ts';
import { openFileLinks, type FileLinks } from './file-links.ts';
import type { ExportSources } from './source.ts';

export type Exports = {
  readonly sources: ExportSources;
  readonly order: OrderExport;
  readonly links: FileLinks;
  /** Says who orders, cancels and downloads. */
  readonly log: Pick<Logger, 'info'>;
};

export function openExports(
  sources: ExportSources,
  links: Parameters<typeof openFileLinks>[0],
  log: Pick<Logger, 'info'>,
): Exports {
  return { sources, order: openOrderExport(sources), links: openFileLinks(links), log };
}
