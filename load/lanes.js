/**
 * The closed loops: K lanes, each with one operation in flight, refilled on completion. One lane is
 * the `sync` load, more are a `window`. The three call styles differ only in how a reply comes
 * back.
 *
 * A promise lane awaits the driver's own promise: awaiting a native promise adds no promise to it,
 * then() would add one for each operation.
 */

/** @typedef {import('./load.js').Load} Load */

/**
 * Starts all lanes; load.finish() is called when the last one has ended.
 * @param {Load} load
 */
export function startLanes(load) {
  if (load.calls === 'sync') {
    // A call that blocks is never more than one in flight, whatever the window.
    syncLane(load).then(load.finish);
    return;
  }
  const lanes = Math.min(load.inFlight, load.limit);
  if (load.calls === 'callback') {
    startCallbackLanes(load, lanes);
    return;
  }
  const ends = [];
  for (let i = 0; i < lanes; i += 1) ends.push(promiseLane(load));
  Promise.all(ends).then(load.finish);
}

/** @param {Load} load */
async function promiseLane(load) {
  const { op } = load;
  let startNs = enter(load);
  while (load.next < load.limit) {
    const index = load.next;
    load.next = index + 1;
    try {
      const reply = await op(index);
      startNs = load.hold(index, startNs, reply);
    } catch (error) {
      startNs = load.fail(index, error);
    }
    if (load.breathe) startNs = await breathe(load);
  }
}

/** @param {Load} load */
async function syncLane(load) {
  const { op } = load;
  let startNs = enter(load);
  while (load.next < load.limit) {
    const index = load.next;
    load.next = index + 1;
    try {
      startNs = load.settle(index, startNs, op(index));
    } catch (error) {
      startNs = load.fail(index, error);
    }
    if (load.breathe) startNs = await breathe(load);
  }
}

/**
 * One turn of the event loop, so that a load without I/O cannot keep out timers, messages and the
 * abort signal.
 * @param {Load} load
 * @returns {Promise<number>} the clock afterwards
 */
async function breathe(load) {
  load.breathe = false;
  await new Promise((resolve) => setImmediate(resolve));
  return enter(load);
}

/**
 * A lane begins, or goes on after a pause in which it had nothing in flight.
 * @param {Load} load
 * @returns {number} the clock
 */
function enter(load) {
  const nowNs = load.now();
  load.enter(nowNs);
  return nowNs;
}

/**
 * @param {Load} load
 * @param {number} lanes
 */
function startCallbackLanes(load, lanes) {
  let open = lanes;
  const onEnd = () => {
    open -= 1;
    if (open === 0) load.finish();
  };
  for (let i = 0; i < lanes; i += 1) new CallbackLane(load, onEnd).issue();
}

class CallbackLane {
  /**
   * @param {Load} load
   * @param {() => void} onEnd
   */
  constructor(load, onEnd) {
    this.load = load;
    this.onEnd = onEnd;
    this.index = 0;
    this.startNs = enter(load);
    /** A reply inside of op() must not recurse: a burst of refusals would overflow the stack. */
    this.inCall = false;
    this.pending = false;
    /** @type {(error: any, reply?: any) => void} */
    this.done = (error, reply) => this.settle(error, reply);
  }

  issue() {
    const { load } = this;
    while (load.next < load.limit) {
      this.index = load.next;
      load.next = this.index + 1;
      this.pending = true;
      this.inCall = true;
      try {
        load.op(this.index, this.done);
      } catch (error) {
        this.settle(error, undefined);
      }
      this.inCall = false;
      if (this.pending) return;
    }
    this.onEnd();
  }

  /**
   * @param {any} error
   * @param {any} reply
   */
  settle(error, reply) {
    // A driver that calls back twice must not count twice.
    if (!this.pending) return;
    this.pending = false;
    const { load } = this;
    this.startNs = error
      ? load.fail(this.index, error)
      : load.hold(this.index, this.startNs, reply);
    if (!this.inCall) this.issue();
  }
}
