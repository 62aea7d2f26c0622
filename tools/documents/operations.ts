// docs/guide/requests/operations.md: every operation of the published API, and whether this service has it.
import { publishedOperations } from '../../src/platform/http/paths/published-operations.ts';
import { routes, sandboxRoutes } from '../../src/app/routes.ts';
import { errorCatalogue } from '../../src/platform/http/errors/error-codes.ts';
import { printedFrom, table } from './markdown.ts';

const endpoints = new Map(
  [...routes, ...sandboxRoutes].map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]),
);

export function operationsText(): string {
  const published = new Set<string>(publishedOperations.flatMap(({ works = [] }) => works));
  const added = [...endpoints.keys()].filter((call) => !published.has(call));
  const sections = publishedOperations.map(({ title, works = [], missing = [] }) => {
    const refused = missing.flatMap(({ reason, calls }) => calls.map((call) => [call, notHere(reason)]));
    const rows = [...works.map((call) => [call, answerOf(call)]), ...refused];
    return `## ${title}\n\n${tableOf(['Call', 'Answer'], rows)}`;
  });
  return `# Operations

${printedFrom('`src/platform/http/paths/published-operations.ts`')}

These are the operations of the published API. This service has those that work. It answers each of the others with 501
\`notImplemented\` and the reason below. A 404 is about the path or the object.

A path under \`/v2/processing\` also works under \`/v1/processing\`, and under
\`/v2/processing/parties/{partyID}\` with the ID of your own party. Another ID gets 404. The reference at \`/docs\` has parameters, bodies and examples of what works.

${sections.join('\n\n')}

## Added here

The published API does not have these.

${tableOf(
  ['Call', 'What it does'],
  added.map((call) => [call, endpoints.get(call)?.summary ?? '']),
)}
`;
}

function tableOf(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return table(
    headings,
    rows.map(([call = '', ...others]) => [`\`${call}\``, ...others]),
  );
}

/** What a route always refuses, with a body that it checks, is not here either. */
function answerOf(call: string): string {
  const endpoint = endpoints.get(call);
  if (!endpoint)
    throw new Error(
      `src/platform/http/paths/published-operations.ts says that ${call} works. No route has it.`,
    );
  const refusal = endpoint.errors.find((code) => errorCatalogue[code].status === 501);
  return refusal ? notHere(errorCatalogue[refusal].message) : `works: ${lowerFirst(endpoint.summary)}`;
}

function notHere(reason: string): string {
  return `501: ${reason.replace(/\.$/, '')}`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
