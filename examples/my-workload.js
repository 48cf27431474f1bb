/**
 * A workload of your own, from outside of the project: pairs of neighbouring rows.
 *
 *   npx dragstrip run --workload ./examples/my-workload.js --storages ioredis,lmdb --distance 10
 */

import { count, defineWorkload } from 'dragstrip';

export default defineWorkload({
  name: 'pairs',
  summary: 'a row, then the row some keys further',
  needs: ['get'], // what a storage must offer
  // From here come the parser, --help, the default and the check of values that a program gives.
  options: {
    distance: count(1, 1000, 1, { help: 'keys between the two rows' }),
    ops: count(1, 1e6, 1000, { help: 'pairs in each benchmark' }),
  },
  shared: { rounds: 2 }, // another default of an option that every run has
  plan: ({ distance, ops }) => ({
    variants: [{ parameters: { distance } }],
    loads: [{ kind: 'window', inFlight: 16, operations: ops }],
  }),

  /** Before the clock starts; gives what is done with each handle that a storage opens. */
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
        // 0: right. 2: wrong. Only what is right counts.
        verify: (index, [a, b]) =>
          right(first(index), a) && right(first(index) + distance, b) ? 0 : 2,
      };
    };
  },
});
