// A real Firefox for the short test of payers' pages in a second browser. Without one it does as browser.ts does without Chromium.
import { userInfo } from 'node:os';
import { launch, type Browser } from 'puppeteer-core';
import { describe } from 'vitest';
import { findBrowser } from './browser.ts';

const firefoxPath = findBrowser(
  process.env['FIREFOX'],
  ['firefox-esr', 'firefox'],
  '/Applications/Firefox.app/Contents/MacOS/firefox',
);
const mayBeSkipped = firefoxPath === undefined && !process.env['CI'];
const howToGetOne = 'install one (apt-get install firefox-esr), or name the one you have in FIREFOX';

if (mayBeSkipped) console.warn(`No Firefox: the test of pages in it is skipped; ${howToGetOne}.`);

/** Replaces `describe` for tests that need a Firefox. */
export const describeInFirefox = describe.skipIf(mayBeSkipped);

export async function openFirefox(): Promise<Browser> {
  if (firefoxPath === undefined) throw new Error(`Firefox not found: ${howToGetOne}`);
  const { uid, homedir } = userInfo();
  // As root it refuses to start in the home of another user, which sudo leaves in HOME.
  const env = { ...process.env, ...(uid === 0 ? { HOME: homedir } : {}) };
  return launch({ browser: 'firefox', executablePath: firefoxPath, headless: true, env });
}
