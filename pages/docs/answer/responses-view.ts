// What an operation answers: the shape of success, and a table of everything that can go wrong.
import { codeBlock, jsonView } from '../code-view.ts';
import type { Body, Operation, Response } from '../document.ts';
import { aside } from '../disclosure.ts';
import { h, type Child } from '../elements.ts';
import { inline } from '../prose.ts';
import { resolve, type Schemas } from '../schema/schema.ts';
import { typeWords } from '../schema/schema-words.ts';
import { schemaTree } from '../schema/schema-view.ts';

type Failure = { readonly status: number; readonly code: string; readonly meaning: string };

export type CommonFailures = (operation: Operation, failure: Failure) => boolean;

/** Tells the failures that say nothing about an operation: those of all that have a body, or take the same header. */
export function commonFailures(operations: readonly Operation[]): CommonFailures {
  const identity = ({ status, code }: Failure) => `${status} ${code}`;
  const peersBy = new Map<string, ReadonlySet<string>[]>();
  for (const operation of operations) {
    const own = new Set(failuresOf(operation).map(identity));
    for (const trait of traitsOf(operation)) peersBy.set(trait, [...(peersBy.get(trait) ?? []), own]);
  }
  return (operation, failure) =>
    traitsOf(operation).some((trait) => {
      const peers = peersBy.get(trait) ?? [];
      return peers.length >= fewestPeers && peers.every((failures) => failures.has(identity(failure)));
    });
}

/** What two operations share is still news. */
const fewestPeers = 3;

function traitsOf({ body, parameters }: Operation): string[] {
  const headers = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  return ['any', ...(body ? ['body'] : []), ...headers];
}

export function responsesView(operation: Operation, schemas: Schemas, isCommon: CommonFailures): Child[] {
  const failures = failuresOf(operation);
  const own = failures.filter((failure) => !isCommon(operation, failure));
  const common = failures.filter((failure) => isCommon(operation, failure));
  return [
    ...operation.responses.filter(({ status }) => status < 400).map((response) => success(response, schemas)),
    h('h4', {}, 'Errors'),
    own.length > 0 && failureTable(own, `Errors of ${operation.summary}`),
    common.length > 0 &&
      aside('Errors any request can get', () => failureTable(common, 'Errors any request can get')),
    ...errorBodies(operation, schemas),
  ];
}

function success({ status, description, body }: Response, schemas: Schemas): Child[] {
  return [
    h(
      'h4',
      {},
      'Answer ',
      h('span', { class: 'status' }, status),
      body && h('span', { class: 'type' }, typeWords(body.schema, schemas)),
    ),
    body
      ? [schemaTree(body.schema, { schemas, of: 'answer' }), examplesOf(body)]
      : h('p', {}, inline(`${description}.`)),
  ];
}

export function examplesOf({ examples }: Body): Child[] {
  return examples.map(({ name, value }) =>
    aside(name, () => codeBlock(name, jsonView(JSON.stringify(value)))),
  );
}

/** Descriptions name their codes: "`invalidInvoiceCost`: Invalid invoice amount.", a paragraph each. */
function failuresOf({ responses }: Operation): Failure[] {
  return responses
    .filter(({ status }) => status >= 400)
    .flatMap(({ status, description }) =>
      description.split('\n\n').map((paragraph) => {
        const [, code = '', meaning] = /^`(\w+)`(?:: (.*)|\.)$/s.exec(paragraph) ?? [];
        const guide = `[Explained in the guide](/docs/guides/guide/errors.html#${code.toLowerCase()})`;
        return { status, code, meaning: code === '' ? paragraph : (meaning ?? guide) };
      }),
    );
}

function failureTable(failures: readonly Failure[], caption: string): HTMLElement {
  const statuses = Map.groupBy(failures, ({ status }) => status);
  const bodies = [...statuses].map(([status, rows]) =>
    h(
      'tbody',
      {},
      ...rows.map(({ code, meaning }, at) =>
        h(
          'tr',
          {},
          at === 0 && h('th', { scope: 'rowgroup', rowspan: rows.length }, status),
          code === ''
            ? h('td', { colspan: 2 }, inline(meaning))
            : [h('td', {}, h('code', {}, breakable(code))), h('td', {}, inline(meaning))],
        ),
      ),
    ),
  );
  return h(
    'table',
    {},
    h('caption', { class: 'off-screen' }, caption),
    h(
      'thead',
      { class: 'off-screen' },
      h(
        'tr',
        {},
        ['Status', 'Code', 'Meaning'].map((title) => h('th', { scope: 'col' }, title)),
      ),
    ),
    ...bodies,
  );
}

/** A code may break before its capitals. */
function breakable(code: string): Child[] {
  return code.split(/(?=[A-Z][a-z])/).flatMap((word) => [h('wbr'), word]);
}

/** The shapes of error bodies, each once, with the statuses that have it. */
function errorBodies({ responses }: Operation, schemas: Schemas): HTMLElement[] {
  const withBody = responses.flatMap(({ status, body }) => (status >= 400 && body ? [{ status, body }] : []));
  const byName = Map.groupBy(withBody, ({ body }) => resolve(body.schema, schemas).name ?? 'Error');
  return [...byName].flatMap(([name, [first, ...others]]) => {
    if (!first) return [];
    const statuses = [first, ...others].map(({ status }) => status).join(', ');
    return aside([`Body of ${statuses}: `, h('span', { class: 'type' }, name)], () =>
      schemaTree(schemas[name] ?? first.body.schema, { schemas, of: 'answer' }),
    );
  });
}
