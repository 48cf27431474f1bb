/**
 * Servers that were lost during a run: asked once, after one of their benchmarks failed, and
 * remembered. What else needs a lost server fails with the reason at once, where each benchmark
 * would wait for its own time limit. Not for servers that give wrong replies: those answer.
 */

import { readCredentials } from '../lib/credentials.js';
import { hideSecrets } from '../lib/secrets.js';
import { loadServer } from '../servers/registry.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */

/** @typedef {import('./segment.js').Failure} Failure */

/** Of a failure, and of the warning that stands for the exit status. */
export const LOST = 'SERVER_LOST';

/** On a busy machine a server may need longer for an answer than one probe waits. */
const PROBES = 2;

export class LostServers {
  /** @type {Map<ServerTarget, Failure>} */
  #lost = new Map();

  /** @param {Result} result gets a warning per lost server */
  constructor(result) {
    this.result = result;
  }

  /**
   * @param {readonly (ServerTarget | null)[]} servers that a benchmark needs
   * @returns {Failure | null} null: none of them is lost, as far as that is known
   */
  failureOf(servers) {
    for (const server of servers) {
      const failure = server === null ? undefined : this.#lost.get(server);
      if (failure !== undefined) return failure;
    }
    return null;
  }

  /**
   * Asks each of them whether it still answers.
   * @param {readonly (ServerTarget | null)[]} servers
   * @returns {Promise<Failure | null>} as failureOf
   */
  async check(servers) {
    for (const server of servers) {
      if (server === null || this.#lost.has(server)) continue;
      const reason = await silenceOf(server);
      if (reason === null) continue;
      const message = `the server was lost: ${reason}`;
      this.#lost.set(server, { code: LOST, message });
      this.result.warnings.push({
        code: LOST,
        message: `${message}; it was not asked again`,
        hint: 'start it again, look at its log, and run the same command again',
        benchmark: null,
      });
    }
    return this.failureOf(servers);
  }
}

/**
 * @param {ServerTarget} server
 * @returns {Promise<string | null>} why it does not answer; null: it does
 */
async function silenceOf({ name, listed, address, credentialVariables }) {
  const { probe } = await loadServer(listed?.product ?? name);
  const credentials = await readCredentials(credentialVariables);
  let reason = '';
  for (let attempt = 0; attempt < PROBES; attempt += 1) {
    try {
      await probe(address, credentials);
      return null;
    } catch (error) {
      if (error.code !== 'E_TARGET') throw error;
      if (isReply(error.cause)) return null;
      reason = hideSecrets(error.message, credentials);
    }
  }
  return reason;
}

/**
 * @param {any} cause of a probe that failed
 * @returns {boolean} whether the server said it itself: SQL, as where its disk is full
 */
function isReply(cause) {
  return typeof cause?.sqlState === 'string';
}

/**
 * @param {import('../lib/result.js').Round} round
 * @returns {boolean} whether its server may be gone
 */
export function looksLost({ state, outcomes: { error, timeout } }) {
  return state === 'failed' || error + timeout > 0;
}

/**
 * @param {import('../lib/result.js').Benchmark} benchmark
 * @param {Failure} failure
 */
export function failBenchmark(benchmark, { message }) {
  benchmark.state = 'failed';
  benchmark.reason = message;
}
