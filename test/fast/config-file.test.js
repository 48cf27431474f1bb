/** Options in a file: `dragstrip.config.js` in the working folder, or the file of `--config`. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure, ROOT } from '../helpers/command-line.js';

const { callHere, file, resultIn } = withCommands();

/** @param {string} name @param {unknown} options */
const write = (name, options) =>
  writeFile(file(name), `export default ${JSON.stringify(options)};\n`);

describe('options in a file', () => {
  test('apply to the commands that have them; the command line takes precedence', async () => {
    const sync = { storages: ['memory'], ops: 50, rounds: 2, json: 'result.json' };
    const options = { rows: 20, rounds: 1, inFlight: 5, quiet: false, sync };
    await write('dragstrip.config.js', { ...options, warmup: 0, history: { wrong: true } });
    const set = '--rows, --rounds, --warmup, --storages, --ops, --json';
    const first = await callHere('sync');
    assert.equal(first.status, 0, first.stderr);
    assert.match(first.stderr, new RegExp(`^options from dragstrip\\.config\\.js: ${set}$`, 'm'));
    const [measured] = resultIn('result.json').benchmarks;
    assert.equal(resultIn('result.json').dataset.rows, 20);
    assert.deepEqual(
      measured.rounds.map(({ scheduled }) => scheduled),
      [50, 50],
    );
    const second = await callHere('sync', '-n', '60', '--rounds', '1', '--force', '--quiet');
    assert.doesNotMatch(second.stderr, /options from/);
    const [again] = resultIn('result.json').benchmarks;
    assert.deepEqual(
      again.rounds.map(({ scheduled }) => scheduled),
      [60],
    );
    assert.equal((await callHere('list')).stderr, '');
  });

  /** @type {[string, string[], unknown, RegExp][]} */
  const refused = [
    [
      'an unknown name',
      ['race'],
      { budgte: '1m' },
      /: wrong-0.mjs: .*"budgte": did you mean "budget"/,
    ],
    ['a name of another command', ['sync'], { sync: { setup: true } }, /mjs: sync: .* "setup"/],
    ['the name of no command', ['race'], { rece: {} }, /"rece": did you mean "race"\?/],
    ['a wrong value', ['sync'], { ops: 'many' }, /wrong-.\.mjs: --ops "many": .*--ops 50000/],
    ['a time without a unit', ['race'], { budget: 5 }, /wrong-.\.mjs: --budget "5": .*--budget 5s/],
    ['no boolean', ['race'], { setup: 'yes' }, /wrong-.\.mjs: --setup "yes": not a boolean/],
    ['no text', ['race'], { against: { a: 1 } }, /--against {"a":1}: not a string, a number/],
    ['a list', ['race'], [], /wrong-.\.mjs: not an object/],
    ['the workload', ['run'], { run: { workload: 'get' } }, /unknown option "workload"/],
  ];
  for (const [index, [title, words, options, says]] of refused.entries()) {
    test(`are refused with one line: ${title}`, async () => {
      const name = `wrong-${index}.mjs`; // a file is imported once per process
      await write(name, options);
      assertFailure(await callHere(...words, '--config', name), 2, says);
    });
  }

  test('of the example are accepted', async () => {
    const example = path.join(ROOT, 'examples/dragstrip.config.js');
    const { status, stderr } = await callHere('race', '--config', example, '--storages', 'none');
    assert.match(
      stderr,
      /^options from .*config\.js: --against, --reference, --fail-if, --setup, --json$/m,
    );
    assert.match(stderr, /unknown storage "none"/);
    assert.equal(status, 2);
  });

  test('in a missing file', async () => {
    assertFailure(await callHere('race', '--config', 'none.js'), 2, /none\.js: no such file/);
  });
});
