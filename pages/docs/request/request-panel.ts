// Next to each operation: its request as a command line, a form to change and send it, and the response.
import { answerView, noAnswerView } from '../answer/answer-view.ts';
import { codeBlock, copyButton } from '../code-view.ts';
import { disclosure } from '../disclosure.ts';
import type { Operation } from '../document.ts';
import { openDraft } from './draft.ts';
import { h } from '../elements.ts';
import { idsIn, parsed } from '../answer/found-in-answers.ts';
import { memory, onChange, remember } from './memory.ts';
import {
  curlOf,
  keyOf,
  masked,
  missingPathParameter,
  prepare,
  tokenVariable,
  type Draft,
} from './request.ts';
import { requestForm, type RequestForm } from './request-form.ts';
import type { Schemas } from '../schema/schema.ts';

export function requestPanel(operation: Operation, schemas: Schemas, baseUrl: string): HTMLElement {
  const draft = openDraft(operation, schemas);
  let form: RequestForm | undefined;

  const commandLine = h('code');
  const command = (token: string) =>
    curlOf(prepare(operation, draft.current(), baseUrl, token || tokenVariable));
  const redraw = () => {
    commandLine.textContent = command(masked(memory().token));
    form?.refresh();
  };
  const drawForm = () => {
    form = requestForm(operation, draft, { changed: redraw, send: () => void send() });
    return form.element;
  };

  // Details of one name are open one at a time.
  const name = `request-${operation.id}`;
  const tryIt = disclosure('Try it', drawForm, { class: 'try', name });
  const copy = copyButton('Copy', () => command(memory().token));
  const curl = h(
    'details',
    { name, open: true },
    h('summary', {}, 'curl'),
    h('div', { class: 'tools' }, copy),
    codeBlock('Command line', [commandLine]),
  );
  const answer = h('div', { class: 'answer' });
  const scroller = h('div', { class: 'scroller' }, tryIt, answer, curl);
  // Says the outcome to those who cannot see it; the answer itself would be too much to listen to.
  const spoken = h('p', { class: 'off-screen', role: 'status' });

  async function send(): Promise<void> {
    const sent = draft.current();
    const missing = missingPathParameter(operation, sent);
    if (missing) return form?.complainAbout(missing, 'part of the address, so fill it in');
    spoken.textContent = '';
    form?.setBusy(true);
    answer.replaceChildren(await exchange(operation, sent, schemas, baseUrl));
    form?.setBusy(false);
    draft.renewRequestId();
    redraw();
    scroller.scrollTop = answer.offsetTop + 1;
    const outcome = answer.querySelector('.outcome');
    // Scrolls the panel, or else the page, and nothing where the outcome is visible.
    outcome?.scrollIntoView({ block: 'nearest' });
    spoken.textContent = outcome?.textContent ?? '';
  }

  redraw();
  onChange(redraw);
  const label = `Request: ${operation.summary}`;
  return h('div', { class: 'panel', role: 'group', 'aria-label': label }, scroller, spoken);
}

/** Sends the request, remembers what the answer brings, and answers how to show it. */
async function exchange(
  operation: Operation,
  sent: Draft,
  schemas: Schemas,
  baseUrl: string,
): Promise<HTMLElement> {
  const { url, method, headers, body } = prepare(operation, sent, baseUrl, memory().token);
  const sentAtMs = performance.now();
  try {
    const response = await fetch(url, {
      method,
      headers: headers.map(([name, value]) => [name, value] satisfies [string, string]),
      ...(body === undefined ? {} : { body }),
      credentials: 'omit',
    });
    const text = await response.text();
    const durationMs = performance.now() - sentAtMs;
    if (response.ok) rememberIds(operation, sent, schemas, response.status, text);
    return answerView(operation, { response, text, durationMs });
  } catch (error) {
    return noAnswerView(error);
  }
}

function rememberIds(
  operation: Operation,
  sent: Draft,
  schemas: Schemas,
  status: number,
  text: string,
): void {
  const inAddress = operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .map((parameter) => [parameter.name, sent.values[keyOf(parameter)] ?? '']);
  const schema = operation.responses.find((response) => response.status === status)?.body?.schema;
  const found = schema ? idsIn(schema, parsed(text), schemas) : {};
  remember({ ids: { ...memory().ids, ...Object.fromEntries(inAddress), ...found } });
}
