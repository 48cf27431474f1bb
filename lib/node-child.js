/**
 * A separate Node process for undisturbed measurements: its start and its exit. The messages
 * between parent and child are defined elsewhere.
 */

import { spawn } from 'node:child_process';
import { heapFlags } from './heap-size.js';
import { untilParentDies } from './parent-death.js';
import { fromPlain, toPlain } from './plain-message.js';

/** Time after its signal to complete pending work. */
const KILL_AFTER_MS = 1000;
const STDERR_CHARS_KEPT = 65_536;
const STDERR_LINES = 3;
const STDERR_CHARS = 300;
/** V8 prints this between a trace of its collections and one of its functions. */
const OUT_OF_HEAP =
  'ran out of heap memory: use fewer --ops, a smaller --in-flight, or a larger heap by ' +
  'NODE_OPTIONS=--max-old-space-size=8192';

/**
 * @typedef {object} Runtime a runtime other than this Node
 * @property {'node' | 'bun' | 'deno'} kind
 * @property {string} version
 * @property {string} program
 */

const OF_V8 = ['--expose-gc', ...heapFlags()];
/** A file that imports `dragstrip` gets define.js, and not the whole of it (package.json). */
const CONDITION = '--conditions=dragstrip-contender';
const FLAGS = Object.freeze({
  node: [...OF_V8, CONDITION, '--no-warnings'],
  bun: ['--expose-gc', CONDITION],
  deno: [
    ...['run', '--allow-all', '--quiet', '--node-modules-dir=manual'],
    `--v8-flags=${OF_V8.join()}`,
  ],
});

/**
 * @typedef {{ exitCode?: number | null, signal?: string | null, stderr?: string }} End stderr: the
 *   end of its output there, or the reason why it did not start
 */

/**
 * @param {string} entry path of its module
 * @param {{ cpus?: readonly number[], signal?: AbortSignal, runtime?: Runtime }} [options] cpus:
 *   processors to run on; signal: ends it; runtime: instead of this Node
 * @returns process that communicates by messages (`send`, `message`), ends with this process,
 *   prints nothing; `ended` never rejects
 */
export function startChild(entry, { cpus = [], signal, runtime } = {}) {
  const { kind = 'node', program: runtimePath = process.execPath } = runtime ?? {};
  const node = [runtimePath, ...FLAGS[kind], entry];
  const isPlain = kind !== 'node';
  const [first, ...rest] =
    cpus.length === 0 ? node : ['taskset', '--cpu-list', cpus.join(','), ...node];
  // A driver may block the event loop, and thus the detection of a closed channel to the parent.
  const [program, args] = untilParentDies(first, rest) ?? [first, rest];
  const child = spawn(program, args, {
    serialization: isPlain ? 'json' : 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    signal,
  });
  /** @type {import('node:child_process').ChildProcess & { ended: Promise<End> }} */
  const running = Object.assign(child, { ended: endOf(child) });
  return isPlain ? withPlainMessages(running) : running;
}

/**
 * @template {{ send: Function, on: Function }} Child
 * @param {Child} child
 * @returns {Child}
 */
function withPlainMessages(child) {
  const [send, on] = [child.send.bind(child), child.on.bind(child)];
  child.send = (/** @type {unknown} */ message, /** @type {unknown[]} */ ...rest) =>
    send(toPlain(message), ...rest);
  child.on = (/** @type {string} */ event, /** @type {Function} */ listener) =>
    on(
      event,
      event === 'message' ? (/** @type {any} */ one) => listener(fromPlain(one)) : listener,
    );
  return child;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<End>}
 */
function endOf(child) {
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr = (stderr + text).slice(-STDERR_CHARS_KEPT);
  });
  return new Promise((resolve) => {
    child.on('error', ({ message }) => {
      if (child.pid === undefined) resolve({ stderr: message });
      else setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS).unref();
    });
    child.on('close', (exitCode, signal) => resolve({ exitCode, signal, stderr }));
  });
}

/**
 * @param {End} ended end of a process that failed
 * @returns {string} text to append to its name, with the last lines of stderr
 */
export function describeEnd({ exitCode, signal, stderr = '' }) {
  if (/heap out of memory/i.test(stderr)) return OUT_OF_HEAP;
  const end = signal ? `was killed by ${signal}` : `ended with status ${exitCode ?? '?'}`;
  const how = `${end} before it returned a result`;
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  const output = lines.slice(-STDERR_LINES).join(' | ').slice(0, STDERR_CHARS);
  return output === '' ? how : `${how}: ${output}`;
}
