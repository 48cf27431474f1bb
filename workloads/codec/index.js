/**
 * Codecs without a server: an operation decodes or encodes a whole fixture. What comes out is
 * compared with what must come out before anything is timed; a codec that differs anywhere is not
 * measured. While it is timed, only the number of replies or bytes is looked at.
 */

import { defineWorkload } from '../../lib/define.js';
import { MISMATCH, OK } from '../../lib/outcome.js';

/** @type {import('../../lib/types.js').Prepare} */
const prepare =
  ({ phase }) =>
  (handle) => {
    const codec = /** @type {NonNullable<typeof handle.codec>} */ (handle.codec);
    const { expected } = codec;
    return {
      calls: 'sync',
      op: () => codec.run(),
      verify: (_index, count) => (count === expected ? OK : MISMATCH),
      async after() {
        if (phase !== 'measure') return;
        // Hot code is other code: once more, now that it is compiled.
        codec.check();
        return codec.facts();
      },
    };
  };

/** @type {import('../../lib/types.js').Prepare} the engine asks for several rows; one look is enough */
const check = () => (handle) => ({
  calls: 'sync',
  op: (index) => index === 0 && handle.codec?.check(),
  verify: () => OK,
});

export const workload = defineWorkload({
  name: 'codec',
  summary: 'decoders and encoders on recorded replies, without a server (dragstrip codec)',
  needs: ['codec'],
  prepare,
  check,
  offers: ({ codec }, parameters) => codec?.offers(parameters) ?? false,
});
