// The reference pages: each is printed from the code, so that it cannot say anything else.
import { readFileSync } from 'node:fs';
import { format, type FormatConfig } from 'oxfmt';
import { accessText } from './access.ts';
import { cardResultsText } from './card-results.ts';
import { commandsText } from './commands.ts';
import { configurationText } from './configuration.ts';
import { errorsText } from './errors.ts';
import { metricsText } from './metrics.ts';
import { operationsText } from './operations.ts';
import { webhookEventsText } from './webhook-events.ts';

/** Every printed document by its path in the repository. */
export async function documents(): Promise<Map<string, string>> {
  const texts = {
    'docs/guide/access.md': accessText(),
    'docs/guide/errors.md': errorsText(),
    'docs/guide/requests/operations.md': operationsText(),
    'docs/guide/webhook-events.md': webhookEventsText(),
    'docs/operations/commands.md': commandsText(),
    'docs/operations/configuration.md': configurationText(),
    'docs/operations/metrics.md': metricsText(),
    'docs/test-cards-results.md': cardResultsText(),
  };
  const style = JSON.parse(readFileSync(new URL('../format.json', import.meta.url), 'utf8')) as FormatConfig;
  const formatted = Object.entries(texts).map(
    async ([path, text]) => [path, (await format(path, text, style)).code] as const,
  );
  return new Map(await Promise.all(formatted));
}
