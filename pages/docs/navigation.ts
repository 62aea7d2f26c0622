// The list of operations next to the text. It filters by what is typed and marks the operation being read.
import type { Operation } from './document.ts';
import { existing, h } from './elements.ts';
import { methodBadge } from './operation-view.ts';

type Entry = { readonly words: string; readonly element: HTMLElement; readonly link: HTMLAnchorElement };

export function drawNavigation(operationsByTag: ReadonlyMap<string, readonly Operation[]>): void {
  const list = existing('operations', HTMLElement);
  const groups = [...operationsByTag].map(([tag, operations]) => {
    const entries = operations.map((operation) => entryOf(tag, operation));
    const heading = h('a', { class: 'tag', href: `#${tagId(tag)}` }, tag);
    const element = h('li', {}, heading, h('ul', {}, ...entries.map((entry) => entry.element)));
    return { element, entries };
  });
  list.replaceChildren(...groups.map(({ element }) => element));
  connectSearch(groups);
  connectMenu();
  markWhatIsRead(groups.flatMap(({ entries }) => entries));
}

export function tagId(tag: string): string {
  return `tag-${tag.replaceAll(/\W+/g, '-')}`;
}

function entryOf(tag: string, operation: Operation): Entry {
  const link = h(
    'a',
    { href: `#${operation.id}` },
    h('span', { class: 'summary' }, operation.summary),
    methodBadge(operation.method),
  );
  const words = [
    tag,
    operation.summary,
    operation.id,
    operation.method,
    operation.path,
    operation.description,
  ];
  return { words: words.join(' ').toLowerCase(), element: h('li', {}, link), link };
}

function connectSearch(groups: readonly { element: HTMLElement; entries: readonly Entry[] }[]): void {
  const search = existing('search', HTMLInputElement);
  const count = existing('search-count', HTMLElement);

  function filter(): void {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { element, entries } of groups) {
      for (const entry of entries) {
        const isWanted = wanted.every((word) => entry.words.includes(word));
        entry.element.hidden = !isWanted;
        if (isWanted) found += 1;
      }
      element.hidden = entries.every((entry) => entry.element.hidden);
    }
    count.textContent = wanted.length === 0 ? '' : found === 0 ? 'Nothing fits' : `${found} found`;
  }

  search.addEventListener('input', filter);
  search.addEventListener('keydown', ({ key }) => {
    const first = groups.flatMap(({ entries }) => entries).find((entry) => !entry.element.hidden);
    if (key === 'Enter') first?.link.click();
    if (key !== 'Escape') return;
    search.value = '';
    filter();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    setMenu(true);
    search.focus();
  });
}

/** In a narrow window the navigation opens over the text. */
function connectMenu(): void {
  const button = existing('menu', HTMLButtonElement);
  const navigation = existing('navigation', HTMLElement);
  button.addEventListener('click', () => {
    setMenu(button.ariaExpanded !== 'true');
    if (button.ariaExpanded === 'true') navigation.focus();
  });
  navigation.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a')) setMenu(false);
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || button.ariaExpanded !== 'true') return;
    setMenu(false);
    button.focus();
  });
}

function setMenu(isOpen: boolean): void {
  existing('menu', HTMLButtonElement).ariaExpanded = String(isOpen);
  document.body.classList.toggle('menu-open', isOpen);
}

function markWhatIsRead(entries: readonly Entry[]): void {
  const linkOf = new Map(entries.map(({ link }) => [link.hash.slice(1), link]));
  const seen = new Set<string>();
  const observer = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes) {
        if (isIntersecting) seen.add(target.id);
        else seen.delete(target.id);
      }
      const [current] = [...linkOf.keys()].filter((id) => seen.has(id));
      for (const [id, link] of linkOf) link.ariaCurrent = id === current ? 'true' : null;
      if (current !== undefined) linkOf.get(current)?.scrollIntoView({ block: 'nearest' });
    },
    { rootMargin: '-20% 0px -60% 0px' },
  );
  for (const section of document.querySelectorAll('.operation')) observer.observe(section);
}
