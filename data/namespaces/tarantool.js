/**
 * A namespace in Tarantool: a space created by box.lua, marked by a tuple of another space. A
 * server that was not started from box.lua has neither, and is not modified.
 */

import { targetError } from '../../lib/errors.js';
import { TarantoolConnection } from '../connections/tarantool.js';
import { namespaceHandle, parseMark } from './mark.js';

/** Spaces that box.lua creates on request: rows of one size. */
const MADE = /^dragstrip_value_\d+$/;
/** Passes of removal, since requests of a killed client may still arrive. */
const PASSES_MAX = 20;

/** @typedef {{ space: string, marker: string, key: string }} SpaceNames */
/** @typedef {{ connection: TarantoolConnection, spaceId: number, markerId: number } & SpaceNames} Space */

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @param {import('../../lib/types.js').Namespace & { tarantool: SpaceNames }} namespace
 * @returns {Promise<import('../../lib/types.js').NamespaceHandle>}
 */
export async function openNamespace(context, { name, tarantool }) {
  const connection = await TarantoolConnection.connect(context);
  /** @type {Space | null} */
  let space = null;
  const opened = () => /** @type {Space} */ (space);
  return namespaceHandle({
    where: connection.where,
    server: 'tarantool',
    name,
    async ownership(claims) {
      space = await (claims ? requireSpace : findSpace)(connection, tarantool);
      return space === null ? { mark: null, notOurs: null } : readOwnership(space);
    },
    async create(_mark, text) {
      await clear(opened());
      await setMark(opened(), text);
    },
    remove: () => clear(opened()),
    close: () => connection.close(),
  });
}

/**
 * @param {TarantoolConnection} connection
 * @param {SpaceNames} names
 * @returns {Promise<Space | null>}
 */
export async function findSpace(connection, names) {
  const spaceId = await connection.spaceId(names.space);
  const markerId = await connection.spaceId(names.marker);
  return spaceId === null || markerId === null ? null : { connection, spaceId, markerId, ...names };
}

/**
 * @param {TarantoolConnection} connection
 * @param {SpaceNames} names
 * @returns {Promise<Space>}
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: no such space
 */
export async function requireSpace(connection, names) {
  const there = await findSpace(connection, names);
  if (there !== null) return there;
  // An older box.lua cannot create one.
  if (MADE.test(names.space)) {
    await connection.call('dragstrip_make', [names.space]).catch(() => null);
  }
  const space = await findSpace(connection, names);
  if (space !== null) return space;
  throw targetError(
    `${connection.where}: space ${names.space} is missing: the server was not started from this box.lua`,
    'start it with `npx dragstrip servers start tarantool`, or `tarantool box.lua`',
  );
}

/**
 * @param {Space} space
 * @returns {Promise<import('./mark.js').Ownership>}
 */
export async function readOwnership({ connection, space, marker, markerId, key }) {
  const [tuple] = await connection.select(markerId, 0, [key]);
  if (tuple !== undefined) {
    const mark = parseMark(tuple[1]);
    return { mark, notOurs: mark === null ? `tuple ${key} of space ${marker}` : null };
  }
  const count = await connection.call('dragstrip_count', [space]);
  return { mark: null, notOurs: count === 0 ? null : `tuples of space ${space}` };
}

/**
 * @param {Space} space
 * @param {string} text text of the mark
 */
export function setMark({ connection, markerId, key }, text) {
  return connection.replace(markerId, [key, text]);
}

/**
 * Removes all tuples, and the mark with them.
 * @param {Space} space
 * @returns {Promise<number>} number of removed tuples
 */
export async function clear({ connection, space }) {
  let removed = 0;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const count = await connection.call('dragstrip_count', [space]);
    await connection.call('dragstrip_reset', [space]);
    if (count === 0) return removed;
    removed += count;
  }
  throw targetError(`${connection.where}: tuples of space ${space} are still being written`);
}
