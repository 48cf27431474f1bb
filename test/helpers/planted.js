/**
 * Contenders whose difference is known: a storage file that is ioredis under another name, and one
 * that asks the server once more at each fourth call, which is 20 % of what it sends.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { entriesOf } from '../../lib/comparison.js';
import { pairOf } from '../../stats/standings.js';

const EVERY = 4;
/** An answer at this confidence is wrong once in a thousand runs of a test. */
const CERTAIN = 0.999;
const PLANTED = 0.2;
/** Half-width of an interval that tells such a difference. */
const TELLS = PLANTED / 3;

/**
 * @param {string} folder
 * @param {string} open a function of `open` on that of `base`; `again(more, call)` is `call`, with
 *   `more` before each fourth call
 * @returns {string[]} storages
 */
export function plantStorages(folder, open) {
  const at = (/** @type {string} */ file) => new URL(`../../${file}`, import.meta.url).href;
  const files = Object.entries({ equal: 0, slower: EVERY }).map(([name, every]) => {
    const file = path.join(folder, `${name}.js`);
    writeFileSync(
      file,
      `import { defineStorage } from '${at('index.js')}';
      import { storage as base } from '${at('storages/ioredis.js')}';
      let calls = 0;
      const again = (more, call) => (...words) => {
        calls += 1;
        return calls % ${every || 1} === 0 && ${every} > 0
          ? more(...words).then(() => call(...words)) : call(...words);
      };
      export const storage = defineStorage({ ...base, name: '${name}', open: { ...base.open, ${open} } });`,
    );
    return file;
  });
  return ['ioredis', ...files];
}

/**
 * @param {import('../../lib/result.js').Result} result of the planted storages
 * @param {number} loads that it has at least
 */
export function assertPlantsFound(result, loads) {
  const { comparison } = result;
  assert.ok((comparison?.loads.length ?? 0) >= loads, `${comparison?.loads.length} loads`);
  for (const load of comparison?.loads ?? []) {
    const about = JSON.stringify([load.kind, load.inFlight, load.parameters]);
    const entries = entriesOf(load);
    const slower = pairOf(entries, 'slower', 'ioredis');
    const said = `${about}: ${JSON.stringify(slower)}`;
    assert.ok(slower !== null, said);
    assert.notEqual(slower.speed.answer, 'faster', said);
    // On a busy machine no interval may be narrow enough; then it must at least contain the truth.
    if (Number(slower.speed.halfWidth) <= TELLS) assert.equal(slower.speed.answer, 'slower', said);
    else assert.ok(Number(slower.speed.low) < 1 - PLANTED / 2, said);
    // The median is that of the three calls of four which are as fast as ever.
    const certain = pairOf(entries, 'slower', 'ioredis', { confidence: CERTAIN });
    assert.notEqual(certain?.witnesses['latency'].answer, 'faster', said);
    const equal = pairOf(entries, 'equal', 'ioredis', { confidence: CERTAIN })?.speed;
    assert.match(String(equal?.answer), /tied|not resolved/, `${about}: ${JSON.stringify(equal)}`);
  }
}
