/**
 * Closed loops: K workers, each with one operation in flight, which issue the next one on
 * completion. One worker is the load `sync`, several are a `window`. The three call styles differ
 * only in how a reply is delivered.
 *
 * A promise worker awaits the driver's own promise: awaiting a native promise creates no further
 * promise, then() would create one per operation.
 */

/** @typedef {import('./load.js').Load} Load */

/**
 * Starts all workers; the last one to end calls load.finish().
 * @param {Load} load
 */
export function startWorkers(load) {
  if (load.calls === 'sync') {
    // A blocking call never has more than one in flight, whatever the window.
    runSyncWorker(load).then(load.finish);
    return;
  }
  const workers = Math.min(load.inFlight, load.limit);
  if (load.calls === 'callback') {
    startCallbackWorkers(load, workers);
    return;
  }
  const ends = [];
  for (let i = 0; i < workers; i += 1) ends.push(runPromiseWorker(load));
  load.markFull();
  Promise.all(ends).then(load.finish);
}

/** @param {Load} load */
async function runPromiseWorker(load) {
  const { op } = load;
  let startNs = resumeWorker(load);
  while (load.next < load.limit) {
    const index = load.next;
    load.next = index + 1;
    try {
      const reply = await op(index);
      startNs = load.defer(index, startNs, reply);
    } catch (error) {
      startNs = load.fail(index, error);
    }
    if (load.yieldDue) startNs = await yieldToEventLoop(load);
  }
}

/** @param {Load} load */
async function runSyncWorker(load) {
  const { op } = load;
  let startNs = resumeWorker(load);
  while (load.next < load.limit) {
    const index = load.next;
    load.next = index + 1;
    try {
      startNs = load.settle(index, startNs, op(index));
    } catch (error) {
      startNs = load.fail(index, error);
    }
    if (load.yieldDue) startNs = await yieldToEventLoop(load);
  }
}

/**
 * Lets the event loop turn once, so that a load without I/O cannot starve timers, messages and the
 * abort signal.
 * @param {Load} load
 * @returns {Promise<number>} time afterwards
 */
async function yieldToEventLoop(load) {
  load.yieldDue = false;
  await new Promise((resolve) => setImmediate(resolve));
  return resumeWorker(load);
}

/**
 * Starts a worker, or resumes it after a pause with nothing in flight.
 * @param {Load} load
 * @returns {number} the clock
 */
function resumeWorker(load) {
  const nowNs = load.now();
  load.accountInFlight(nowNs);
  return nowNs;
}

/**
 * @param {Load} load
 * @param {number} workers
 */
function startCallbackWorkers(load, workers) {
  let open = workers;
  const onEnd = () => {
    open -= 1;
    if (open === 0) load.finish();
  };
  for (let i = 0; i < workers; i += 1) new CallbackWorker(load, onEnd).issue();
  load.markFull();
}

class CallbackWorker {
  /**
   * @param {Load} load
   * @param {() => void} onEnd
   */
  constructor(load, onEnd) {
    this.load = load;
    this.onEnd = onEnd;
    this.index = 0;
    this.startNs = resumeWorker(load);
    /** A callback from within op() must not recurse: many rejections would overflow the stack. */
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
      : load.defer(this.index, this.startNs, reply);
    if (!this.inCall) this.issue();
  }
}
