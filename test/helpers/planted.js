/**
 * Contenders with a known difference: a storage file that is ioredis under another name, and one
 * with an additional request at each fourth call, 20 % of its requests.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { entriesOf } from '../../lib/comparison.js';
import { pairOf } from '../../stats/standings.js';
import { notChecked } from './not-checked.js';

const EVERY = 4;
/** At this confidence a verdict is wrong once in a thousand runs of a test. */
const CERTAIN = 0.999;
const PLANTED = 0.2;
/** Half-width of an interval that detects such a difference. */
const TELLS = PLANTED / 3;

/**
 * @param {string} folder
 * @param {string} open code of a function from `open` of `base` to its replacement; `again(more,
 *   call)` is `call`, with `more` before each fourth call
 * @returns {string[]} storages
 */
export function plantStorages(folder, open) {
  const at = (/** @type {string} */ file) => new URL(`../../${file}`, import.meta.url).href;
  const files = Object.entries({ equal: 0, slower: EVERY }).map(([name, every]) => {
    const file = path.join(folder, `${name}.js`);
    writeFileSync(
      file,
      `import { defineStorage } from '${at('define.js')}';
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
 * @param {import('node:test').TestContext} t
 * @param {import('../../lib/result.js').Result} result result of the planted storages
 * @param {number} loads minimum loads
 */
export function assertPlantsFound(t, result, loads) {
  const { comparison } = result;
  assert.ok((comparison?.loads.length ?? 0) >= loads, `${comparison?.loads.length} loads`);
  for (const load of comparison?.loads ?? []) {
    const about = JSON.stringify([load.kind, load.inFlight, load.parameters]);
    const entries = entriesOf(load);
    const slower = pairOf(entries, 'slower', 'ioredis');
    const message = `${about}: ${JSON.stringify(slower)}`;
    assert.ok(slower !== null, message);
    assert.notEqual(slower.speed.answer, 'faster', message);
    // On a busy machine no interval may be narrow enough; it must then at least contain the true
    // value.
    if (Number(slower.speed.halfWidth) <= TELLS) assert.ok(Number(slower.speed.high) < 1, message);
    else {
      assert.ok(Number(slower.speed.low) < 1 - PLANTED / 2, message);
      const half = `± ${(100 * Number(slower.speed.halfWidth)).toFixed(1)} %`;
      notChecked(t, `that a planted difference is found: its interval is ${half} (${about})`);
    }
    // The median is that of the three unchanged calls of four.
    const certain = pairOf(entries, 'slower', 'ioredis', { confidence: CERTAIN });
    assert.notEqual(certain?.witnesses['latency'].answer, 'faster', message);
    const equal = pairOf(entries, 'equal', 'ioredis', { confidence: CERTAIN })?.speed;
    assert.match(String(equal?.answer), /tied|not resolved/, `${about}: ${JSON.stringify(equal)}`);
  }
}
