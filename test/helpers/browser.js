/**
 * A real browser for the tests of pages: Chromium of DRAGSTRIP_CHROMIUM, of PATH, or of the folder
 * that fetch-browser.js has filled. None is downloaded here.
 */

import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { findHome } from '../../lib/home.js';
import { libraryPath } from '../../servers/programs.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const FETCHED = ['usr/lib/chromium/chromium', 'usr/lib/chromium-browser/chromium-browser'];

/** Why the tests of a browser are left out where there is none. */
export const NO_BROWSER =
  'no Chromium on PATH, in DRAGSTRIP_CHROMIUM or fetched (node test/helpers/fetch-browser.js)';

/**
 * @returns {{ file: string, root: string | null } | null} root: folder that it was fetched into
 */
export function findBrowser() {
  const root = path.join(findHome(), 'browser');
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const given = process.env['DRAGSTRIP_CHROMIUM'];
  const candidates = [
    ...(given ? [{ file: given, root: null }] : []),
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
  const found = findBrowser();
  if (found === null) throw new Error(NO_BROWSER);
  const { root } = found;
  const env = root === null ? {} : { LD_LIBRARY_PATH: await libraryPath(root) };
  const fonts = root === null ? {} : { FONTCONFIG_SYSROOT: root, FONTCONFIG_FILE: 'fonts.conf' };
  return chromium.launch({
    executablePath: found.file,
    // The sandbox needs rights that a container has not; the pages are ours.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: { .../** @type {Record<string, string>} */ (process.env), ...env, ...fonts },
  });
}
