/**
 * Adds diagnostics before the summary of node:test: assertions that were impossible on this
 * machine, from diagnostics that begin with "not checked: " (test/helpers/not-checked.js; none on a
 * calm machine with all permissions), and optionally the time of each file.
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';

const PREFIX = 'not checked: ';
/** The first line of the summary. */
const SUMMARY = /^tests \d+$/;

/** @typedef {{ type: string, data: any }} TestEvent */

/**
 * @param {AsyncIterable<TestEvent>} events events of node:test
 * @param {{ timesFile?: string }} options timesFile: file with the times of test files
 * @returns {AsyncGenerator<TestEvent>} the events with further diagnostics
 */
export async function* withFindings(events, { timesFile }) {
  /** @type {Set<string>} */
  const messages = new Set();
  for await (const event of events) {
    const { nesting, message = '', file = '' } = event.data ?? {};
    if (event.type === 'test:diagnostic' && message.startsWith(PREFIX)) {
      messages.add(`${path.relative('', file)}: ${message.slice(PREFIX.length)}`);
    }
    if (event.type === 'test:diagnostic' && nesting === 0 && SUMMARY.test(message)) {
      const lines = [`${PREFIX}${messages.size}`, ...[...messages].map((line) => `  ${line}`)];
      for (const line of [...timesIn(timesFile), ...lines]) {
        yield { type: 'test:diagnostic', data: { nesting: 0, message: line } };
      }
    }
    yield event;
  }
}

/**
 * @param {string | undefined} timesFile
 * @returns {string[]} a line per test file, the longest first
 */
function timesIn(timesFile) {
  if (timesFile === undefined) return [];
  const all = readFileSync(timesFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => /** @type {import('./test-times.js').FileTime} */ (JSON.parse(line)))
    .sort((a, b) => b.wallS - a.wallS);
  const lineOf = (/** @type {string} */ name, /** @type {number} */ wallS, cpuS = 0) =>
    `${wallS.toFixed(1).padStart(8)} s ${cpuS.toFixed(1).padStart(8)} s CPU  ${name}`;
  const sum = (/** @type {'wallS' | 'cpuS'} */ field) =>
    all.reduce((total, one) => total + one[field], 0);
  return [
    ...all.map(({ file, wallS, cpuS }) => lineOf(path.relative('', file), wallS, cpuS)),
    lineOf(`${all.length} files`, sum('wallS'), sum('cpuS')),
  ];
}
