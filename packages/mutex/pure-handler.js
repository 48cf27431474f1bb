/**
 * The handler `pure`: no script. SETNX or MSETNX locks with a value of owner and expiry, WATCH
 * breaks an expired lock, and an unlock takes three round trips: WATCH, MGET, MULTI … EXEC. A key
 * holds `SERIAL:UNTIL:OWNER`, UNTIL in ms of the server's clock: the clocks of clients do not
 * matter, but setting the server's clock moves every expiry.
 */

import { MutexError } from './mutex-error.js';
import { Transactions } from './transactions.js';

/** @typedef {import('./script-handler.js').Handler} Handler */
/** @typedef {import('./script-handler.js').Attempt} Attempt */
/** @typedef {import('./script-handler.js').Claim} Claim */
/** @typedef {{ serial: string, until: number, owner: string } | null} Held */

/** The offset between the two clocks is measured again after this long. */
const SYNC_NS = 60e9;

/**
 * @param {string | null} value
 * @returns {Held} null: not locked
 */
export function parseHeld(value) {
  if (value === null || value === undefined) return null;
  const [, serial = value, until, owner = ''] = /^([^:]*):(\d+):(.*)$/s.exec(value) ?? [];
  return { serial, until: until === undefined ? Number.POSITIVE_INFINITY : Number(until), owner };
}

/**
 * @param {import('./client-adapter.js').ClientAdapter} adapter
 * @param {{ channel: string, clock: { now(): number } }} options clock: ns, monotonic
 * @returns {Promise<Handler>}
 * @throws {MutexError} MUTEX_ARGUMENT for a cluster client
 */
export async function createPureHandler(adapter, { channel, clock }) {
  const transactions = new Transactions(requireDedicate(adapter));
  const time = await createServerTime(adapter, clock);
  const heldValue = (/** @type {Claim} */ { serial, owner }, /** @type {number} */ ms) =>
    `${serial}:${Math.ceil(time.nowMs() + ms)}:${owner}`;
  const isOurs = (/** @type {Claim} */ claim) => (/** @type {Held} */ held) =>
    held?.serial === claim.serial && held.owner === claim.owner;
  const isAlive = (/** @type {Held} */ held) => held !== null && held.until > time.nowMs();
  const read = async (
    /** @type {import('./client-adapter.js').ClientAdapter['command']} */ command,
    /** @type {readonly string[]} */ keys,
  ) => /** @type {(string | null)[]} */ (await command(['MGET', ...keys])).map(parseHeld);

  const isWhole = (/** @type {Claim} */ claim, /** @type {Held[]} */ held) =>
    held.every((one) => isOurs(claim)(one) && isAlive(one));
  /** @param {Claim} claim @param {number} ms */
  const pairsOf = (claim, ms) => {
    const value = heldValue(claim, ms);
    return claim.keys.flatMap((key) => [key, value]);
  };

  /**
   * Changes held names, and retries once if another client changed them meanwhile.
   * @param {Claim} claim
   * @param {(held: Held[]) => string[][] | null} decide returns the commands; null: none
   * @returns {Promise<any[] | null>} the replies
   */
  const change = (claim, decide) =>
    transactions.run(async (command) => {
      for (;;) {
        await command(['WATCH', ...claim.keys]);
        const commands = decide(await read(command, claim.keys));
        if (commands === null) {
          await command(['UNWATCH']);
          return null;
        }
        const replies = await execute(command, commands);
        if (replies) return replies;
      }
    });

  /**
   * Locks names that are free or have an expired value.
   * @param {Claim} claim
   */
  const breakExpired = (claim) =>
    change(claim, (held) =>
      held.some((one) => isAlive(one) && !isOurs(claim)(one))
        ? null
        : [['MSET', ...pairsOf(claim, claim.expireMs)]],
    );

  return {
    pipelines: false,
    async attempt(claim) {
      for (;;) {
        const pairs = pairsOf(claim, claim.expireMs);
        const [word, ...rest] =
          claim.keys.length === 1 ? ['SETNX', ...pairs] : ['MSETNX', ...pairs];
        if ((await adapter.command([word, ...rest])) === 1) return { state: 'acquired' };
        const held = await read(adapter.command, claim.keys);
        const outcome = outcomeOf(claim, held, time.nowMs());
        if (outcome !== null) return outcome;
        if (held.some((one) => one !== null) && (await breakExpired(claim))) {
          return { state: 'acquired' };
        }
      }
    },
    async release(claim, message) {
      let all = false;
      const replies = await change(claim, (held) => {
        const ours = claim.keys.filter((_key, i) => isOurs(claim)(held[i]));
        all = isWhole(claim, held);
        return ours.length === 0
          ? null
          : [
              ['DEL', ...ours],
              ['PUBLISH', channel, message],
            ];
      });
      return replies === null ? { all: false, receivers: 0 } : { all, receivers: replies[1] };
    },
    async refresh(claim, expireMs) {
      const replies = await change(claim, (held) =>
        isWhole(claim, held) ? [['MSET', ...pairsOf(claim, expireMs)]] : null,
      );
      return replies !== null;
    },
    async owned(claim) {
      return isWhole(claim, await read(adapter.command, claim.keys));
    },
    close: () => transactions.close(),
  };
}

