/**
 * A workload outside the project: reads two rows per operation.
 *
 *   npx dragstrip run --workload ./examples/my-workload.js --storages ioredis,lmdb --distance 10
 */

import { count, defineWorkload } from 'dragstrip';

export default defineWorkload({
  name: 'pairs',
  summary: 'two rows at a distance',
  needs: ['get'], // required from a storage
  // Used by the parser, --help, defaults and the validation of values from programs.
  options: {
    distance: count(1, 1000, 1, { help: 'keys between the two rows' }),
    ops: count(1, 1e6, 1000, { help: 'pairs in each benchmark' }),
  },
  shared: { rounds: 2 }, // another default for a common option
  plan: ({ distance, ops }) => ({
    variants: [{ parameters: { distance } }],
    loads: [{ kind: 'window', inFlight: 16, operations: ops }],
  }),

  /** Runs before the clock starts; returns a function from handle to operation. */
  prepare: ({ dataset, options }) => {
    const { distance } = /** @type {{ distance: number }} */ (options.parameters);
    const first = (/** @type {number} */ index) => 1 + (index % (dataset.rows - distance));
    return (handle) => {
      const { value: textOf = (/** @type {any} */ reply) => reply } = handle;
      /** @type {(id: number, reply: unknown) => boolean} */
      const right = (id, reply) => dataset.belongs(id, textOf(reply) ?? '');
      return {
        calls: 'promise',
        op: (index) => Promise.all([0, distance].map((more) => handle.get(first(index) + more))),
        // 0: ok, 2: mismatch.
        verify: (index, [a, b]) =>
          right(first(index), a) && right(first(index) + distance, b) ? 0 : 2,
      };
    };
  },
});
