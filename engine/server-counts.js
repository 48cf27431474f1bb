/**
 * Operations that servers executed, by their own count: read before and after segments, by the
 * parent and outside of the measured time. Detects a storage that replies without its server, and
 * an unnoticed restart of a server.
 *
 * Goals: bounded share of the run's time, no work in the measured processes. Non-goals: decoy
 * commands sent by a storage; servers used by other clients, which show in pauses and, after an
 * excess, in connections older than those of the run.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { openCounter } from '../data/counts/index.js';
import { readCredentials } from '../lib/credentials.js';
import { ERROR, MISMATCH, MISS, OK, TIMEOUT } from '../lib/outcome.js';
import { hideSecrets } from '../lib/secrets.js';
import { systemClock } from '../measure/clock.js';
import { loadWorkload } from '../workloads/index.js';

/** Share of the run's time for brief segments; one per load and process is counted in any case. */
const SHARE_MAX = 0.004;
/** A pause without load, if there has been none, to detect other clients. */
const LOOK_MS = 5;
const LOOK_EVERY_NS = 4e9;
/** Time limit for a reading. */
const TIMEOUT_MS = 3000;
/** Retry interval for a server that could be read before. */
const RETRY_NS = 4e9;
/** Reason why nothing is counted; earlier figures include other clients, too. */
const OTHERS = 'other clients use it';

/** @type {import('./segment.js').Counters} */
const NONE = Object.freeze({
  replies: 0,
  due: 0,
  operations: 0,
  lookups: null,
  errors: null,
  lost: 0,
  restarts: 0,
});

/** @typedef {import('./segment.js').Segment} Segment */
/** @typedef {import('./seat.js').SeatSpec} SeatSpec */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */
/** @typedef {import('../data/counts/index.js').Counter} Counter */
/** @typedef {import('../data/counts/index.js').ServerCount} ServerCount */

/**
 * @typedef {object} Asked state of a server
 * @property {ServerTarget} target
 * @property {Counter | null} counter
 * @property {string | null} reason reason why nothing is counted on it
 * @property {boolean} wasRead a reading has succeeded
 * @property {string | null} gone reason why the last reading failed, after earlier ones succeeded
 * @property {number} goneNs time of that failure
 * @property {ServerCount | null} idle its count at the end of the last segment; null: used since
 * @property {number} lookedNs time of the last pause
 * @property {Promise<Counter | null> | null} eldest connected before the contenders; null: not yet
 */

export class ServerCounts {
  /** @type {Map<string, Asked>} */
  #servers = new Map();
  /** Contenders, rounds and loads with a counted segment. @type {Set<string>} */
  #seen = new Set();
  /** Identity of the server at a contender's last count. @type {WeakMap<SeatSpec, string>} */
  #identities = new WeakMap();
  /** Segments not yet followed by a reading. @type {WeakMap<SeatSpec, Segment[]>} */
  #unread = new WeakMap();
  #startNs = systemClock.now();
  #spentNs = 0;

