/**
 * The fetches of mget as single reads sent at once: the gain of MGET over a driver that pipelines.
 * A fetch ends with its last value.
 */

import { defineWorkload } from '../../lib/define.js';
import { prepareBy } from './fetches.js';
import { namespace } from './plan.js';

/** @typedef {import('../../lib/types.js').RowsHandle} RowsHandle */
/** @typedef {(ids: readonly number[], done?: (error: any, reply?: any) => void) => any} Fetch */

/**
 * @param {RowsHandle} handle
 * @param {import('../../lib/types.js').CallStyle} calls
 * @returns {Fetch} replies in the order of the ids, not decoded
 */
function createFetch(handle, calls) {
  if (calls === 'sync') return (ids) => ids.map((id) => handle.get(id));
  if (calls === 'callback') return (ids, done) => fetchByCallbacks(handle, ids, done);
  return (ids) => Promise.all(ids.map((id) => handle.get(id)));
}

/**
 * @param {RowsHandle} handle
 * @param {readonly number[]} ids
 * @param {(error: any, reply?: any) => void} [done]
 */
function fetchByCallbacks(handle, ids, done) {
  const replies = new Array(ids.length);
  let left = ids.length;
  let failed = false;
  ids.forEach((id, i) => {
    handle.get(id, (error, reply) => {
      replies[i] = reply;
      left -= 1;
      if (failed) return;
      if (error) {
        failed = true;
        done?.(error);
      } else if (left === 0) done?.(null, replies);
    });
  });
}

const prepare = prepareBy((handle, calls) => {
  const { value } = handle;
  return {
    fetch: createFetch(handle, calls),
    values: (replies) => (value === undefined ? replies : replies.map(value)),
  };
});

export const workload = defineWorkload({
  name: 'mget-single',
  needs: ['get'],
  namespace,
  shares: () => 'rows',
  prepare,
});
