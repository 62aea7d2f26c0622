// What keeps somebody from using a page as it stands now. axe-core is the judge: it is asked about windows of several sizes, and
// about the contrast of every text in every light and theme. What it cannot tell counts as a fault there. A few things it does not
// look at are added.
import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { Frame, Page } from 'playwright-core';
import { desktop } from '../support/worlds/checkout-world.ts';

export type Looks = {
  readonly sizes?: readonly { readonly width: number; readonly height: number }[];
  /** Further values of data-theme. */
  readonly themes?: readonly string[];
  /** Of a page too long to be asked about every text, where another test measures it. */
  readonly contrast?: 'elsewhere';
  /** Where no script runs, nobody can be asked. */
  readonly frames?: 'elsewhere';
};

/** The narrowest phone a page has to fit without being moved sideways (WCAG 1.4.10). */
export const narrowPhone = { width: 320, height: 640 };

const everything: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations', 'incomplete'],
  // Each frame is asked by itself.
  iframes: false,
};
const allButContrast: RunOptions = { ...everything, rules: { 'color-contrast': { enabled: false } } };
const contrastAlone: RunOptions = { ...everything, runOnly: { type: 'rule', values: ['color-contrast'] } };

/** Answers sentences; none when all is well. The page is left in light, in the size it had. */
export async function obstacles(page: Page, looks: Looks = {}): Promise<string[]> {
  const { sizes = [narrowPhone, desktop], themes = [], contrast, frames } = looks;
  const sizeBefore = page.viewportSize() ?? desktop;
  const found: string[] = [];
  async function look(where: string, options: RunOptions): Promise<void> {
    for (const frame of frames === 'elsewhere' ? [page.mainFrame()] : page.frames()) {
      found.push(...(await judged(frame, options)).map((sentence) => `${where}: ${sentence}`));
    }
  }
  const lookIn = async (colorScheme: 'light' | 'dark', theme?: string) => {
    await page.emulateMedia({ colorScheme });
    if (theme !== undefined) await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
    await look([colorScheme, theme].filter(Boolean).join(' '), contrastAlone);
  };

  await page.emulateMedia({ colorScheme: 'light' });
  for (const size of sizes) {
    await page.setViewportSize(size);
    await look(`${size.width} wide`, contrast === 'elsewhere' ? allButContrast : everything);
    found.push(...(await page.evaluate<string[]>(unseenByAxe)).map((what) => `${size.width} wide: ${what}`));
  }
  await page.setViewportSize(sizeBefore);
  if (contrast === 'elsewhere') return found;
  const themeBefore = await page.evaluate<string | undefined>('document.documentElement.dataset.theme');
  await lookIn('dark');
  for (const theme of themes) {
    await lookIn('dark', theme);
    await lookIn('light', theme);
  }
  await page.evaluate(`document.documentElement.dataset.theme = '${themeBefore ?? 'main'}'`);
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

async function judged(frame: Frame, options: RunOptions): Promise<string[]> {
  if ((await frame.evaluate('typeof axe')) === 'undefined') await frame.evaluate(axe.source);
  const { violations, incomplete } = await frame.evaluate<AxeResults>(
    `axe.run(document, ${JSON.stringify(options)})`,
  );
  return [...violations, ...incomplete.filter(({ id }) => id === 'color-contrast')].flatMap(({ id, nodes }) =>
    nodes.map(({ target, any, failureSummary }) => {
      const why = any.map(({ message }) => message).join(' ') || failureSummary;
      return `${target.join(' ')} breaks ${id}: ${why}`;
    }),
  );
}

/** Runs inside the browser, as text. */
const unseenByAxe = `(() => {
  const found = [];
  const say = (element, what) => found.push((element.id || element.className || element.localName) + ' ' + what);
  for (const input of document.querySelectorAll('input')) {
    const problem = document.getElementById(input.id + '-problem');
    if (input.ariaInvalid === 'true' && !problem?.textContent) say(input, 'is wrong and nobody says why');
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page is wider than its window');
  return found;
})()`;
