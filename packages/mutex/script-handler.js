/**
 * The handler `script`: one EVALSHA to lock and one to unlock; the server expires locks. A key
 * holds `SERIAL:OWNER`; the serial identifies one call of lock, so a command that a driver sends
 * twice recognises its own lock, and a late unlock does not remove another owner's lock.
 */

import { createHash } from 'node:crypto';

/**
 * @typedef {{ state: 'acquired' } | { state: 'deadlock', name: string }
 *   | { state: 'blocked', name: string, waitMs: number }} Attempt blocked: by a name; waitMs:
 *   time until all held names have expired; Infinity: never
 *
 * @typedef {object} Claim a requested lock
 * @property {readonly string[]} names
 * @property {readonly string[]} keys keys of the names
 * @property {string} owner
 * @property {string} serial
 * @property {number} expireMs
 *
 * @typedef {object} Handler
 * @property {boolean} pipelines whether an attempt sent directly after a release finds the names
 *   free
 * @property {(claim: Claim) => Promise<Attempt>} attempt
 * @property {(claim: Claim, message: string) => Promise<{ all: boolean, receivers: number }>}
 *   release all: every name was still held; receivers: number of receivers of the message
 * @property {(claim: Claim, expireMs: number) => Promise<boolean>} refresh all names or none
 * @property {(claim: Claim) => Promise<boolean>} owned whether this owner holds all names
 * @property {() => void} close
 */

const LOCK = script(`
local blocked, wait = 0, 0
for i, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  if value and value ~= ARGV[1] then
    local colon = string.find(value, ':', 1, true)
    if colon and string.sub(value, colon + 1) == ARGV[2] then return {i, 0, 1} end
    local left = redis.call('PTTL', key)
    if blocked == 0 or left < 0 or (wait >= 0 and left > wait) then blocked, wait = i, left end
  end
end
if blocked > 0 then return {blocked, wait, 0} end
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'PX', ARGV[3]) end
return 0`);

const UNLOCK = script(`
local count = 0
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then count = count + redis.call('DEL', key) end
end
if count == 0 then return {0, 0} end
return {count, redis.call('PUBLISH', ARGV[2], ARGV[3])}`);

const REFRESH = script(`
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) ~= ARGV[1] then return 0 end
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[2]) end
return 1`);

/** @param {string} source */
function script(source) {
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/**
 * @param {import('./client-adapter.js').ClientAdapter} adapter
 * @param {{ channel: string }} options
 * @returns {Handler}
 */
export function createScriptHandler(adapter, { channel }) {
  /**
   * @param {{ source: string, sha: string }} lua
   * @param {readonly string[]} keys
   * @param {string[]} values
   */
  const evaluate = async ({ source, sha }, keys, ...values) => {
    const rest = [String(keys.length), ...keys, ...values];
    try {
      return await adapter.command(['EVALSHA', sha, ...rest]);
    } catch (error) {
      // Not sent before, flushed, or the server was restarted; EVAL caches it again.
      if (!String(error.message).startsWith('NOSCRIPT')) throw error;
      return adapter.command(['EVAL', source, ...rest]);
    }
  };
  return {
    pipelines: true,
    async attempt({ names, keys, owner, serial, expireMs }) {
      const value = `${serial}:${owner}`;
      const reply = await evaluate(LOCK, keys, value, owner, String(expireMs));
      if (reply === 0) return { state: 'acquired' };
      const [at, leftMs, deadlock] = reply;
      const name = names[at - 1];
      if (deadlock) return { state: 'deadlock', name };
      return { state: 'blocked', name, waitMs: leftMs < 0 ? Number.POSITIVE_INFINITY : leftMs };
    },
    async release({ keys, owner, serial }, message) {
      const value = `${serial}:${owner}`;
      const [count, receivers] = await evaluate(UNLOCK, keys, value, channel, message);
      return { all: count === keys.length, receivers };
    },
    async refresh({ keys, owner, serial }, expireMs) {
      return (await evaluate(REFRESH, keys, `${serial}:${owner}`, String(expireMs))) === 1;
    },
    async owned({ keys, owner, serial }) {
      /** @type {(string | null)[]} */
      const values = await adapter.command(['MGET', ...keys]);
      return values.every((value) => value === `${serial}:${owner}`);
    },
    close() {},
  };
}
