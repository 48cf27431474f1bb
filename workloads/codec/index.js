/**
 * Codecs without a server: an operation decodes or encodes a whole fixture. The output is compared
 * with the expected output before timing; a codec with any difference is not measured. While
 * timing, only the number of replies or bytes is checked.
 */

import { CODEC_NAMES, loadCodec } from '../../codecs/index.js';
import { defineWorkload, metricRules } from '../../lib/define.js';
import { MISMATCH, OK } from '../../lib/outcome.js';
import { options, plan, shared, tests } from './plan.js';

/** @typedef {import('../../codecs/definition.js').CodecContender} CodecContender */
/** @typedef {import('../../codecs/definition.js').CodecHandle} CodecHandle */

/** @type {import('../../lib/types.js').Prepare<CodecHandle>} */
const prepare =
  ({ phase, round = 0 }) =>
  ({ trial }) => {
    const { expected, pass } = trial;
    const compared = { replies: 0, bytes: 0 };
    return {
      calls: 'sync',
      op: () => trial.run(),
      verify: (_index, count) => (count === expected ? OK : MISMATCH),
      compared,
      async end() {
        if (phase !== 'measure') return;
        if (round > 0) return trial.size();
        // Checked once more after compilation, since optimised code is different code.
        trial.check();
        compared.replies += trial.fixture.replies;
        compared.bytes += pass.bytes;
        return trial.metrics();
      },
    };
  };

/**
 * @type {import('../../lib/types.js').Prepare<CodecHandle>} the engine requests checks of several
 * rows; one check in the first round is enough, since the processes of all rounds are alike
 */
const check =
  ({ round = 0 }) =>
  ({ trial }) => ({
    calls: 'sync',
    op: (index) => index === 0 && round === 0 && trial.check(),
    verify: () => OK,
  });

export const workload = defineWorkload({
  name: 'codec',
  options,
  shared,
  tests,
  plan,
  runHooks: () => import('./run-hooks.js'),
  needs: [],
  contenders: { names: () => CODEC_NAMES, load: loadCodec },
  slices: 'default',
  metricRules: metricRules({
    one: ['bytes', 'rows', 'replies', 'repeat'],
    max: ['heapBytes', 'bufferBytes', 'allocationPasses', 'allocationCollections'],
  }),
  prepare,
  check,
  offers: (contender, parameters) =>
    /** @type {CodecContender} */ (/** @type {unknown} */ (contender)).offers(parameters),
});
