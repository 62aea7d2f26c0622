// What came back: the status and how long it took, in words where the answer itself has none, and the answer.
import { codeBlock, copyButton, jsonView } from '../code-view.ts';
import type { Operation } from '../document.ts';
import { h, type Child } from '../elements.ts';
import { parsed, tokenIn } from './found-in-answers.ts';
import { memory, remember } from '../request/memory.ts';
import { inline } from '../prose.ts';
import { askForToken } from '../request/token-field.ts';

export type Exchange = { readonly response: Response; readonly text: string; readonly durationMs: number };

const headersWorthSeeing = [
  'X-Request-ID',
  'Idempotent-Replayed',
  'Retry-After',
  'WWW-Authenticate',
  'Allow',
];

export function answerView(operation: Operation, { response, text, durationMs }: Exchange): HTMLElement {
  const token = response.ok ? tokenIn(parsed(text)) : undefined;
  return h(
    'div',
    {},
    h(
      'p',
      { class: response.ok ? 'outcome' : 'outcome refused' },
      h('strong', {}, `${response.status} ${response.statusText}`),
      h('span', {}, ` ${Math.round(durationMs)} ms`),
    ),
    advice(operation, response.status, text),
    h(
      'dl',
      { class: 'headers' },
      headersWorthSeeing.map((name) => {
        const value = response.headers.get(name);
        return value === null ? null : [h('dt', {}, name), h('dd', {}, value)];
      }),
    ),
    text !== '' && [
      h(
        'div',
        { class: 'tools' },
        token !== undefined &&
          h('button', { type: 'button', class: 'quiet', click: () => useToken(token) }, 'Use as token'),
        copyButton('Copy', () => text),
      ),
      codeBlock('Answer', jsonView(text)),
    ],
  );
}

export function noAnswerView(error: unknown): HTMLElement {
  return h(
    'div',
    {},
    h('p', { class: 'outcome refused' }, h('strong', {}, 'No answer')),
    h('p', {}, 'The request was not sent, or the service did not answer. Is it running?'),
    h('p', { class: 'note' }, error instanceof Error ? error.message : String(error)),
  );
}

/** What to do about an answer that says nothing itself. */
function advice(operation: Operation, status: number, text: string): Child {
  if (status === 401 && memory().token === '') {
    return h(
      'p',
      {},
      'It takes an API key or an access token. ',
      h('button', { type: 'button', class: 'quiet', click: askForToken }, 'Enter one'),
    );
  }
  if (status === 401) {
    return h(
      'p',
      {},
      inline(
        `The token is not valid, or it may not do this. It takes ${callerWords(operation).join(', or ')}.`,
      ),
    );
  }
  const described = operation.responses.find((response) => response.status === status)?.description;
  return text === '' && status >= 400 && described !== undefined && h('p', {}, inline(described));
}

export function callerWords({ callers, scope }: Operation): string[] {
  if (callers.length === 0) return ['no token'];
  return [
    ...(callers.includes('apiKey') ? [`an API key with the scope \`${scope}\``] : []),
    ...(callers.includes('accessToken') ? ['an access token for the entity in the address'] : []),
  ];
}

function useToken(token: string): void {
  const { token: before } = memory();
  if (token !== before) remember({ token, tokenBefore: before });
}
