/**
 * Several connections: opens the storage once per connection of --connections, each with its share
 * of the requests in flight, or (--pool) once per request in flight, each with one at a time, like
 * clients with a connection pool. Not for blocking drivers, which never have more than one in
 * flight.
 */

/** @typedef {import('../lib/types.js').Handle} Handle */
/** @typedef {import('../lib/types.js').BoundWorkload} BoundWorkload */

/**
 * @param {import('./opening.js').BenchmarkSpec} spec
 * @param {import('../lib/types.js').CallStyle} calls
 * @returns {number} number of handles to open
 */
export function poolSize({ workloadOptions, load }, calls) {
  if (calls === 'sync') return 1;
  return load.connections ?? (workloadOptions['pool'] === true ? (load.inFlight ?? 1) : 1);
}

/**
 * @param {number} size
 * @param {() => Promise<Handle>} open
 * @returns {Promise<Handle[]>} handles; closing the first one closes all of them
 * @throws the error of the handle that did not open, after the others are closed
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
 * Assigns an operation to an idle handle; without one (the warm-up has more in flight) handles take
 * turns.
 * @param {readonly BoundWorkload[]} bounds the same workload on each handle
 * @param {import('../lib/types.js').CallStyle} calls calls of the storage
 * @returns {BoundWorkload}
 */
export function poolWorkload(bounds, calls) {
  const [first] = bounds;
  if (bounds.length === 1) return first;
  const workers = bounds.map(({ op }) => {
    const worker = { op, free: () => void idle.push(worker) };
    return worker;
  });
  const idle = workers.slice();
  let turn = 0;
  const next = () => idle.pop() ?? workers[(turn = (turn + 1) % workers.length)];
  const byCallback = (first.calls ?? calls) === 'callback';
  return {
    ...first,
    op(index, done) {
      const { op, free } = next();
      if (byCallback) {
        let pending = true;
        return op(index, (error, reply) => {
          // Prevents a driver that calls back twice from marking its handle as idle twice.
          if (pending) free();
          pending = false;
          done?.(error, reply);
        });
      }
      const reply = op(index);
      // Runs before the caller resumes, so that the handle is idle when the next operation is
      // issued.
      reply.then(free, free);
      return reply;
    },
  };
}
