// One operation: what it does, who may call it, its parameters and responses, with its request next to it.
import { callerWords } from './answer/answer-view.ts';
import type { Operation, Parameter } from './document.ts';
import { aside } from './disclosure.ts';
import { h, type Child } from './elements.ts';
import { inline, prose } from './prose.ts';
import { requestPanel } from './request/request-panel.ts';
import { examplesOf, responsesView, type CommonFailures } from './answer/responses-view.ts';
import { fieldList, schemaTree } from './schema/schema-view.ts';
import type { Schemas } from './schema/schema.ts';
import { typeWords } from './schema/schema-words.ts';

export function operationView(
  operation: Operation,
  schemas: Schemas,
  isCommon: CommonFailures,
  baseUrl: string,
): HTMLElement {
  const headingId = `${operation.id}-heading`;
  return h(
    'article',
    { class: 'operation', id: operation.id, 'aria-labelledby': headingId },
    h(
      'div',
      { class: 'reading' },
      h(
        'h3',
        { id: headingId },
        h('a', { href: `#${operation.id}` }, operation.summary),
        operation.deprecated && h('span', { class: 'note' }, ' deprecated'),
      ),
      h(
        'p',
        { class: 'address' },
        methodBadge(operation.method),
        ' ',
        h('code', {}, addressOf(operation.path)),
      ),
      prose(operation.description),
      h('p', { class: 'callers' }, inline(`Takes ${callerWords(operation).join(', or ')}.`)),
      parametersView('Path', 'path', operation, schemas),
      parametersView('Query', 'query', operation, schemas),
      parametersView('Headers', 'header', operation, schemas),
      operation.body && [
        h('h4', {}, 'Body ', h('span', { class: 'type' }, typeWords(operation.body.schema, schemas))),
        schemaTree(operation.body.schema, { schemas, of: 'request' }),
        examplesOf(operation.body),
      ],
      responsesView(operation, schemas, isCommon),
    ),
    requestPanel(operation, schemas, baseUrl),
  );
}

export function methodBadge(method: string): HTMLElement {
  return h('span', { class: `method ${method.toLowerCase()}` }, method);
}

/** An address may break before each of its steps. */
function addressOf(path: string): Child[] {
  return path
    .split(/(?=\/)/)
    .flatMap((step) => [
      h('wbr'),
      step.startsWith('/{') ? ['/', h('span', { class: 'variable' }, step.slice(1))] : step,
    ]);
}

function parametersView(
  title: string,
  place: Parameter['in'],
  { parameters }: Operation,
  schemas: Schemas,
): Child {
  const fields = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, schema, description, required }) => ({
      name,
      schema: description === undefined ? schema : { ...schema, description },
      isRequired: required ?? false,
    }));
  if (fields.length === 0) return null;
  if (place !== 'header') return [h('h4', {}, title), fieldList(fields, { schemas, of: 'request' })];
  // The same few everywhere: there to be looked up.
  return [
    h('h4', {}, title),
    aside(
      fields.map(({ name }, at) => [at > 0 && ', ', h('code', {}, name)]),
      () => fieldList(fields, { schemas, of: 'request' }),
    ),
  ];
}
