/** The processes of the HandlerSocket bench's contenders, seen from the bench, and their turns. */

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./handlersocket-contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('./handlersocket-contender.js').Job} Job */
/** @typedef {import('./handlersocket-contender.js').JobResult} JobResult */

const CONTENDER = fileURLToPath(new URL('./handlersocket-contender.js', import.meta.url));

/** A contender's process. */
export class Remote {
  /** @param {ContenderSpec} spec */
  static async open(spec) {
    const remote = new Remote();
    await remote.ask({ spec });
    return remote;
  }

  constructor() {
    this.child = fork(CONTENDER, [], {
      execArgv: ['--expose-gc', '--no-warnings'],
      serialization: 'advanced',
    });
  }

  /**
   * @param {object} message
   * @returns {Promise<any>}
   */
  ask(message) {
    return new Promise((resolve, reject) => {
      const onExit = () => reject(new Error('a contender has died'));
      this.child.once('exit', onExit);
      this.child.once('message', (/** @type {any} */ { failure, result }) => {
        this.child.off('exit', onExit);
        if (failure === undefined) resolve(result);
        else reject(new Error(failure));
      });
      this.child.send(message);
    });
  }

  /**
   * @param {Job} job
   * @returns {Promise<JobResult>}
   */
  run(job) {
    return this.ask({ job });
  }

  async close() {
    await this.ask({ end: true }).catch(() => {});
    this.child.kill('SIGKILL');
  }
}

/**
 * @typedef {Record<string, { remote: Remote, job: Job }>} Entries by name
 * @typedef {Record<string, { rate: number, cpuNs: number }[]>} Rounds by name, a round each
 */

/**
 * Every entry once in each round, in mirrored order.
 * @param {Entries} entries
 * @param {number} rounds
 * @returns {Promise<Rounds>} rate: operations a second; cpuNs: of an operation
 */
export async function inTurn(entries, rounds) {
  const names = Object.keys(entries);
  /** @type {Rounds} */
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const { remote, job } = entries[name];
      const { operations, durationNs, cpuNs } = await remote.run(job);
      // The first round warms up.
      if (round < 0) continue;
      results[name].push({ rate: (operations / durationNs) * 1e9, cpuNs: cpuNs / operations });
    }
  }
  return results;
}
