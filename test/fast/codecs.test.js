/**
 * Every codec variant on every fixture: the output is correct, however the bytes are split.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fixtureBytes, readArchive } from '../../codecs/archive.js';
import { defineCodec } from '../../codecs/definition.js';
import { firstDifference } from '../../codecs/difference.js';
import { FIXTURES } from '../../codecs/fixtures.js';
import { CODEC_NAMES, loadCodec, PROTOCOLS, VARIANTS } from '../../codecs/index.js';
import { referenceBytes } from '../../codecs/reference.js';
import { SET_COUNT, SET_ROWS, setRows } from '../../codecs/rows.js';
import { CHUNK_BYTES, chunksOf, decodeAll } from '../../codecs/trial.js';
import { measureAllocation } from '../../measure/allocation.js';
import { loadStorage } from '../../storages/index.js';
import { workload } from '../../workloads/codec/index.js';

/** @typedef {import('../../codecs/fixtures.js').Fixture} Fixture */
/** @typedef {import('../../codecs/fixtures.js').Protocol} Protocol */
/** @typedef {import('../../codecs/definition.js').CodecContender} CodecContender */

/** Variants on any fixture: hiredis is not built everywhere, node-handlersocket spoils blobs. */
const FEWEST = { handlersocket: 2, resp: 3, messagepack: 3, cql: 2 };

/** @param {Fixture} fixture */
const parametersOf = ({ protocol, direction, name }) => ({ protocol, direction, fixture: name });

/**
 * @param {CodecContender} definition
 * @param {Fixture} fixture
 */
async function openOn(definition, fixture) {
  const { trial } = await definition.open({ parameters: parametersOf(fixture) });
  return trial;
}

/**
 * @param {Protocol} protocol
 * @returns {Promise<CodecContender[]>} those that are there
 */
async function variantsOf(protocol) {
  const all = await Promise.all(VARIANTS[protocol].map((name) => loadCodec(name)));
  const lacks = await Promise.all(all.map(({ unavailable }) => unavailable?.('default')));
  return all.filter((_, i) => lacks[i] === null);
}

/** @param {Protocol} protocol @param {string} name */
function fixtureOf(protocol, name) {
  const found = FIXTURES.find((one) => one.protocol === protocol && one.name === name);
  assert.ok(found);
  return found;
}

for (const protocol of PROTOCOLS) {
  describe(`${protocol}: every variant`, () => {
    for (const fixture of FIXTURES.filter((one) => one.protocol === protocol)) {
      test(`${fixture.direction}s ${fixture.name} correctly`, async () => {
        let tried = 0;
        for (const definition of await variantsOf(protocol)) {
          if (definition.offers(parametersOf(fixture)) !== true) continue;
          const trial = await openOn(definition, fixture);
          assert.doesNotThrow(() => trial.check(), definition.name);
          assert.equal(trial.run(), trial.expected, definition.name);
          tried += 1;
        }
        assert.ok(tried >= FEWEST[protocol], `${tried} variants were tried`);
      });
    }

    test('decodes mixed cut at every position, and byte by byte', async () => {
      const fixture = fixtureOf(protocol, 'mixed');
      const bytes = fixtureBytes(fixture);
      const expected = fixture.expected();
      for (const definition of await variantsOf(protocol)) {
        const { kind } = definition;
        if (kind === 'bound' || definition.offers(parametersOf(fixture)) !== true) continue;
        const codec = await codecOf(definition, fixture);
        const decode = (/** @type {Buffer[]} */ chunks) => decodeAll(codec, fixture, chunks);
        for (let at = 1; at < bytes.length; at += 1) {
          const found = firstDifference(
            decode([bytes.subarray(0, at), bytes.subarray(at)]),
            expected,
          );
          assert.equal(found, null, `${definition.name}, cut at ${at}: ${JSON.stringify(found)}`);
        }
        const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
        assert.equal(firstDifference(decode(single), expected), null, definition.name);
      }
    });

    test('decodes sets in chunks of odd lengths', async () => {
      const fixture = fixtureOf(protocol, 'sets');
      const bytes = fixtureBytes(fixture);
      const chunks = [];
      for (let at = 0, i = 0; at < bytes.length; i += 1) {
        const length = 1 + ((i * 7919) % 30_011);
        chunks.push(bytes.subarray(at, at + length));
        at += length;
      }
      for (const definition of await variantsOf(protocol)) {
        const { kind } = definition;
        if (kind === 'bound' || definition.offers(parametersOf(fixture)) !== true) continue;
        const codec = await codecOf(definition, fixture);
        const found = firstDifference(decodeAll(codec, fixture, chunks), fixture.expected());
        assert.equal(found, null, `${definition.name}: ${JSON.stringify(found)}`);
      }
    });
  });
}

