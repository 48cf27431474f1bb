/** Detects replies that did not come from the server, from the counts of a segment. Pure. */

import { OK } from '../lib/outcome.js';

/** Tolerated share of replies without an operation of the server. */
const UNSERVED_MAX = 0.005;
/**
 * Maximum reads of a socket per turn of the event loop, with a margin: `count` of uv__read in
 * libuv, which reads again only if the buffer of 64 KiB provided by Node was filled.
 */
const READS_MAX = 40;
const READS_MAX_SMALL = 2;
const SMALL_BYTES = 32_768;

/** @typedef {import('./segment.js').Segment} Segment */
/** @typedef {import('./segment.js').Failure} Failure */

/**
 * @param {Pick<Segment, 'counters'>} segment
 * @returns {Failure | null} null: the server executed as many operations as there were replies, or
 *   it was not counted
 */
export function unservedOf({ counters }) {
  const { due = 0, operations = 0, lookups = 0, replies = 0 } = counters['counted'] ?? {};
  // A driver may read the keys of several operations with one command.
  const executed = Math.max(Number(operations), Number(lookups));
  const unserved = 1 - executed / Math.max(1, Number(due));
  if (Number(due) === 0 || unserved <= UNSERVED_MAX) return null;
  const share = `${Number((unserved * 100).toPrecision(2))} %`;
  const message =
    `answered without the server: ${share} (it executed ${executed} operations, and ` +
    `${replies} replies were received)`;
  return { code: 'E_UNSERVED', message };
}

/**
 * A reply of a server requires a read from its socket, and in a closed loop each request in flight
 * has at most one reply in a read.
 * @param {Pick<Segment, 'outcomes' | 'client'>} segment
 * @param {Pick<import('../lib/result.js').Load, 'kind' | 'inFlight'>} load load of this process
 * @returns {Failure | null} null: enough reads were possible, or turns are not counted
 */
export function unwaitedOf({ outcomes, client }, { kind, inFlight }) {
  const turns = client?.['loopTurns'] ?? Number.NaN;
  const replies = outcomes[OK];
  const isClosed = kind === 'sync' || kind === 'window';
  const bytes = (Number(client?.['replyBytes'] ?? Number.NaN) / replies) * (inFlight ?? 1);
  const reads = bytes > 0 && bytes <= SMALL_BYTES ? READS_MAX_SMALL : READS_MAX;
  if (!isClosed || !(replies > reads * (turns + 1) * (inFlight ?? 1))) return null;
  const message = `${replies} replies in ${turns} turns of the event loop: more than it can have read`;
  return { code: 'E_UNSERVED', message };
}
