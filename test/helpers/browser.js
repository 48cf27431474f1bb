/**
 * A real browser for the tests of pages: Chromium of DRAGSTRIP_CHROMIUM, of PATH, or of the folder
 * of fetch-browser.js. Without downloads.
 */

import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { findHome } from '../../lib/home.js';
import { libraryPath } from '../../servers/programs.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const FETCHED = ['usr/lib/chromium/chromium', 'usr/lib/chromium-browser/chromium-browser'];

/** Reason for skipping the tests of a browser. */
export const NO_BROWSER =
  'no Chromium on PATH, in DRAGSTRIP_CHROMIUM or fetched (node test/helpers/fetch-browser.js)';

/** @returns {{ file: string, root: string | null } | null} root: folder of the fetched packages */
export function findBrowser() {
  const root = path.join(findHome(), 'browser');
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const chosen = process.env['DRAGSTRIP_CHROMIUM'];
  const candidates = [
    ...(chosen ? [{ file: chosen, root: null }] : []),
    ...folders.flatMap((folder) =>
      NAMES.map((name) => ({ file: path.join(folder, name), root: null })),
    ),
    ...FETCHED.map((file) => ({ file: path.join(root, file), root })),
  ];
  return candidates.find(({ file }) => isProgram(file)) ?? null;
}

/** @param {string} file */
function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return path.isAbsolute(file);
  } catch {
    return false;
  }
}

/** @returns {Promise<import('playwright-core').Browser>} */
export async function openBrowser() {
  const browser = findBrowser();
  if (browser === null) throw new Error(NO_BROWSER);
  const { root } = browser;
  const env = root === null ? {} : { LD_LIBRARY_PATH: await libraryPath(root) };
  const fonts = root === null ? {} : { FONTCONFIG_SYSROOT: root, FONTCONFIG_FILE: 'fonts.conf' };
  return chromium.launch({
    executablePath: browser.file,
    // The sandbox needs rights that containers lack; the pages are trusted.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: { .../** @type {Record<string, string>} */ (process.env), ...env, ...fonts },
  });
}
