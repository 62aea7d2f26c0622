// The reference of the API at /docs: everything on it is read from /openapi.json, so it says what the service does.
import { operationsOf, type OpenApi, type Operation } from './document.ts';
import { existing, h, type Child } from './elements.ts';
import { drawNavigation, tagId } from './navigation.ts';
import { operationView } from './operation-view.ts';
import { inline, prose } from './prose.ts';
import { commonFailures } from './answer/responses-view.ts';
import { connectTokenField } from './request/token-field.ts';

const content = existing('content', HTMLElement);
// The page may stand behind a proxy that puts something before its path, and so may the API.
const baseUrl = new URL('.', document.baseURI).href;

const schemeTitles: Record<string, string> = { apiKey: 'API key', accessToken: 'Access token' };

connectTokenField();
try {
  const response = await fetch(`${baseUrl}openapi.json`);
  if (!response.ok) throw new Error(`/openapi.json answered ${response.status}`);
  draw((await response.json()) as OpenApi);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  content.replaceChildren(h('p', { role: 'alert' }, `The description of the API did not come: ${reason}`));
  throw error;
}

function draw(api: OpenApi): void {
  const operations = operationsOf(api);
  const byTag = Map.groupBy(operations, ({ tag }) => tag);
  const isCommon = commonFailures(operations);
  const { schemas } = api.components;

  const views = [...byTag].map(([tag, ofTag]) =>
    h(
      'section',
      { id: tagId(tag), 'aria-labelledby': `${tagId(tag)}-heading` },
      h(
        'div',
        { class: 'tag-heading' },
        h('h2', { id: `${tagId(tag)}-heading` }, tag),
        prose(api.tags?.find(({ name }) => name === tag)?.description),
      ),
      ...ofTag.map((operation) => operationView(operation, schemas, isCommon, baseUrl)),
    ),
  );
  content.replaceChildren(introduction(api, operations), ...views);
  drawNavigation(byTag);
  goToAddress();
}

function introduction({ info, components }: OpenApi, operations: readonly Operation[]): HTMLElement {
  const schemes: Child[] = Object.entries(components.securitySchemes ?? {}).map(([name, { description }]) => [
    h('dt', {}, schemeTitles[name] ?? name),
    h('dd', {}, inline(description ?? '')),
  ]);
  return h(
    'section',
    { class: 'introduction', 'aria-labelledby': 'introduction-heading' },
    h(
      'div',
      { class: 'reading' },
      h('h1', { id: 'introduction-heading' }, `${info.title} API`),
      h('div', { class: 'lead' }, prose(info.description)),
      h('dl', { class: 'schemes' }, schemes),
      h(
        'p',
        { class: 'note' },
        `Version ${info.version} · `,
        h('a', { href: `${baseUrl}openapi.json` }, 'openapi.json'),
      ),
    ),
    operations.some(({ tag }) => tag === 'Sandbox') && firstSteps(operations),
  );
}

function firstSteps(operations: readonly Operation[]): Child {
  const linkTo = (id: string) => {
    const operation = operations.find((known) => known.id === id);
    return operation && h('a', { href: `#${id}` }, operation.summary);
  };
  const [create, read] = [linkTo('createInvoice'), linkTo('getInvoice')];
  return (
    create &&
    read &&
    h(
      'aside',
      { class: 'panel start', 'aria-labelledby': 'start-heading' },
      h('h2', { id: 'start-heading' }, 'Try it on this page'),
      h(
        'ol',
        {},
        h(
          'li',
          {},
          'Put an API key into the field at the top; ',
          h('code', {}, 'mandate sandbox'),
          ' shows one.',
        ),
        h('li', {}, create, ': its example works as it stands.'),
        h('li', {}, read, ': its id is filled in by then.'),
      ),
    )
  );
}

/** The browser looked for the place in the address before there was one. */
function goToAddress(): void {
  const id = decodeURIComponent(location.hash.slice(1));
  if (id !== '') document.getElementById(id)?.scrollIntoView();
}
