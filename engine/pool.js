/**
 * Several connections: the storage opened as often as --connections says, each with its part of the
 * requests in flight, or (--pool) as often as requests are in flight, each with one at a time, as
 * clients with a connection pool have it. Not for drivers whose calls block: those never have more
 * than one in flight.
 */

/** @typedef {import('../lib/types.js').Handle} Handle */
/** @typedef {import('../lib/types.js').BoundWorkload} BoundWorkload */

/**
 * @param {import('./opening.js').BenchmarkSpec} spec
 * @param {import('../lib/types.js').CallStyle} calls
 * @returns {number} handles to open
 */
export function poolSize({ workloadOptions, load }, calls) {
  if (calls === 'sync') return 1;
  return load.connections ?? (workloadOptions['pool'] === true ? (load.inFlight ?? 1) : 1);
}

/**
 * @param {number} size
 * @param {() => Promise<Handle>} open
 * @returns {Promise<Handle[]>} closing the first one closes all of them
 * @throws what opening one of them threw, once the others are closed
 */
export async function openPool(size, open) {
  /** @type {Handle[]} */
  const handles = [];
  try {
    while (handles.length < size) handles.push(await open());
  } catch (error) {
    await Promise.allSettled(handles.map((one) => one.close()));
    throw error;
  }
  const [first, ...others] = handles;
  if (others.length > 0) {
    const close = first.close.bind(first);
    first.close = async () => {
      await Promise.all([close(), ...others.map((one) => one.close())]);
    };
  }
  return handles;
}

/**
 * An operation goes to a handle that has none; where there is no such handle (the warm-up has more
 * in flight) they take turns.
 * @param {readonly BoundWorkload[]} bounds the same workload on each handle
 * @param {import('../lib/types.js').CallStyle} calls of the storage
 * @returns {BoundWorkload}
 */
export function poolWorkload(bounds, calls) {
  const [first] = bounds;
  if (bounds.length === 1) return first;
  const lanes = bounds.map(({ op }) => {
    const lane = { op, free: () => void idle.push(lane) };
    return lane;
  });
  const idle = lanes.slice();
  let turn = 0;
  const next = () => idle.pop() ?? lanes[(turn = (turn + 1) % lanes.length)];
  const byCallback = (first.calls ?? calls) === 'callback';
  return {
    ...first,
    op(index, done) {
      const { op, free } = next();
      if (byCallback) {
        return op(index, (error, reply) => {
          free();
          done?.(error, reply);
        });
      }
      const reply = op(index);
      // Before the caller resumes: it is idle when the next operation is issued.
      reply.then(free, free);
      return reply;
    },
  };
}
