/**
 * Preloaded into the processes of agents (NODE_OPTIONS=--import): in the second copy of the first
 * contender (A/A) each fifth operation asks the server twice, so that it is slower by a known
 * amount. No storage file has to be on the agents, which would refuse one.
 */

import { TimedSliceSeries } from '../../load/timed-slice.js';

const EVERY = 5;
let isCopy = false;

const listen = process.on.bind(process);
process.on = /** @type {any} */ (
  (/** @type {any} */ name, /** @type {(message: any) => void} */ listener) => {
    if (name !== 'message') return listen(name, listener);
    return listen('message', (/** @type {any} */ message) => {
      if (message?.type === 'open') isCopy = message.spec.isCopy === true;
      listener(message);
    });
  }
);

/** @type {WeakSet<TimedSliceSeries>} */
const planted = new WeakSet();
const { runBetween } = TimedSliceSeries.prototype;
TimedSliceSeries.prototype.runBetween = function run(times, watch) {
  if (isCopy && !planted.has(this)) {
    planted.add(this);
    const { op } = this;
    let calls = 0;
    this.op = (index, done) => {
      calls += 1;
      return calls % EVERY === 0 ? op(index, done).then(() => op(index, done)) : op(index, done);
    };
  }
  return runBetween.call(this, times, watch);
};
