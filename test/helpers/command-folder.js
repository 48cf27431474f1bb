/** The command line in a private folder of a test, with the addresses of its servers, if any. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseResult } from '../../lib/parse-result.js';
import { callIn, startCommand } from './command-line.js';
import { withFolder } from './folder.js';
import { addressVariables } from './servers.js';

/**
 * Call it at the top of a test file or of a suite, after `withServers`.
 * @param {ReturnType<typeof import('./servers.js').withServers>} [servers]
 */
export function withCommands(servers) {
  const folder = withFolder();
  const file = (/** @type {string} */ name) => path.join(folder, name);
  const textOf = (/** @type {string} */ name) => readFileSync(file(name), 'utf8');
  const env = () => ({ env: servers === undefined ? {} : addressVariables(servers) });
  const startScript = (/** @type {string[]} */ ...words) => startCommand(folder, words, env());
  const start = (/** @type {string[]} */ ...words) => startScript('bin/dragstrip.js', ...words);
  return {
    folder,
    file,
    textOf,
    resultIn: (/** @type {string} */ name) => parseResult(textOf(name), name),
    start,
    call: (/** @type {string[]} */ ...words) => start(...words).ended,
    callScript: (/** @type {string[]} */ ...words) => startScript(...words).ended,
    /**
     * In this process, except contenders.
     * @param {string[]} words
     */
    callHere: (...words) => callIn(folder, ['bin/dragstrip.js', ...words], env()),
  };
}
