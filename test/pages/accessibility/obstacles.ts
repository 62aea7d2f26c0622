// Finds what keeps a person from using a page in the state it is in. axe-core judges; a contrast it cannot measure is a finding.
// Two faults that axe-core does not know are added: an unexplained wrong field, and a page wider than its window.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Frame, Page } from 'playwright-core';
import { desktop } from '../../support/worlds/checkout-world.ts';

type Size = { readonly width: number; readonly height: number };

export type Looks = {
  /** axe-core runs in the first size; the page must fit the width of each. */
  readonly sizes?: readonly Size[];
  /** Further values of data-theme. Their contrast is measured, light and dark. */
  readonly themes?: readonly string[];
  /** `everySize`: axe-core runs in every size. `never`: it does not run, and only the added faults are found. */
  readonly judge?: 'everySize' | 'never';
  /** Another test measures the contrast: the page is too long for axe-core to measure. */
  readonly contrast?: 'elsewhere';
  /** axe-core cannot run in a frame without scripts. */
  readonly frames?: 'elsewhere';
};

/** The narrowest phone a page has to fit without scrolling sideways (WCAG 1.4.10). */
export const narrowPhone: Size = { width: 320, height: 640 };

// The minified script is half as long, and each page has to read it once.
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const everything: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations', 'incomplete'],
  // Each frame is judged separately.
  iframes: false,
};
const allButContrast: RunOptions = { ...everything, rules: { 'color-contrast': { enabled: false } } };
const contrastAlone: RunOptions = { ...everything, runOnly: { type: 'rule', values: ['color-contrast'] } };

/** Returns sentences; none when nothing is wrong. Leaves the page light, in the size and theme it had. */
export async function obstacles(page: Page, looks: Looks = {}): Promise<string[]> {
  const { sizes = [narrowPhone, desktop], themes = [], judge, contrast } = looks;
  const sizeBefore = page.viewportSize() ?? desktop;
  const found: string[] = [];
  const frames = looks.frames === 'elsewhere' ? [page.mainFrame()] : page.frames();
  async function run(where: string, options: RunOptions): Promise<void> {
    for (const frame of frames) {
      found.push(...(await judged(frame, options)).map((sentence) => `${where}: ${sentence}`));
    }
  }
  async function measureContrast(colorScheme: 'light' | 'dark', theme?: string): Promise<void> {
    await page.emulateMedia({ colorScheme });
    if (theme !== undefined) await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
    await run([colorScheme, theme].filter(Boolean).join(' '), contrastAlone);
  }

  async function measureThemes(): Promise<void> {
    const themeBefore = await page.evaluate<string | undefined>('document.documentElement.dataset.theme');
    for (const theme of themes) {
      await measureContrast('dark', theme);
      await measureContrast('light', theme);
    }
    await page.evaluate(`document.documentElement.dataset.theme = '${themeBefore ?? 'main'}'`);
  }

  await page.emulateMedia({ colorScheme: 'light' });
  for (const [index, size] of sizes.entries()) {
    await page.setViewportSize(size);
    const where = `${size.width} wide`;
    if (judge !== 'never' && (index === 0 || judge === 'everySize')) {
      await run(where, contrast === 'elsewhere' ? allButContrast : everything);
    }
    found.push(...(await page.evaluate<string[]>(unseenByAxe)).map((what) => `${where}: ${what}`));
  }
  if (judge !== 'never' && contrast !== 'elsewhere') {
    await measureContrast('dark');
    if (themes.length > 0) await measureThemes();
    await page.emulateMedia({ colorScheme: 'light' });
  }
  await page.setViewportSize(sizeBefore);
  return found;
}

async function judged(frame: Frame, options: RunOptions): Promise<string[]> {
  if ((await frame.evaluate('typeof axe')) === 'undefined') await frame.evaluate(axeSource);
  // Whole results describe every rule that passed; only the findings leave the browser.
  const { violations, incomplete } = await frame.evaluate<Pick<AxeResults, 'violations' | 'incomplete'>>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations, incomplete }) => ({ violations, incomplete }))`,
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
    if (input.ariaInvalid === 'true' && !problem?.textContent) say(input, 'is wrong without an explanation');
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page is wider than its window');
  return found;
})()`;
