// Makes elements. Text always becomes a text node, so nothing the service says can become markup.

export type Child = Node | string | number | false | null | undefined | readonly Child[];

type Listener = (event: Event) => void;
/** A function listens to the event of that name; false and undefined leave the attribute out. */
type Attributes = Readonly<Record<string, string | number | boolean | Listener | undefined>>;

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...nodesOf(children));
  return element;
}

export function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (child === false || child === null || child === undefined) return [];
    if (typeof child === 'number') return [String(child)];
    return typeof child === 'string' || child instanceof Node ? [child] : nodesOf(child);
  });
}

/** An element of index.html, which must be there. */
export function existing<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (element instanceof kind) return element;
  throw new Error(`index.html has no ${kind.name} with the id ${id}`);
}
