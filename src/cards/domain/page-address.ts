// The page on which a payer was, as far as it is kept: its query may hold anything.

/** Undefined if the text is not an absolute URL. */
export function pageOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const page = new URL(text);
  page.search = '';
  page.hash = '';
  page.username = '';
  page.password = '';
  return page.href;
}
