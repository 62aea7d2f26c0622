// The fields of a request to try: one for each parameter and one for the body.
import type { Operation, Parameter } from '../document.ts';
import type { OpenDraft } from './draft.ts';
import { h } from '../elements.ts';
import { keyOf } from './request.ts';

export type RequestForm = {
  readonly element: HTMLElement;
  /** Shows the draft as it is now. */
  refresh(): void;
  complainAbout(parameter: Parameter, problem: string): void;
  setBusy(isBusy: boolean): void;
};

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

const groups = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Headers'],
] as const;

export function requestForm(
  operation: Operation,
  draft: OpenDraft,
  owner: { changed(): void; send(): void },
): RequestForm {
  const fields = new Map<string, Field>();
  const idOf = (name: string) => `${operation.id}-${name.replaceAll(' ', '-')}`;

  function parameterField(parameter: Parameter): HTMLElement {
    const key = keyOf(parameter);
    const field = fieldFor(parameter, idOf(key), (value) => {
      field.removeAttribute('aria-invalid');
      draft.type(key, value);
      owner.changed();
    });
    fields.set(key, field);
    return labelled(parameter.name, field, parameter.required ?? false);
  }

  const sets = groups.map(([place, title]) => {
    const parameters = operation.parameters.filter((parameter) => parameter.in === place);
    return (
      parameters.length > 0 && h('fieldset', {}, h('legend', {}, title), ...parameters.map(parameterField))
    );
  });

  const bodyProblem = h('p', { class: 'problem', id: idOf('problem'), role: 'status' });
  const body = h('textarea', {
    id: idOf('body'),
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-describedby': bodyProblem.id,
    input: () => {
      bodyProblem.textContent = jsonProblem(body.value);
      draft.typeBody(body.value);
      owner.changed();
    },
  });
  const pathProblem = h('p', { class: 'problem', role: 'status' });
  const button = h('button', { type: 'submit', class: 'send' }, 'Send');

  const element = h(
    'form',
    {
      autocomplete: 'off',
      novalidate: true,
      submit: (event) => {
        event.preventDefault();
        if (button.ariaDisabled !== 'true') owner.send();
      },
      keydown: (event) => {
        if (!(event instanceof KeyboardEvent) || event.key !== 'Enter') return;
        if (event.ctrlKey || event.metaKey) element.requestSubmit();
      },
    },
    sets,
    operation.body &&
      h('fieldset', {}, h('legend', {}, h('label', { for: body.id }, 'Body')), body, bodyProblem),
    pathProblem,
    h('div', { class: 'tools' }, button),
  );

  const form: RequestForm = {
    element,
    refresh() {
      const current = draft.current();
      for (const [key, field] of fields) setValue(field, current.values[key] ?? '');
      setValue(body, current.body ?? '');
      body.rows = Math.min(body.value.split('\n').length, 22);
      pathProblem.textContent = '';
    },
    complainAbout(parameter, problem) {
      const field = fields.get(keyOf(parameter));
      field?.setAttribute('aria-invalid', 'true');
      field?.focus();
      pathProblem.textContent = `${parameter.name}: ${problem}`;
    },
    setBusy(isBusy) {
      // Not disabled, which would take the focus away.
      button.ariaDisabled = String(isBusy);
      button.textContent = isBusy ? 'Sending…' : 'Send';
    },
  };
  form.refresh();
  return form;
}

function fieldFor({ schema, name }: Parameter, id: string, type: (value: string) => void): Field {
  const values = schema.enum ?? (schema.type === 'boolean' ? [true, false] : undefined);
  if (values) {
    const options = ['', ...values.map(String)].map((value) => h('option', { value }, value || '(not sent)'));
    const select = h('select', { id, change: () => type(select.value) }, options);
    return select;
  }
  const input = h('input', {
    id,
    name,
    type: 'text',
    spellcheck: 'false',
    autocapitalize: 'off',
    inputmode: schema.type === 'integer' ? 'numeric' : undefined,
    input: () => type(input.value),
  });
  return input;
}

function labelled(name: string, field: Field, isRequired: boolean): HTMLElement {
  if (isRequired) field.setAttribute('aria-required', 'true');
  return h(
    'div',
    { class: 'field' },
    h('label', { for: field.id }, name, isRequired && h('span', { class: 'required' }, ' required')),
    field,
  );
}

/** Leaves the cursor alone where nothing changes. */
function setValue(field: Field, value: string): void {
  if (field.value !== value) field.value = value;
}

function jsonProblem(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return `Not JSON yet: ${error instanceof Error ? error.message : String(error)}`;
  }
}
