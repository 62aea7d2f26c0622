// A real Chromium for the tests of pages. Without one, a local run reports it and skips these tests; in CI, where CI is set, the run
// fails instead.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { describe } from 'vitest';

const named = process.env['CHROMIUM'];
const wholeNames = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** The same engine without the windows and services of a browser. It takes three quarters of the processor time. */
const shellNames = ['chromium-headless-shell', 'chrome-headless-shell'];

const chromiumPath = findBrowser(
  named,
  wholeNames,
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
);
const mayBeSkipped = chromiumPath === undefined && !process.env['CI'];
const howToGetOne = 'install one (apt-get install chromium), or name the one you have in CHROMIUM';

if (mayBeSkipped) console.warn(`No Chromium: the tests of pages are skipped; ${howToGetOne}.`);

/** Replaces `describe` for tests that need a browser. */
export const describeInBrowser = describe.skipIf(mayBeSkipped);

/**
 * Chromium heeds the last such list alone, so Playwright's own (1.65) stands here too. The last two are pages of an address bar
 * that no test sees; each window would load them, for half a second of processor time.
 */
const disabledFeatures = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
];

/** `whole` opens windows as payers see them. For the rest a shell will do, where there is one. */
export async function openBrowser(kind?: 'whole'): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error(`Chromium not found: ${howToGetOne}`);
  return chromium.launch({
    executablePath:
      kind === 'whole' ? chromiumPath : (findBrowser(named, shellNames, chromiumPath) ?? chromiumPath),
    args: [
      // Root, as in most containers, has no sandbox; the tests open only pages of this repository.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${disabledFeatures.join(',')}`,
    ],
  });
}

/** The path that a developer named, or the first place that exists. */
export function findBrowser(
  named: string | undefined,
  names: readonly string[],
  elsewhere: string,
): string | undefined {
  if (named) return named;
  const folders = ['/usr/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  return folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .concat(elsewhere)
    .find((path) => existsSync(path));
}
