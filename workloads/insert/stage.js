/**
 * The place of the inserted rows on each server: made with a marker of ours before a run, removed
 * after it, refused where somebody else has it. What a killed run left is taken over.
 */

import { usageError } from '../../lib/errors.js';
import { INSERT_MARKER, INSERT_PLACE } from '../../lib/insertion.js';
import { makePlaces } from '../places.js';
import { openRedisPlace } from '../redis-place.js';

/** @typedef {import('../places.js').StageServer} StageServer */
/** @typedef {import('../places.js').Place} InsertStage of one server */

const REDIS = Object.freeze({
  prefixes: [INSERT_PLACE.redisPrefix],
  marker: INSERT_PLACE.redisMarker,
  sign: INSERT_MARKER,
});

/** @type {Readonly<Record<string, (server: StageServer) => Promise<InsertStage>>>} */
const STAGES = Object.freeze({
  redis: (server) => openRedisPlace(server, REDIS),
  mariadb: async (server) => (await import('./stage-mariadb.js')).openStage(server),
  tarantool: async (server) => (await import('./stage-tarantool.js')).openStage(server),
  cassandra: async (server) => (await import('./stage-cassandra.js')).openStage(server),
});

/**
 * @param {import('../places.js').StageContext} context
 * @returns {Promise<() => Promise<void>>} removes the places
 */
export function setInsertStage(context) {
  return makePlaces(context, (server) => {
    const open = STAGES[server.name];
    if (open === undefined) throw usageError(`insert: no place for rows on ${server.name}`);
    return open(server);
  });
}
