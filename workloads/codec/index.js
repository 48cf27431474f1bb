/**
 * Codecs without a server: an operation decodes or encodes a whole fixture. What comes out is
 * compared with what must come out before anything is timed; a codec that differs anywhere is not
 * measured. While it is timed, only the number of replies or bytes is looked at.
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
        // Hot code is other code: once more, now that it is compiled.
        trial.check();
        compared.replies += trial.fixture.replies;
        compared.bytes += pass.bytes;
        return trial.metrics();
      },
    };
  };

/**
 * @type {import('../../lib/types.js').Prepare<CodecHandle>} the engine asks for several rows; one
 * look is enough, that of the first round: the processes of all rounds are alike
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
