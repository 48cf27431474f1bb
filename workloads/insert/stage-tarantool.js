/** The place of the inserted rows in Tarantool: a space of box.lua, and a tuple that marks it. */

import { formatEndpoint } from '../../lib/address.js';
import { refusedError, targetError } from '../../lib/errors.js';
import { INSERT_MARKER, INSERT_PLACE } from '../../lib/insertion.js';

const { space, tarantoolMarker, tarantoolKey } = INSERT_PLACE;

/**
 * @param {import('./stage.js').StageServer} server
 * @returns {Promise<import('./stage.js').InsertStage>}
 */
export async function openStage({ address: { main }, credentials: { user, password } }) {
  // @ts-expect-error it ships no types
  const { default: Tarantool } = await import('tarantool-driver');
  const place =
    main.path === undefined ? { host: main.host, port: main.port } : { path: main.path };
  const connection = new Tarantool({
    ...place,
    username: user ?? null,
    password: password ?? null,
    lazyConnect: true,
    timeout: 5000,
    retryStrategy: () => null,
  });
  connection.on('error', () => {}); // the same error rejects the request
  const where = `Tarantool at ${formatEndpoint(main)}`;
  await connection.connect().catch((/** @type {Error} */ error) => {
    throw targetError(`${where}: ${error.message}`, undefined, error);
  });
  const count = async () => {
    try {
      return (await connection.call('dragstrip_count', space)).flat()[0];
    } catch (error) {
      throw notOurs(error);
    }
  };
  /** @param {any} error */
  const notOurs = (error) =>
    targetError(
      `${where}: it has no space ${space}: it was not started from this box.lua`,
      'start it from there: `dragstrip servers stop tarantool`, then `dragstrip servers start`',
      error,
    );
  /** Not twice the same: whoever was killed may have sent what still comes in. */
  const empty = async () => {
    await connection.call('dragstrip_reset', space);
    if ((await count()) !== 0) await connection.call('dragstrip_reset', space);
  };
  return {
    async make() {
      const rows = await count();
      const [tuple] = await connection.select(tarantoolMarker, 0, 1, 0, 'eq', [tarantoolKey]);
      const ours = tuple === undefined ? rows === 0 : tuple[1] === INSERT_MARKER;
      if (!ours) {
        throw refusedError(
          `${where}: what space ${space} has was not made by Dragstrip: nothing was touched`,
          'use another server (`dragstrip servers start tarantool`)',
        );
      }
      await empty();
      await connection.replace(tarantoolMarker, [tarantoolKey, INSERT_MARKER]);
    },
    strike: empty,
    async close() {
      connection.disconnect();
    },
  };
}
