/**
 * A process of Node of its own, for what must be measured undisturbed: starting it, and how it
 * ended. What parent and child say to each other is theirs.
 */

import { execa } from 'execa';
import { heapFlags } from './heap-size.js';
import { untilParentDies } from './parent-death.js';
import { fromPlain, toPlain } from './plain-message.js';

const STDERR_LINES = 3;
const STDERR_CHARS = 300;
/** V8 says so between a trace of its collections and one of its functions. */
const OUT_OF_HEAP =
  'ran out of heap memory: use fewer --ops, a smaller --in-flight, or a larger heap by ' +
  'NODE_OPTIONS=--max-old-space-size=8192';

/**
 * @typedef {object} Runtime another than this Node
 * @property {'node' | 'bun' | 'deno'} kind
 * @property {string} version
 * @property {string} program
 */

const OF_V8 = ['--expose-gc', ...heapFlags()];
const FLAGS = Object.freeze({
  node: [...OF_V8, '--no-warnings'],
  bun: ['--expose-gc'],
  deno: [
    ...['run', '--allow-all', '--quiet', '--node-modules-dir=manual'],
    `--v8-flags=${OF_V8.join()}`,
  ],
});

/**
 * @param {string} entry path of its module
 * @param {{ cpus?: readonly number[], signal?: AbortSignal, runtime?: Runtime }} [options] cpus: it
 *   runs on these; signal: ends it; runtime: in the place of this Node
 * @returns it speaks by messages (`send`, `message`), ends with this process, prints nothing, and
 *   never rejects; what it wrote to stderr is kept
 */
export function startChild(entry, { cpus = [], signal, runtime } = {}) {
  const { kind = 'node', program: own = process.execPath } = runtime ?? {};
  const node = [own, ...FLAGS[kind], entry];
  const isPlain = kind !== 'node';
  const [first, ...rest] =
    cpus.length === 0 ? node : ['taskset', '--cpu-list', cpus.join(','), ...node];
  // A driver may block the event loop, and with it the end of the channel to the parent.
  const [program, args] = untilParentDies(first, rest) ?? [first, rest];
  const child = execa(program, args, {
    ipc: true,
    buffer: { ipc: false },
    serialization: isPlain ? 'json' : 'advanced',
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    maxBuffer: 65_536,
    reject: false,
    cleanup: true,
    cancelSignal: signal,
    forceKillAfterDelay: 1000,
  });
  return isPlain ? withPlainMessages(child) : child;
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
 * @param {{ exitCode?: number, signal?: string, stderr?: unknown, shortMessage?: string }} ended
 *   without what it was started for
 * @returns {string} to stand behind its name; with the last lines of stderr
 */
export function describeEnd({ exitCode, signal, stderr, shortMessage }) {
  if (/heap out of memory/i.test(String(stderr))) return OUT_OF_HEAP;
  const end = signal ? `was killed by ${signal}` : `ended with status ${exitCode ?? '?'}`;
  const how = `${end} before it returned a result`;
  const lines = String(stderr ?? shortMessage ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  const said = lines.slice(-STDERR_LINES).join(' | ').slice(0, STDERR_CHARS);
  return said === '' ? how : `${how}: ${said}`;
}
