/**
 * `dragstrip codec decoding` and `codec encoding`: codec variants on recorded replies, without a
 * server. All that a variant gives is compared with what it must give before it is timed.
 */

import { FIXTURES } from '../../codecs/fixtures.js';
import { CODEC_NAMES, loadCodec, PROTOCOLS } from '../../codecs/index.js';
import { usageError } from '../../lib/errors.js';
import { conductRun, firstPicture, tablesFor } from '../conduct.js';
import { dropUndefined } from '../setup.js';
import { statusOf } from '../status.js';

/** @typedef {import('../../index.js').RunOptions} RunOptions */
/** @typedef {import('../../codecs/fixtures.js').Fixture} Fixture */

const DIRECTIONS = Object.freeze({ decoding: 'decode', encoding: 'encode' });
const ROUNDS = 3;
const DURATION_MS = 250;
const WARMUP = 20;

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ args: [test], options, stdout, stderr }) {
  const runOptions = await toCodecOptions(test, options);
  return conductRun(
    { options, stdout, stderr },
    {
      begin: () => runOptions,
      show: ({ progress }) => showProgress(runOptions, progress),
      tell: async (result) => {
        stdout.write(await tablesFor(result, stdout));
      },
      draw: firstPicture,
      judge: statusOf,
    },
  );
}

/**
 * @param {RunOptions} runOptions
 * @param {import('../progress.js').Progress} progress
 * @returns {(event: import('../../index.js').RunEvent) => void}
 */
function showProgress({ variants }, progress) {
  let ended = 0;
  return (event) => {
    if (event.type === 'cell-start') {
      const { cell, round, rounds } = event;
      const total = rounds * (variants?.length ?? 1);
      progress.update(
        `${cell.storage}, ${cell.parameters?.['fixture']}, round ${round + 1} of ${rounds}`,
        ended / Math.max(total, ended + 1),
      );
    }
    if (event.type === 'cell-end') ended += 1;
  };
}

/**
 * @param {string} test
 * @param {Record<string, any>} options parsed
 * @returns {Promise<RunOptions>}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export async function toCodecOptions(test, options) {
  if (!Object.hasOwn(DIRECTIONS, test)) {
    const names = Object.keys(DIRECTIONS).join(', ');
    throw usageError(`codec ${JSON.stringify(test)}: not known`, `name one of ${names}`);
  }
  if (options.ops !== undefined && options.duration !== undefined) {
    throw usageError('--ops and --duration: one of them', 'leave one out');
  }
  const fixtures = fixturesOf(DIRECTIONS[/** @type {'decoding'} */ (test)], options);
  const storages = options.variants;
  const parameters = fixtures.map(({ protocol, direction, name }) => ({
    ...{ protocol, direction },
    fixture: name,
  }));
  await requireCells(storages, parameters);
  return /** @type {RunOptions} */ (
    dropUndefined({
      command: `codec-${test}`,
      workload: 'codec',
      storages,
      loads: [
        dropUndefined({
          kind: 'sync',
          operations: options.ops,
          durationMs: options.ops === undefined ? (options.duration ?? DURATION_MS) : undefined,
        }),
      ],
      variants: parameters.map((one) => ({ parameters: one })),
      rounds: options.rounds ?? ROUNDS,
      warmupOperations: options.warmup ?? WARMUP,
      seed: options.seed,
      pin: options.pin,
    })
  );
}

/**
 * @param {string} direction
 * @param {Record<string, any>} options
 * @returns {Fixture[]}
 */
function fixturesOf(direction, { protocols = PROTOCOLS, fixtures }) {
  for (const name of protocols) {
    if (!PROTOCOLS.includes(name)) {
      throw usageError(`--protocols ${name}: not known`, `there are ${PROTOCOLS.join(', ')}`);
    }
  }
  const own = FIXTURES.filter(
    (one) => one.direction === direction && protocols.includes(one.protocol),
  );
  if (fixtures === undefined) return own.filter(({ small }) => !small);
  const names = [...new Set(own.map(({ name }) => name))];
  for (const name of fixtures) {
    if (names.includes(name)) continue;
    throw usageError(
      `--fixtures ${name}: there is none to ${direction}`,
      `there are ${names.join(', ')}`,
    );
  }
  return own.filter(({ name }) => fixtures.includes(name));
}

/**
 * A variant that was named and that none of the fixtures is for would be left out without a word.
 * @param {string[] | undefined} variants
 * @param {import('../../lib/types.js').Parameters[]} parameters
 */
async function requireCells(variants = [], parameters) {
  for (const variant of variants) {
    if (!CODEC_NAMES.includes(variant) && !/^\.{0,2}\/|\.[cm]?js$/.test(variant)) {
      const names = CODEC_NAMES.join(', ');
      throw usageError(`--variants ${variant}: not known`, `there are ${names}; or ./file.js`);
    }
    const codec = await loadCodec(variant);
    if (parameters.some((one) => codec.offers(one) !== false)) continue;
    throw usageError(
      `--variants ${codec.name}: none of the fixtures is for it`,
      `its protocol is ${codec.protocol}; it may decode and not encode, or not this fixture`,
    );
  }
}