  /**
   * @param {readonly ServerTarget[]} servers servers of the run
   * @param {AbortSignal} [signal] ends pending readings
   */
  constructor(servers, signal) {
    this.signal = signal;
    for (const target of servers) {
      this.#servers.set(target.name, {
        target,
        counter: null,
        reason: null,
        wasRead: false,
        gone: null,
        goneNs: 0,
        idle: null,
        lookedNs: Number.NEGATIVE_INFINITY,
        eldest: null,
      });
    }
  }

  /** @returns {number} share of the time since its creation spent on reading counts */
  get share() {
    return this.#spentNs / (systemClock.now() - this.#startNs);
  }

  /**
   * Closes the connections.
   * @param {import('../lib/result.js').Result} result receives the time spent and a warning
   *   for each server without a count, and loses counts that include other clients
   */
  end(result) {
    const { benchmarks, storages, warnings } = result;
    const counting = { spentNs: Math.round(this.#spentNs), share: this.share };
    if (this.#spentNs > 0) result.counting = counting;
    for (const { target, counter, ...asked } of this.#servers.values()) {
      counter?.close();
      const reason = asked.reason ?? asked.gone;
      if (reason === null) continue;
      warnings.push(notCounted(target.name, reason));
      if (reason !== OTHERS) continue;
      const own = storages.filter(({ server }) => server === target.name).map(({ name }) => name);
      const mixed = benchmarks.filter(({ storage }) => own.includes(storage));
      for (const round of mixed.flatMap(({ rounds }) => rounds)) delete round.counted;
    }
  }

  /**
   * @param {SeatSpec} about a contender that uses its server from now on
   * @returns {ServerCount | null} count of the server, if nothing in the run has used it since
   */
  use({ server = null }) {
    const asked = server === null ? undefined : this.#servers.get(server);
    const idle = asked?.idle ?? null;
    if (asked !== undefined) asked.idle = null;
    return idle;
  }

  /**
   * Await it before a contender opens: connections older than the counter's belong to other
   * clients. The next reading reports a failure. Its time is not counted as spent, because drivers
   * load meanwhile.
   * @param {SeatSpec} about
   */
  async open(about) {
    this.use(about);
    const asked = this.#servers.get(about.server ?? '');
    if (asked === undefined || asked.counter !== null) return;
    asked.eldest ??= this.#open(asked).catch(() => null);
    asked.counter ??= await asked.eldest;
  }

  /**
   * @param {SeatSpec} about
   * @param {number} load
   * @param {import('./contender.js').Amount} amount
   * @returns {Promise<((segment: Segment) => unknown) | null>} function to call after the segment
   *   and await; it stores the count in the segment; null: not counted
   */
  async begin(about, load, { brief: isBrief = false }) {
    const { name, spec } = about;
    const idle = this.use(about);
    const asked = this.#askedOf(about);
    const task = spec.tasks[load];
    if (asked === null || task === null || !isReadable(asked)) return null;
    const key = `${name}\n${spec.storage.round}\n${task.id}`;
    const isEnough = isBrief && this.#seen.has(key) && this.share > SHARE_MAX;
    if (isEnough || asked.reason === OTHERS) return (segment) => this.#keep(about, segment);
    const before = await this.#timed(() => this.#readAlone(asked, idle, isBrief));
    if (before === null && asked.gone === null) return null;
    this.#seen.add(key);
    const { serverOperations = 0 } = await loadWorkload(task.workload);
    const beganNs = systemClock.now();
    return async (segment) => {
      if (!this.#keep(about, segment)) return;
      const after = before && (await this.#timed(() => this.#read(asked)));
      asked.idle = after;
      if (this.#isLost(about, after, before) || before === null || after === null) return;
      const counted = countedOf(segment, before, after, serverOperations);
      segment.counters['counted'] = counted;
      const { due, operations, errors } = counted;
      const isTooMuch = Number(due) > 0 && Number(operations) > Number(due);
      if (!isTooMuch && !(Number(errors) > 0)) return;
      await this.#timed(() => this.#lookAfter(asked, after, systemClock.now() - beganNs));
    };
  }

  /**
   * Checks that the server is still there, and the same. Call it before a contender closes, whose
   * last segments may not have been counted.
   * @param {SeatSpec} about
   */
  async finish(about) {
    const asked = this.#askedOf(about);
    if (asked === null || !this.#unread.has(about)) return;
    const now = await this.#timed(() => this.#read(asked));
    if (now !== null || asked.gone !== null) this.#isLost(about, now);
  }

  /**
   * @param {SeatSpec} about
   * @param {Segment} segment
   * @returns {boolean} false: a failure was reported, so the server is probed anyway, without
   *   waiting for one that is not running
   */
  #keep(about, segment) {
    const { outcomes, state } = segment;
    if (state === 'aborted' || outcomes[ERROR] + outcomes[TIMEOUT] > 0) return false;
    const segments = this.#unread.get(about) ?? [];
    segments.push(segment);
    this.#unread.set(about, segments);
    return true;
  }

  /**
   * @param {SeatSpec} about a contender whose segments since the last reading are marked as lost
   * @param {ServerCount | null} now null: the server no longer responds
   * @param {ServerCount | null} [before] count before the last segment
   */
  #isLost(about, now, before = null) {
    const segments = this.#unread.get(about) ?? [];
    this.#unread.delete(about);
    const identity = this.#identities.get(about) ?? before?.identity ?? now?.identity;
    if (now !== null && now.identity === identity) {
      this.#identities.set(about, identity);
      return false;
    }
    const loss = now === null ? { lost: 1, restarts: 0 } : { lost: 0, restarts: 1 };
    for (const { counters } of segments) counters['counted'] = { ...NONE, ...loss };
    return true;
  }

  /** @param {SeatSpec} about @returns {Asked | null} null: its operations are not counted */
  #askedOf({ server = null, spec: { opener, isCopy } }) {
    if (server === null || opener !== 'storage' || isCopy) return null;
    return this.#servers.get(server) ?? null;
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   */
  async #timed(work) {
    const fromNs = systemClock.now();
    try {
      return await work();
    } finally {
      this.#spentNs += systemClock.now() - fromNs;
    }
  }

  /**
   * @param {Asked} asked
   * @param {ServerCount | null} idle
   * @param {boolean} isBrief
   * @returns {Promise<ServerCount | null>} null: its operations include those of other clients
   */
  async #readAlone(asked, idle, isBrief) {
    let now = await this.#read(asked);
    let isQuiet = sameOperations(idle, now);
    const isDue = idle === null && systemClock.now() - asked.lookedNs > LOOK_EVERY_NS;
    // Twice, since a driver may send something by itself once.
    for (let looks = isQuiet && (isBrief || !isDue) ? 2 : 0; looks < 2; looks += isQuiet ? 2 : 1) {
      const before = now;
      await sleep(LOOK_MS);
      now = await this.#read(asked);
      isQuiet = sameOperations(before, now);
      asked.lookedNs = systemClock.now();
    }
    if (!isQuiet) asked.reason ??= OTHERS;
    if (now?.operations === null) asked.reason ??= 'it reports no count';
    return asked.reason === null ? now : null;
  }

  /**
   * Checks whether the excess operations belong to other clients.
   * @param {Asked} asked
   * @param {ServerCount} after count after the segment
   * @param {number} spentNs time since the segment began
   */
  async #lookAfter(asked, after, spentNs) {
    const { counter } = asked;
    const isEldest = counter !== null && counter === (await asked.eldest);
    // Its user may have no right to list connections.
    const isUsed = isEldest && (await counter.others?.(spentNs / 1e6).catch(() => false));
    if (isUsed) asked.reason ??= OTHERS;
    await sleep(LOOK_MS);
    const now = await this.#read(asked);
    if (!sameOperations(after, now)) asked.reason ??= OTHERS;
  }

  /**
   * @param {Asked} asked
   * @returns {Promise<ServerCount | null>} null: it does not respond
   */
  async #read(asked) {
    if (asked.gone !== null && systemClock.now() - asked.goneNs < RETRY_NS) return null;
    // Retries with a new connection, since the server may have been restarted.
    for (let attempt = 0; attempt < 2 && isReadable(asked); attempt += 1) {
      try {
        asked.counter ??= await this.#open(asked);
        if (asked.counter === null) return null;
        const count = await asked.counter.read();
        asked.wasRead = true;
        asked.gone = null;
        return count;
      } catch (error) {
        asked.counter?.close();
        asked.counter = null;
        if (this.signal?.aborted) return null;
        if (attempt > 0 || error.code !== 'E_TARGET') return this.#giveUp(asked, error);
      }
    }
    return null;
  }

  /** @param {Asked} asked @param {Error} error @returns {Promise<null>} */
  async #giveUp(asked, error) {
    // They may be what cannot be read.
    const known = await readCredentials(asked.target.credentialVariables).catch(() => ({}));
    const message = hideSecrets(error.message, known);
    if (asked.wasRead) Object.assign(asked, { gone: message, goneNs: systemClock.now() });
    else asked.reason = message;
    return null;
  }

  /** @param {Asked} asked */
  async #open(asked) {
    const { name, address, listed, credentialVariables } = asked.target;
    const credentials = await readCredentials(credentialVariables);
    const context = { address, credentials, signal: this.signal, timeoutMs: TIMEOUT_MS };
    const counter = await openCounter(listed?.kind ?? name, context);
    if (counter === null) asked.reason = 'its operations cannot be counted';
    return counter;
  }
}

