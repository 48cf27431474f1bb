/** Contenders of tests: short specs, small storages as files. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { emptySegment, merge } from '../../engine/segment.js';
import { openStorageContender } from '../../engine/storage-contender.js';
import { OK } from '../../lib/outcome.js';
import { systemClock } from '../../measure/clock.js';
import { systemInstruments } from '../../measure/usage.js';

/** @typedef {import('../../engine/contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('../../engine/contender.js').Task} Task */
/** @typedef {import('../../engine/contender.js').Amount} Amount */
/** @typedef {import('../../lib/result.js').Load} Load */

/**
 * @param {Partial<Load>} load
 * @param {Partial<Task>} [fields]
 * @returns {Task}
 */
export function taskOf(load, fields = {}) {
  return {
    id: `${load.kind ?? 'window'} ${load.inFlight ?? ''}`,
    load: { kind: 'window', inFlight: 10, operations: null, durationNs: null, ...load },
    workload: 'get',
    workloadOptions: {},
    warm: { kind: 'none' },
    operations: 1000,
    slot: 0,
    others: [],
    stallNs: 5e9,
    ...fields,
  };
}

/**
 * @param {(Task | null)[]} tasks
 * @param {Partial<ContenderSpec['storage']>} [storage]
 * @param {Partial<ContenderSpec>} [fields]
 * @returns {ContenderSpec}
 */
export function specOf(tasks, storage = {}, fields = {}) {
  return {
    opener: 'storage',
    storage: {
      storage: 'memory',
      profile: 'default',
      address: {},
      credentialVariables: null,
      serverPids: [],
      dataset: { rows: 500, valueSize: 32, seed: 1 },
      folder: '/nonexistent',
      seed: 7,
      ...storage,
    },
    tasks,
    ...fields,
  };
}

/**
 * @param {string} folder
 * @param {string} name
 * @param {{ get?: string, open?: string }} bodies get: body of `get(id)`, with `reads`, the number
 *   of reads; open: statements before it
 * @returns {string} path of a storage without a server
 */
export function storageFile(folder, name, { get = 'return dataset.value(id);', open = '' }) {
  const file = path.join(folder, `${name}.js`);
  const define = new URL('../../define.js', import.meta.url).href;
  writeFileSync(
    file,
    `import { defineStorage } from '${define}';
    export const storage = defineStorage({
      name: '${name}', summary: 'for a test', package: null, server: null, rows: ['get'],
      profiles: { default: { summary: 'plain', options: {} } },
      open: {
        async rows({ dataset, folder }) {
          let reads = 0;
          ${open}
          return { get: async (id) => { reads += 1; ${get} }, close: async () => {} };
        },
      },
    });`,
  );
  return file;
}

/**
 * @param {number} operations
 * @returns {Amount} amount of a segment of some milliseconds
 */
export function brief(operations) {
  return { operations, durationNs: null, brief: true };
}

/**
 * Real ones, except the loop that detects changes of the machine's speed.
 * @param {import('../../measure/clock.js').Clock} clock
 */
export const instrumentsOf = (clock) => ({ ...systemInstruments(clock), canaryNs: () => 1e6 });

/**
 * A contender in this process.
 * @param {ContenderSpec} spec
 * @param {{ clock?: import('../../measure/clock.js').Clock, signal?: AbortSignal }} [context]
 */
export async function openHere(spec, { clock = systemClock, signal } = {}) {
  const instruments = instrumentsOf(clock);
  const contender = await openStorageContender(spec, { instruments, signal });
  return {
    warm: (/** @type {number} */ load) => contender.warm(load),
    close: () => contender.close(),
    /** @param {Amount} amount @param {number} [load] */
    async run(amount, load = 0) {
      await contender.prepare(load, amount);
      return contender.run(load, {});
    },
  };
}

/**
 * One load in this process, from opening to closing.
 * @param {ContenderSpec} spec spec of one load
 * @param {Amount} amount
 * @param {{ clock?: import('../../measure/clock.js').Clock, onMeasure?: () => void }} [context]
 *   onMeasure: called after the warm-up
 * @returns {Promise<import('../../engine/segment.js').Segment>} the complete measurement
 */
export async function playHere(spec, amount, { clock, onMeasure } = {}) {
  const contender = await openHere(spec, { clock });
  await contender.warm(0);
  onMeasure?.();
  const segment = await contender.run(amount);
  const { kept, process } = await contender.close();
  const all = [segment, ...kept.flatMap((one) => one ?? []), process];
  return /** @type {import('../../engine/segment.js').Segment} */ (merge(all));
}

/** @param {Record<string, { value: unknown }>} metrics */
export function valuesOf(metrics) {
  return Object.fromEntries(Object.entries(metrics).map(([name, { value }]) => [name, value]));
}

/**
 * @param {number} operations
 * @param {number} durationNs
 * @returns {import('../../engine/segment.js').Segment} a segment with as many correct replies
 */
export function rightSegment(operations, durationNs) {
  const segment = emptySegment();
  segment.scheduled = operations;
  segment.outcomes[OK] = operations;
  segment.wall = [[1000, 1000 + durationNs]];
  return segment;
}

/**
 * Processes that measure nothing.
 * @param {(spec: ContenderSpec, amount: Amount) => import('../../engine/segment.js').Segment}
 *   answer returns a segment, or throws like a failed process
 * @returns {import('../../engine/contender-process.js').ProcessFactory}
 */
export function fakeProcesses(answer) {
  return (spec) => ({
    open: async () => {},
    warm: async () => ({ costNs: 0, refused: false }),
    prepare: async () => {},
    run: async (_load, _start, amount) => answer(spec, /** @type {Amount} */ (amount)),
    close: async () => ({ kept: spec.tasks.map(() => null), process: emptySegment() }),
    pin: async () => {},
    abort() {},
    kill() {},
    ended: async () => 5e6,
  });
}
