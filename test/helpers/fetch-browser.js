/**
 * Fetches Chromium for the tests of pages into the state folder, like servers: Debian's packages,
 * unpacked without root or installation. `node test/helpers/fetch-browser.js`.
 */

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { findHome, makeHome } from '../../lib/home.js';
import { openApt } from '../../servers/apt.js';
import { findMissingLibraries } from '../../servers/libraries.js';
import { findBrowser } from './browser.js';

/** The C library must be the system's; packages of a desktop are not needed without a screen. */
const LEFT_OUT = /^(libc6|libc-bin|libgcc-s1|libgl1)$|-icon-theme$|-data$|-doc$/;
const LINKS = 9;

const home = findHome();
const target = path.join(home, 'browser');
if (findBrowser() !== null) {
  console.log('a Chromium is there');
} else {
  makeHome(home);
  const folder = await mkdtemp(path.join(home, '.partial-browser-'));
  try {
    await fetchInto(path.join(folder, 'root'), path.join(folder, 'apt'));
    await rm(target, { recursive: true, force: true });
    await rename(path.join(folder, 'root'), target);
    console.log(`Chromium is in ${target}`);
  } catch (error) {
    console.error(`no Chromium: ${error.message}`);
    process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} root
 * @param {string} aptFolder
 */
async function fetchInto(root, aptFolder) {
  await mkdir(root, { recursive: true });
  const apt = await openApt(aptFolder, {});
  const { known } = await apt.look(['chromium', 'chromium-common', 'fonts-dejavu-core']);
  await apt.unpack([...known, 'fontconfig-config'], root);
  const packages = new Set([...known, 'fontconfig-config']);
  for (let link = 0; link < LINKS; link += 1) {
    const missing = await findMissingLibraries(root);
    if (missing.length === 0) break;
    const { depends } = await apt.look([...packages]);
    const more = depends.filter(
      (name) => name.startsWith('lib') && !packages.has(name) && !LEFT_OUT.test(name),
    );
    if (more.length === 0) break;
    await apt.unpack(more, root);
    for (const name of more) packages.add(name);
  }
  if (!existsSync(path.join(root, 'usr/lib/chromium/chromium'))) {
    throw new Error('the packages of this system have no usr/lib/chromium/chromium');
  }
}
