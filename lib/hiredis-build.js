/** Folder of a hiredis-node build, shared by the storage, the codec and the build. */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { quoteForShell } from './format.js';

/** Correct in an installed package too, where `npm run` would use the user's. */
const SCRIPT = fileURLToPath(new URL('../scripts/build-hiredis.js', import.meta.url));

/**
 * Builds are kept by ABI and processor. The part below node_modules matters: code in there may
 * call `new Buffer` without a warning on stderr.
 * @param {string} home the state folder
 * @returns {string} the folder that require starts from
 */
export function builtFolder(home) {
  return path.join(home, 'hiredis', `${process.versions.modules}-${process.arch}`);
}

/**
 * @param {string} home the state folder
 * @returns {string} location of the compiled module
 */
export function builtBinary(home) {
  return path.join(builtFolder(home), 'node_modules/hiredis/build/Release/hiredis.node');
}

/** @type {string | null} */
let failure = null;

/** @param {string | null} reason reason why the build of this process failed; null: it did not */
export function noteBuild(reason) {
  failure = reason;
}

/**
 * @param {string} home the state folder
 * @returns {import('./types.js').Unavailable | null} null: it is built
 */
export function missingBuild(home) {
  if (existsSync(builtBinary(home))) return null;
  return {
    reason:
      failure ??
      'it is not built for this Node; the published version does not compile on Node 12 or later',
    hint:
      `node ${quoteForShell(path.relative('', SCRIPT))} ` +
      '(needs a C++ compiler, make, Python and Node headers)',
  };
}
