/**
 * Places of our own on servers: made with a marker of ours before a run, removed after it, refused
 * where somebody else has them. What a killed run left is taken over.
 */

import { refusedError } from '../lib/errors.js';

/** @typedef {import('../lib/types.js').StageContext} StageContext */
/** @typedef {StageContext['servers'][number]} StageServer */

/**
 * @typedef {object} Place of one server
 * @property {() => Promise<void>} make rejects E_REFUSED where the place is not ours
 * @property {() => Promise<void>} strike removes what make made, and all that is in it
 * @property {() => Promise<void>} close the connection
 */

/**
 * @param {StageContext} context
 * @param {(server: StageServer) => Promise<Place>} open
 * @returns {Promise<() => Promise<void>>} removes the places
 */
export async function makePlaces({ servers, signal }, open) {
  /** @type {StageServer[]} */
  const made = [];
  const strike = async () => {
    for (const server of made.splice(0)) await withPlace(server, open, (place) => place.strike());
  };
  try {
    for (const server of servers) {
      signal?.throwIfAborted();
      await withPlace(server, open, async (place) => {
        await place.make();
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
 * @param {(server: StageServer) => Promise<Place>} open
 * @param {(place: Place) => Promise<void>} work
 */
async function withPlace(server, open, work) {
  const place = await open(server);
  try {
    await work(place);
  } finally {
    await place.close();
  }
}

/**
 * @param {string} where
 * @param {string} what is there
 * @param {string} server
 */
export function foreignPlace(where, what, server) {
  return refusedError(
    `${where}: ${what} is there and was not made by Dragstrip: nothing was touched`,
    `use another server (dragstrip servers start ${server}), or remove what is yours to remove`,
  );
}
