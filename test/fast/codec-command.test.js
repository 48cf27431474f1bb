/** `dragstrip codec`: its tables, result and refusals, and an incorrect variant. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { requestRun } from '../../engine/request.js';
import { documentOf } from '../../report/document.js';
import { numberOf } from '../../stats/metrics.js';
import { loadReports } from '../../workloads/index.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure, callCommand, ROOT } from '../helpers/command-line.js';

const SHORT = ['--rounds', '1', '--ops', '3', '--warmup', '2', '--quiet'];

const { callHere, folder, resultIn: resultOf } = withCommands();

/** @param {string[]} words */
const codec = (...words) => callHere('codec', ...words);

describe('codec decoding', () => {
  test('measures the variants of a fixture, fastest first, and draws them', async () => {
    const { status, stdout, stderr } = await codec(
      ...['decoding', '--protocols', 'resp', '--fixtures', 'get-16', ...SHORT],
      ...['--variants', 'redis-parser,node-redis,resp-count', '--json', 'a.json', '--svg', 'plots'],
    );
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^RESP, decoding, get-16: 22\.5 KiB, 1,000 rows, 12 times an operation/m);
    assert.match(stdout, /^ *[-–\d]+ +resp-count \(decodes nothing\) /m);
    const result = resultOf('a.json');
    const [table] = documentOf(result, await loadReports()).tables;
    assert.match(table.title, /22\.5 KiB, 1,000 rows, 12 times/);
    const [first, second, bound] = table.rows;
    assert.equal(bound.remark, 'decodes nothing', 'what decodes nothing is no contender');
    assert.equal(numberOf(first.values['versus_fastest']), 1);
    assert.ok(Number(numberOf(second.values['versus_fastest'])) <= 1);
    assert.ok(Number(numberOf(second.values['bytes'])) > 0);
    for (const { rounds, parameters } of result.benchmarks) {
      assert.deepEqual(parameters, { protocol: 'resp', direction: 'decode', fixture: 'get-16' });
      const [{ outcomes, scheduled, throughput, metrics }] = rounds;
      assert.equal(scheduled, 3);
      assert.equal(outcomes.ok, 3);
      assert.equal(metrics?.['rows'], 12_000);
      assert.equal(metrics?.['bytes'], 12 * 23_000);
      assert.ok(throughput > 0);
    }
    // A string of 16 characters: 16 bytes of head and the characters, and nothing else.
    const parser = table.rows.find(({ keys }) => keys['storage'] === 'redis-parser');
    const heap = parser === undefined ? Number.NaN : numberOf(parser.values['heap']);
    assert.ok(Math.abs(Number(heap) - 32) < 4, `${heap} bytes a row`);
    const [plot] = readdirSync(path.join(folder, 'plots'));
    const svg = readFileSync(path.join(folder, 'plots', plot), 'utf8');
    assert.match(svg, /^<svg [\s\S]*redis-parser/);
  });

  test('prints the line of the original program for each benchmark', async () => {
    const few = SHORT.filter((word) => word !== '--quiet');
    for (const [test, variant, fixture, unit] of [
      ['decoding', 'redis-parser', 'get-16', ''],
      ['encoding', 'hs-client', 'batch-4096', ' microseconds per call'],
    ]) {
      const { status, stdout, stderr } = await codec(
        ...[test, '--fixtures', fixture, '--variants', variant, ...few],
      );
      assert.equal(status, 0, stderr);
      const line = new RegExp(
        `^${variant}_${fixture} (\\d+) iterations: \\d+(\\.\\d+)?${unit}$`,
        'm',
      );
      const passes = Number(line.exec(stdout)?.[1]);
      assert.ok(passes > 0 && passes % 3 === 0, stdout);
    }
  });

  test('shows a stored result again', async () => {
    const { status, stdout } = await callHere('report', 'a.json');
    assert.equal(status, 0);
    assert.match(stdout, /^RESP, decoding, get-16/m);
    assert.match(stdout, /^codecs: one operation is one whole fixture/m);
  });

  test('shows an incorrect variant, does not time it, and exits with 5', async () => {
    const home = pathToFileURL(path.join(ROOT, 'codecs/')).href;
    await writeFile(
      path.join(folder, 'swapped.js'),
      `import { defineCodec } from '${home}definition.js';
       import { loadCodec } from '${home}index.js';
       export default defineCodec({
         name: 'swapped', protocol: 'resp', kind: 'ours', summary: 'two replies change names',
         async load() {
           const parameters = { protocol: 'resp', direction: 'decode', fixture: 'get-16' };
           const { trial } = await (await loadCodec('redis-parser')).open({ parameters });
           return { createDecoder(shape, emit) {
             let held = null;
             return trial.codec.createDecoder(shape, (reply) => {
               if (held !== null) { emit(reply); emit(held); held = null; }
               else if (reply === right) held = reply;
               else emit(reply);
             });
           } };
         },
       });
       import { smallValue } from '${home}rows.js';
       const right = smallValue(500);`,
    );
    const { status, stdout, stderr } = await codec(
      ...['decoding', '--fixtures', 'get-16', '--variants', 'redis-parser,./swapped.js', ...SHORT],
      ...['--json', 'wrong.json'],
    );
    assert.equal(status, 5, stderr);
    assert.match(stdout, /^ *– +! swapped \(ours\) .* wrong /m);
    assert.match(
      stdout,
      /swapped, codec, resp, decode, get-16, round 1: failed: E_DATA: wrong output at \[499\]/,
    );
    const benchmark = resultOf('wrong.json').benchmarks.find(
      ({ storage }) => storage === 'swapped',
    );
    assert.equal(benchmark?.state, 'failed');
    assert.equal(benchmark?.rounds[0].scheduled, 0, 'nothing of it was timed');
    assert.equal(benchmark?.rounds[0].throughput, 0);
    assert.equal(benchmark?.rounds[0].metrics, undefined);
  });

  test('leaves no files behind unless requested', () => {
    assert.equal(existsSync(path.join(folder, 'results')), false);
  });
});

