/**
 * Binds processes to processors by taskset (util-linux), through a shell that stays: to start a
 * program Node copies the page tables of its process, and a race moves its servers in every block.
 * Four processes take 4 ms instead of 33 (two cores, 200 MiB in use).
 */

import { execFile, spawn } from 'node:child_process';

/**
 * @param {string} [taskset]
 * @returns {Promise<string | null>} reason why it cannot be used
 */
export function missingTaskset(taskset = 'taskset') {
  return new Promise((resolve) => {
    execFile(taskset, ['--version'], (error) =>
      resolve(error === null ? null : 'taskset (util-linux) is not installed'),
    );
  });
}

/** Its shell ends with this process, by the end of its input. */
class Shell {
  /** Command to be answered. @type {((output: string | null) => void) | null} */
  #answer = null;
  #output = '';
  #child = spawn('sh', ['-s'], { stdio: ['pipe', 'pipe', 'ignore'] });
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();
  hasEnded = false;

  constructor() {
    this.#child.on('error', () => this.#end()).on('close', () => this.#end());
    this.#child.stdin.on('error', () => this.#end());
    this.#child.stdout.setEncoding('latin1').on('data', (text) => {
      this.#output += text;
      if (this.#output.endsWith('\n')) this.#settle(this.#output.trim());
    });
    // Ctrl-C reaches it, too, and servers are moved back afterwards.
    this.#child.stdin.write("trap '' INT TERM HUP\n");
    this.#hold(false);
  }

  /**
   * @param {string} command prints one line
   * @returns {Promise<string | null>} the line; null: the shell has ended
   */
  run(command) {
    const answered = this.#last.then(() => this.#run(command));
    this.#last = answered;
    return answered;
  }

  /** @param {string} command @returns {Promise<string | null>} */
  #run(command) {
    if (this.hasEnded) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#answer = resolve;
      this.#hold(true);
      this.#child.stdin.write(`${command}\n`);
    });
  }

  /** @param {string | null} output */
  #settle(output) {
    const answer = this.#answer;
    this.#answer = null;
    this.#output = '';
    this.#hold(false);
    answer?.(output);
  }

  #end() {
    this.hasEnded = true;
    this.#settle(null);
  }

  /** @param {boolean} isPending whether this process waits for an answer */
  #hold(isPending) {
    const pipes = /** @type {import('node:net').Socket[]} */ ([
      this.#child.stdin,
      this.#child.stdout,
    ]);
    for (const one of [this.#child, ...pipes]) {
      if (isPending) one.ref();
      else one.unref();
    }
  }
}

/** @type {Shell | null} */
let shell = null;

/**
 * @param {readonly number[]} pids
 * @param {readonly number[]} cpus
 * @param {{ taskset?: string, isWhole: boolean }} how isWhole: all threads, instead of the main one
 * @returns {Promise<boolean>} whether all of them were bound; with all threads, taskset reports no
 *   process that has ended
 */
export async function bindToCpus(pids, cpus, { taskset = 'taskset', isWhole }) {
  if (pids.length === 0) return true;
  const program = `'${taskset.replaceAll("'", "'\\''")}'`;
  const words = `${isWhole ? '--all-tasks ' : ''}--cpu-list --pid ${cpus.join()}`;
  const started = pids.map((pid) => `${program} ${words} ${pid} >/dev/null 2>&1 & p="$p $!"; `);
  const waited = 'for i in $p; do wait $i || s=1; done; echo $s';
  let output = null;
  for (let attempt = 0; attempt < 2 && output === null; attempt += 1) {
    if (shell === null || shell.hasEnded) shell = new Shell();
    output = await shell.run(`p=; s=0; ${started.join('')}${waited}`);
  }
  return output === '0';
}