/** @param {import('./client-adapter.js').ClientAdapter} adapter */
function requireDedicate({ dedicate }) {
  if (dedicate !== null) return dedicate;
  throw new MutexError(
    'MUTEX_ARGUMENT',
    'handler pure: a cluster client has no connection for WATCH … EXEC; use the handler script',
  );
}

/**
 * @param {Claim} claim
 * @param {Held[]} held
 * @param {number} nowMs
 * @returns {Attempt | null} null: all names are free or expired
 */
function outcomeOf({ names, serial, owner }, held, nowMs) {
  if (held.every((one) => one?.serial === serial)) return { state: 'acquired' }; // sent twice
  const alive = held.map((one) => one !== null && one.until > nowMs && one.serial !== serial);
  const own = held.findIndex((one, i) => alive[i] && one?.owner === owner);
  if (own >= 0) return { state: 'deadlock', name: names[own] };
  let last = -1;
  for (let i = 0; i < held.length; i += 1) {
    if (alive[i] && (last < 0 || until(held[i]) > until(held[last]))) last = i;
  }
  if (last < 0) return null;
  return { state: 'blocked', name: names[last], waitMs: until(held[last]) - nowMs };
}

/** @param {Held} held */
function until(held) {
  return held === null ? 0 : held.until;
}

/**
 * One write, one round trip; the replies come in order.
 * @param {import('./client-adapter.js').ClientAdapter['command']} command
 * @param {string[][]} commands
 * @returns {Promise<any[] | null>} null: a watched key has changed
 */
async function execute(command, commands) {
  const sent = [['MULTI'], ...commands, ['EXEC']].map((words) => command(words));
  const replies = await Promise.all(sent);
  return replies[replies.length - 1];
}

/**
 * The server's time of day from the local monotonic clock: requested once per minute, accurate to
 * half a round trip.
 * @param {import('./client-adapter.js').ClientAdapter} adapter
 * @param {{ now(): number }} clock
 */
async function createServerTime(adapter, clock) {
  let offsetMs = 0;
  let syncedNs = 0;
  const sync = async () => {
    const before = clock.now();
    syncedNs = before;
    const [seconds, micros] = await adapter.command(['TIME']);
    const ours = (before + clock.now()) / 2e6;
    offsetMs = Number(seconds) * 1000 + Number(micros) / 1000 - ours;
  };
  await sync();
  return {
    nowMs() {
      const nowNs = clock.now();
      if (nowNs - syncedNs > SYNC_NS) sync().catch(() => {}); // the old offset is used meanwhile
      return nowNs / 1e6 + offsetMs;
    },
  };
}