describe('codec encoding', () => {
  test('measures encoding, with its bytes compared', async () => {
    const { status, stdout, stderr } = await codec(
      ...['encoding', '--fixtures', 'batch-4096', '--protocols', 'handlersocket', ...SHORT],
      ...['--variants', 'hs-client,node-handlersocket'],
    );
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^HandlerSocket, encoding, batch-4096: 287 KiB, 4,096 rows, 1 round$/m);
    assert.match(stdout, /^ *[-–\d]+ +hs-client \(ours\) /m);
  });
});

describe('selection of benchmarks', () => {
  /** @param {Record<string, any>} options */
  const planOf = async (options) =>
    (await requestRun({ workload: 'codec', test: 'decoding', ...options })).plan;

  test('all fixtures of a direction except the small one, of all protocols', async () => {
    const { variants = [], storages, slices, loads } = await planOf({});
    assert.equal(storages, null, 'the engine takes all that can run');
    assert.deepEqual([slices?.rounds, slices?.budgetNs], [null, 60e9]);
    assert.deepEqual(
      loads.map(({ kind, durationNs }) => [kind, durationNs]),
      [['sync', null]],
    );
    const fixed = await planOf({ duration: 250 });
    assert.deepEqual([fixed.slices, fixed.rounds], [undefined, 3]);
    assert.equal(fixed.loads[0].durationNs, 250e6);
    const names = variants.map(
      ({ parameters }) => `${parameters['protocol']}/${parameters['fixture']}`,
    );
    assert.equal(new Set(names).size, 21);
    assert.ok(!names.some((name) => name.endsWith('mixed')));
  });

  test('the small one as well if it is named', async () => {
    const { variants = [] } = await planOf({ fixtures: ['mixed'] });
    assert.equal(variants.length, 4);
  });

  for (const [words, message] of /** @type {[string[], RegExp][]} */ ([
    [['both'], /codec "both": unknown test; tests: decoding, encoding/],
    [
      ['decoding', '--protocols', 'resp3'],
      /--protocols "resp3": unknown value "resp3"; available: handlersocket/,
    ],
    [
      ['decoding', '--fixtures', 'batch-4096'],
      /batch-4096: no such fixture to decode; available: find/,
    ],
    [['encoding', '--protocols', 'cql'], /--protocols cql: no fixture to encode/],
    [['encoding', '--fixtures', 'sets'], /--fixtures sets: no such fixture to encode/],
    [
      ['decoding', '--variants', 'msgpack'],
      /unknown codec variant "msgpack"; available variants: hs-client/,
    ],
    [['encoding', '--variants', 'redis-parser'], /redis-parser: no selected fixture applies to it/],
    [
      ['decoding', '--variants', 'hs-client', '--protocols', 'resp'],
      /hs-client: no selected fixture applies to it; its protocol is handlersocket/,
    ],
    [['decoding', '--ops', '5', '--duration', '1s'], /--ops and --duration cannot be combined/],
    [['decoding', '--variants', './none.js'], /none\.js: no such file/],
    [['decoding', '--rounds', '0'], /--rounds/],
    [['decoding', '--json', 'package.json/a.json'], /package\.json\/a\.json/],
    [[], /codec needs <test>; write for example npx dragstrip codec decoding$/m],
  ])) {
    test(`refuses ${words.join(' ') || 'no test'}`, async () => {
      assertFailure(await callCommand(['bin/dragstrip.js', 'codec', ...words]), 2, message);
    });
  }
});
