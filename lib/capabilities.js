/**
 * Capabilities of a storage, derived from its definition without opening it. The names are those of
 * a workload's `needs`: the row operations, and the other kinds of handle that it opens.
 */

/** @typedef {import('./types.js').Capability} Capability */
/** @typedef {import('./types.js').HandleKind} HandleKind */
/** @typedef {import('./types.js').RowOperation} RowOperation */

/** @type {readonly RowOperation[]} */
export const ROW_OPERATIONS = Object.freeze(
  /** @type {const} */ (['get', 'mget', 'set', 'add', 'del', 'scan', 'hash', 'expire']),
);

/**
 * The methods of a rows handle that send requests, by operation.
 * @type {Readonly<Record<RowOperation, readonly import('./types.js').RowMethod[]>>}
 */
export const METHODS_OF = Object.freeze({
  get: ['get'],
  mget: ['mget'],
  set: ['set'],
  add: ['add'],
  del: ['del'],
  scan: ['scan'],
  hash: ['hset', 'hget'],
  expire: ['addFor'],
});

/**
 * @param {import('./types.js').RowsHandle} handle
 * @param {RowOperation} operation
 */
export function hasOperation(handle, operation) {
  return METHODS_OF[operation].every((method) => handle[method] !== undefined);
}

/**
 * Kinds of handle: the keys of a storage's `open`, each with the field of the definition that
 * describes it.
 * @type {Readonly<Record<HandleKind, 'rows' | 'inserts' | 'locks' | 'commands'>>}
 */
export const HANDLE_KINDS = Object.freeze({
  rows: 'rows',
  insert: 'inserts',
  lock: 'locks',
  command: 'commands',
});

/**
 * @param {import('./types.js').StorageDefinition} definition
 * @returns {Capability[]}
 */
export function capabilitiesOf({ open, rows = [] }) {
  const kinds = /** @type {HandleKind[]} */ (Object.keys(open));
  return kinds.flatMap((kind) => (kind === 'rows' ? rows : kind));
}

/**
 * @param {readonly Capability[]} needs needs of a workload, at least one
 * @returns {HandleKind} the kind of handle on which it runs, determined by the first need
 */
export function kindOf([need]) {
  return ROW_OPERATIONS.some((one) => one === need)
    ? 'rows'
    : /** @type {Exclude<Capability, RowOperation>} */ (need);
}
