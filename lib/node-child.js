/**
 * A process of Node of its own, for what must be measured undisturbed: starting it, and how it
 * ended. What parent and child say to each other is theirs.
 */

import { execa } from 'execa';

const STDERR_LINES = 3;
const STDERR_CHARS = 300;

/**
 * @param {string} entry path of its module
 * @param {{ cpus?: readonly number[], signal?: AbortSignal }} [options] cpus: it runs on these;
 *   signal: ends it
 * @returns it speaks by messages (`send`, `message`), ends with this process, prints nothing, and
 *   never rejects; what it wrote to stderr is kept
 */
export function startChild(entry, { cpus = [], signal } = {}) {
  const node = [process.execPath, '--expose-gc', '--no-warnings', entry];
  const [program, ...args] =
    cpus.length === 0 ? node : ['taskset', '--cpu-list', cpus.join(','), ...node];
  return execa(program, args, {
    ipc: true,
    buffer: { ipc: false },
    serialization: 'advanced',
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    maxBuffer: 65_536,
    reject: false,
    cleanup: true,
    cancelSignal: signal,
    forceKillAfterDelay: 1000,
  });
}

/**
 * @param {{ exitCode?: number, signal?: string, stderr?: unknown, shortMessage?: string }} ended
 *   without what it was started for
 * @returns {string} to stand behind its name; with the last lines of stderr
 */
export function describeEnd({ exitCode, signal, stderr, shortMessage }) {
  const end = signal ? `was killed by ${signal}` : `ended with status ${exitCode ?? '?'}`;
  const how = `${end} before it returned a result`;
  const lines = String(stderr ?? shortMessage ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  const said = lines.slice(-STDERR_LINES).join(' | ').slice(0, STDERR_CHARS);
  return said === '' ? how : `${how}: ${said}`;
}