/**
 * @param {CodecContender} definition
 * @param {Fixture} fixture
 */
async function codecOf(definition, fixture) {
  const { codec } = await openOn(definition, fixture);
  return codec;
}

describe('the registry', () => {
  test('names each variant like its file, once', async () => {
    const names = Object.values(VARIANTS).flat();
    assert.equal(new Set(names).size, names.length);
    for (const protocol of PROTOCOLS) {
      const { codecs } = await import(`../../codecs/${protocol}.js`);
      const own = codecs.map((/** @type {CodecContender} */ { name }) => name);
      assert.deepEqual(own.toSorted(), [...VARIANTS[protocol]].sort());
      for (const codec of codecs) assert.equal(codec.protocol, protocol);
    }
  });

  test('is separate from the storages: a race uses none of them', async () => {
    assert.deepEqual(workload.contenders?.names(), CODEC_NAMES);
    assert.equal((await workload.contenders?.load('msgpackr'))?.name, 'msgpackr');
    await assert.rejects(loadCodec('none'), { code: 'E_USAGE', message: /variant "none"$/ });
    await assert.rejects(loadCodec('./none.js'), { code: 'E_USAGE', message: /no such file$/ });
    await assert.rejects(loadStorage('msgpackr'), /unknown storage/);
  });
});

describe('the fixtures', () => {
  test('are as large as the original program’s: 21 result sets, 18,600 rows, about 800 KB', () => {
    const sets = Array.from({ length: SET_COUNT }, (_, i) => setRows(i));
    assert.equal(sets.flat().length, SET_ROWS);
    assert.equal(new Set(sets.flat().map(([big]) => big)).size, SET_ROWS);
    const { length } = fixtureBytes(fixtureOf('handlersocket', 'sets'));
    assert.ok(length > 700_000 && length < 900_000, `${length} bytes`);
  });

  test('name the servers that they were recorded from', () => {
    const own = FIXTURES.filter(({ direction, single }) => direction === 'decode' && !single);
    const servers = PROTOCOLS.map((protocol) => {
      const { recordedFrom, bytes } = readArchive(protocol);
      const names = own.filter((one) => one.protocol === protocol).map(({ name }) => name);
      assert.deepEqual([...bytes.keys()], names);
      return recordedFrom.split(' ')[0];
    });
    assert.deepEqual(servers, ['mariadb', 'redis', 'tarantool', 'cassandra']);
  });

  test('with one reply per chunk are split between replies', () => {
    for (const fixture of FIXTURES.filter(({ single }) => single)) {
      const bytes = fixtureBytes(fixture);
      const chunks = chunksOf(bytes, fixture);
      assert.equal(chunks.length, fixture.replies);
      assert.ok(Buffer.concat(chunks).equals(bytes));
      const { single: _single, ...whole } = fixture;
      assert.ok(chunksOf(bytes, whole).every(({ length }) => length <= CHUNK_BYTES));
    }
  });

  test('that node-handlersocket skips would be decoded incorrectly', async () => {
    const fixture = fixtureOf('handlersocket', 'sets');
    const definition = await loadCodec('node-handlersocket');
    const offer = definition.offers(parametersOf(fixture));
    assert.match(/** @type {any} */ (offer).reason, /corrupts the bytes of blobs/);
    const [rows] = decodeAll(await codecOf(definition, fixture), fixture);
    const [right] = fixture.expected();
    const lost = rows.filter(
      (/** @type {string[]} */ row, /** @type {number} */ i) =>
        !Buffer.from(row[3]).equals(right[i][3]),
    );
    assert.ok(lost.length > rows.length / 2, `${lost.length} of ${rows.length}`);
  });
});

