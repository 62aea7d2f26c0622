// Which texts of a page are too faint to read: less than 4.5 to 1 against their ground (WCAG 2 AA). Runs inside the
// browser, so it may use nothing but what it is given.

type Styled = {
  readonly parentElement: Styled | null;
  readonly childNodes: Iterable<{ readonly nodeType: number; readonly textContent: string | null }>;
  readonly ownerDocument: {
    readonly defaultView: {
      getComputedStyle(element: Styled): { readonly color: string; readonly backgroundColor: string };
    } | null;
  };
  checkVisibility(): boolean;
};

export function faintTexts(elements: readonly Styled[]): string[] {
  const faint: string[] = [];
  for (const element of elements) {
    const text = [...element.childNodes]
      .filter(({ nodeType }) => nodeType === 3)
      .map(({ textContent }) => textContent?.trim() ?? '')
      .join(' ')
      .trim();
    if (text === '' || !element.checkVisibility()) continue;
    const [ink, ground] = [styleOf(element).color, groundOf(element)].map(luminance);
    if (ink === undefined || ground === undefined) throw new Error(`no colours at ${text}`);
    const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    if (ratio < 4.5) faint.push(`${text}: ${ratio.toFixed(2)}`);
  }
  return faint;

  function styleOf(element: Styled): { color: string; backgroundColor: string } {
    const { defaultView } = element.ownerDocument;
    if (!defaultView) throw new Error('the document is not shown');
    return defaultView.getComputedStyle(element);
  }

  function groundOf(element: Styled | null): string {
    if (!element) return 'rgb(255, 255, 255)';
    const { backgroundColor } = styleOf(element);
    return backgroundColor === 'rgba(0, 0, 0, 0)' ? groundOf(element.parentElement) : backgroundColor;
  }

  function luminance(color: string): number {
    const parts = [...color.matchAll(/[\d.]+/g)].map(([part]) => Number(part));
    if (parts.length !== 3) throw new Error(`${color} is no opaque colour`);
    const [red = 0, green = 0, blue = 0] = parts.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }
}
