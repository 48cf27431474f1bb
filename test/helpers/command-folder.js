/** The command line in a folder of a test's own, with the addresses of its servers, if any. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseResult } from '../../lib/parse-result.js';
import { callCommand, NO_SERVERS, startCommand } from './command-line.js';
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
     * In this process: for what ends before a benchmark is touched.
     * @param {string[]} words
     */
    async callHere(...words) {
      const { cwd, env: outside } = { cwd: process.cwd(), env: process.env };
      process.chdir(folder);
      process.env = { ...outside, ...NO_SERVERS, DRAGSTRIP_HOME: file('state'), ...env().env };
      try {
        return await callCommand(['bin/dragstrip.js', ...words]);
      } finally {
        process.env = outside;
        process.chdir(cwd);
      }
    },
  };
}
