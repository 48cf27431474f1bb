/**
 * The burst: issues every operation in one tick, then waits for the last reply, as the original
 * async_test.js did. There is no refill; latency counts from the issue of each operation.
 */

/** @typedef {import('./load.js').Load} Load */

const PROGRESS_EVERY_NS = 1e9;

/**
 * @param {Load} load load with a finite limit
 * @param {import('./load.js').LoadWatch} watch onProgress: while operations are issued the event
 *   loop is blocked, so this is the only heartbeat; onIssued: called before any reply from a driver
 *   that does I/O
 */
export function startBurst(load, { onProgress, onIssued }) {
  const issue = { promise: issuePromise, callback: issueCallback, sync: issueSync }[load.calls];
  let progressNs = load.countedNs + PROGRESS_EVERY_NS;
  for (let index = 0; index < load.limit; index += 1) {
    const nowNs = load.now();
    if (nowNs >= progressNs) {
      progressNs = nowNs + PROGRESS_EVERY_NS;
      onProgress?.(load.settledCount, load.recorder);
    }
    load.accountInFlight(nowNs);
    load.next = index + 1;
    issue(load, index, nowNs);
  }
  onIssued?.();
  finishIfSettled(load);
}

/** @param {Load} load */
function finishIfSettled(load) {
  if (load.settledCount >= load.limit && load.next >= load.limit) load.finish();
}

/**
 * @param {Load} load
 * @param {number} index
 * @param {number} startNs
 */
function issuePromise(load, index, startNs) {
  try {
    load.op(index).then(
      (/** @type {any} */ reply) => {
        load.settle(index, startNs, reply);
        finishIfSettled(load);
      },
      (/** @type {any} */ error) => {
        load.fail(index, error);
        finishIfSettled(load);
      },
    );
  } catch (error) {
    load.fail(index, error);
  }
}

/**
 * @param {Load} load
 * @param {number} index
 * @param {number} startNs
 */
function issueCallback(load, index, startNs) {
  let pending = true;
  const done = (/** @type {any} */ error, /** @type {any} */ reply) => {
    if (!pending) return;
    pending = false;
    if (error) load.fail(index, error);
    else load.settle(index, startNs, reply);
    finishIfSettled(load);
  };
  try {
    load.op(index, done);
  } catch (error) {
    done(error, undefined);
  }
}

/**
 * @param {Load} load
 * @param {number} index
 * @param {number} startNs
 */
function issueSync(load, index, startNs) {
  try {
    load.settle(index, startNs, load.op(index));
  } catch (error) {
    load.fail(index, error);
  }
}
