/**
 * The place of the inserted rows on each server: made with a marker of ours before a run, removed
 * after it, refused where somebody else has it. What a killed run left is taken over.
 */

import { usageError } from '../lib/errors.js';

/** @typedef {import('../lib/types.js').StageContext} StageContext */
/** @typedef {StageContext['servers'][number]} StageServer */

/**
 * @typedef {object} InsertStage of one server
 * @property {() => Promise<void>} make rejects E_REFUSED where the place is not ours
 * @property {() => Promise<void>} strike removes what make made, and the rows in it
 * @property {() => Promise<void>} close the connection
 */

/** @type {Readonly<Record<string, (server: StageServer) => Promise<InsertStage>>>} */
const STAGES = Object.freeze({
  redis: async (server) => (await import('./insert-stage-redis.js')).openStage(server),
  mariadb: async (server) => (await import('./insert-stage-mariadb.js')).openStage(server),
  tarantool: async (server) => (await import('./insert-stage-tarantool.js')).openStage(server),
  cassandra: async (server) => (await import('./insert-stage-cassandra.js')).openStage(server),
});

/**
 * @param {StageContext} context
 * @returns {Promise<() => Promise<void>>} removes the places
 */
export async function setInsertStage({ servers, signal }) {
  /** @type {StageServer[]} */
  const made = [];
  const strike = async () => {
    for (const server of made.splice(0)) await withStage(server, (stage) => stage.strike());
  };
  try {
    for (const server of servers) {
      signal?.throwIfAborted();
      await withStage(server, async (stage) => {
        await stage.make();
        made.push(server);
      });
    }
  } catch (error) {
    await strike();
    throw error;
  }
  return strike;
}

/**
 * No connection is kept while cells are measured: it would be one more for the server to serve.
 * @param {StageServer} server
 * @param {(stage: InsertStage) => Promise<void>} work
 */
async function withStage(server, work) {
  const open = STAGES[server.name];
  if (open === undefined) throw usageError(`insert: no place for rows on ${server.name}`);
  const stage = await open(server);
  try {
    await work(stage);
  } finally {
    await stage.close();
  }
}
