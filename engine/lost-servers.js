/**
 * Servers lost during a run: probed once, after one of their benchmarks failed, and remembered.
 * Other benchmarks of a lost server fail immediately with the reason, instead of waiting for their
 * own time limits. Servers with wrong replies are not lost: they respond.
 */

import { readCredentials } from '../lib/credentials.js';
import { hideSecrets } from '../lib/secrets.js';
import { loadServer } from '../servers/registry.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Round} Round */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */

/** @typedef {import('./segment.js').Failure} Failure */

/** Code of a failure, and of the warning that sets the exit status. */
export const LOST = 'SERVER_LOST';

/** On a busy machine a server may need more time than one probe waits. */
const PROBES = 2;
const RESTARTED = 'it was restarted during the measurement, and the driver reported no error';

export class LostServers {
  /** @type {Map<ServerTarget, Failure>} */
  #lost = new Map();

  /** @param {Result} result receives a warning per lost server */
  constructor(result) {
    this.result = result;
  }

  /**
   * @param {readonly (ServerTarget | null)[]} servers servers that a benchmark needs
   * @returns {Failure | null} null: none is known to be lost
   */
  failureOf(servers) {
    for (const server of servers) {
      const failure = server === null ? undefined : this.#lost.get(server);
      if (failure !== undefined) return failure;
    }
    return null;
  }

  /**
   * Probes whether each of them still responds.
   * @param {readonly (ServerTarget | null)[]} servers
   * @param {Round} round round of a benchmark that needs them, the first for its storage
   * @returns {Promise<Failure | null>} same as failureOf
   */
  async check(servers, round) {
    for (const [i, server] of servers.entries()) {
      if (server === null || this.#lost.has(server)) continue;
      const reason = i === 0 && isUnnoticed(round) ? RESTARTED : await silenceOf(server);
      if (reason === null) continue;
      const message = `the server was lost: ${reason}`;
      this.#lost.set(server, { code: LOST, message });
      this.result.warnings.push({
        code: LOST,
        message: `${message}; it was not probed again`,
        hint: 'start it again, check its log, and run the same command again',
        benchmark: null,
      });
    }
    return this.failureOf(servers);
  }
}

/**
 * @param {ServerTarget} server
 * @returns {Promise<string | null>} reason why it does not respond; null: it does
 */
async function silenceOf({ name, listed, address, credentialVariables }) {
  const { probe } = await loadServer(listed?.product ?? name);
  let credentials;
  try {
    credentials = await readCredentials(credentialVariables);
  } catch (error) {
    // `servers stop` has removed them with the server.
    return error.message;
  }
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
 * @param {any} cause error of a failed probe
 * @returns {boolean} whether the server itself reported it (SQL), for example a full disk
 */
function isReply(cause) {
  return typeof cause?.sqlState === 'string';
}

/**
 * @param {Round} round
 * @returns {boolean} whether its server may be lost
 */
export function looksLost(round) {
  const { state, counted, outcomes } = round;
  if (state === 'failed' || outcomes.error + outcomes.timeout > 0) return true;
  return (counted?.lost ?? 0) > 0 || isUnnoticed(round);
}

/** @param {Round} round @returns {boolean} the server was restarted, and no operation failed */
function isUnnoticed({ counted }) {
  return (counted?.restarts ?? 0) > 0;
}

/**
 * @param {import('../lib/result.js').Benchmark} benchmark
 * @param {Failure} failure
 */
export function failBenchmark(benchmark, { message }) {
  benchmark.state = 'failed';
  benchmark.reason = message;
}