describe('a wrong variant', () => {
  const find = fixtureOf('handlersocket', 'find-16');
  const batch = fixtureOf('handlersocket', 'batch-4096');
  /** @param {(rows: any[][], n: number) => any} spoil @returns {CodecContender} */
  const wrongDecoder = (spoil) =>
    defineCodec({
      name: 'wrong',
      protocol: 'handlersocket',
      kind: 'ours',
      summary: 'wrong',
      async load() {
        const { createDecoder } = await codecOf(await loadCodec('hs-client'), find);
        return {
          createDecoder(shape, emit) {
            let n = 0;
            return /** @type {any} */ (createDecoder)(shape, (/** @type {any} */ rows) => {
              const reply = spoil(rows, n);
              n += 1;
              if (reply !== undefined) emit(reply);
            });
          },
        };
      },
    });

  test('is detected by one wrong byte of a value, with its position', async () => {
    const trial = await openOn(
      wrongDecoder((rows, n) => (n === 637 ? [[`${rows[0][0].slice(0, -1)}?`]] : rows)),
      find,
    );
    assert.throws(() => trial.check(), {
      code: 'E_DATA',
      message: /^wrong output at \[637\]\[0\]\[0\]: /,
    });
  });

  test('is detected by a number instead of its text', async () => {
    const trial = await openOn(
      wrongDecoder((rows, n) => (n === 5 ? [[Number.NaN]] : rows)),
      find,
    );
    assert.throws(() => trial.check(), /at \[5\]\[0\]\[0\]/);
  });

  test('is detected by a missing reply, also while it is timed', async () => {
    const trial = await openOn(
      wrongDecoder((rows, n) => (n % 1000 === 999 ? undefined : rows)),
      find,
    );
    assert.throws(() => trial.check(), /at \[999\]: undefined/);
    assert.notEqual(trial.run(), trial.expected);
  });

  test('is detected by one byte of its output', async () => {
    const wrong = defineCodec({
      name: 'wrong',
      protocol: 'handlersocket',
      kind: 'ours',
      summary: 'wrong',
      encodes: ['batch-4096'],
      load: () => ({
        encoders: {
          'batch-4096': () => (target) => {
            const bytes = Buffer.from(referenceBytes(batch));
            bytes[100_000] ^= 1;
            return bytes.copy(target);
          },
        },
      }),
    });
    const trial = await openOn(wrong, batch);
    assert.throws(() => trial.check(), /wrong output at byte 100000: bytes [0-9a-f]+ instead of/);
  });
});

describe('firstDifference', () => {
  const cases = /** @type {const} */ ([
    ['equal values', [1, 'a', null, [true]], [1, 'a', null, [true]], null],
    ['bytes in either class', new Uint8Array([1, 2]), Buffer.from([1, 2]), null],
    ['errors of one message', new Error('x'), new TypeError('x'), null],
    ['a number and its text', [[1, '2']], [[1, 2]], '[0][1]'],
    ['a bigint and a number', [1n], [1], '[0]'],
    ['null and undefined', [undefined], [null], '[0]'],
    ['0 and -0', [0], [-0], '[0]'],
    ['a value too many', [1, 2], [1], '[1]'],
    ['a value too few', [1], [1, undefined], '[1]'],
    ['a field too many', { a: 1, b: 2 }, { a: 1 }, '.b'],
    ['a Map for an object', new Map([['a', 1]]), { a: 1 }, ''],
    ['an array for an object', [], {}, ''],
    ['bytes and their text', Buffer.from('a'), 'a', ''],
  ]);
  for (const [name, actual, expected, path] of cases) {
    test(`${path === null ? 'takes' : 'finds'} ${name}`, () => {
      assert.equal(firstDifference(actual, expected)?.path ?? null, path);
    });
  }
});

test('the allocation of known objects and Buffers is measured correctly', () => {
  /** @type {any} */
  let kept = null;
  const work = () => {
    for (let i = 0; i < 50_000; i += 1) kept = [i, kept === null];
  };
  // An array of two: 32 bytes and its elements' 16 + 2 × 8, without pointer compression.
  const each = measureAllocation([work], 20).heapBytes / 50_000;
  assert.ok(each > 60 && each < 70, `${each} bytes`);
  // A collection under load may count one of them less.
  const slabs = measureAllocation([() => Buffer.alloc(65_536)], 50);
  assert.ok(Math.abs(slabs.bufferBytes / 1024 - 64) <= 2, `${slabs.bufferBytes}`);
  assert.ok(measureAllocation([() => {}], 50).heapBytes < 100);
});