/**
 * @param {string} server
 * @param {string} reason
 * @returns {import('../lib/result.js').Warning}
 */
export function notCounted(server, reason) {
  const message = `${server}: the executed operations were not counted: ${reason}`;
  return { code: 'W_NOT_COUNTED', message, hint: null, benchmark: null };
}

/**
 * @param {Asked} asked
 * @returns {boolean} the server can be probed, even if it has other clients
 */
function isReadable({ reason }) {
  return reason === null || reason === OTHERS;
}

/**
 * @param {ServerCount | null} before
 * @param {ServerCount | null} now null: unknown
 */
function sameOperations(before, now) {
  if (before === null || now === null || before.identity !== now.identity) return true;
  return before.operations === now.operations;
}

/**
 * @param {Segment} segment
 * @param {ServerCount} before
 * @param {ServerCount} after
 * @param {number} least minimum operations of the server per operation of the workload
 * @returns {import('./segment.js').Counters}
 */
function countedOf({ outcomes }, before, after, least) {
  const since = (/** @type {'operations' | 'lookups' | 'errors'} */ field) => {
    const [from, to] = [before[field] ?? null, after[field] ?? null];
    return from === null || to === null ? null : to - from;
  };
  const replies = outcomes[OK] + outcomes[MISS] + outcomes[MISMATCH];
  return {
    ...NONE,
    replies,
    due: replies * least,
    operations: since('operations') ?? 0,
    lookups: since('lookups'),
    errors: since('errors'),
  };
}
