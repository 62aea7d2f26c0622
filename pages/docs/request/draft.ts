// A request in the making: what was typed, and what is suggested where nothing was.
import type { Operation, Parameter } from '../document.ts';
import { memory } from './memory.ts';
import { keyOf, type Draft } from './request.ts';
import type { Schemas } from '../schema/schema.ts';
import { sampleOf } from '../schema/schema-words.ts';

export type OpenDraft = {
  current(): Draft;
  type(key: string, value: string): void;
  typeBody(text: string): void;
  /** The next request is another one, and gets a name of its own. */
  renewRequestId(): void;
};

const requestIdName = 'X-Request-ID';

export function openDraft(operation: Operation, schemas: Schemas): OpenDraft {
  const typed = new Map<string, string>();
  let body = initialBody(operation, schemas);
  let requestId = newRequestId();

  function suggested(parameter: Parameter): string {
    if (parameter.in === 'path') return memory().ids[parameter.name] ?? '';
    if (parameter.name === requestIdName) return requestId;
    return parameter.required ? String(sampleOf(parameter.schema, schemas)) : '';
  }

  return {
    current() {
      const values = operation.parameters.map((parameter) => {
        const key = keyOf(parameter);
        return [key, typed.get(key) ?? suggested(parameter)] as const;
      });
      return { values: Object.fromEntries(values), body };
    },
    type: (key, value) => void typed.set(key, value),
    typeBody: (text) => void (body = text),
    renewRequestId() {
      requestId = newRequestId();
      typed.delete(keyOf({ in: 'header', name: requestIdName }));
    },
  };
}

function initialBody(operation: Operation, schemas: Schemas): string | undefined {
  if (!operation.body) return undefined;
  const { examples, schema } = operation.body;
  return JSON.stringify(examples[0]?.value ?? sampleOf(schema, schemas), null, 2);
}

/** Random enough to be found in a log, short enough to be read out. */
function newRequestId(): string {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  return `docs-${number.toString(36).padStart(7, '0')}`;
}
