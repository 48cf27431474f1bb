/**
 * A storage without a server, with planned faults: by number of the call, so that rows read before
 * the measurement are correct, and by id of the row.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { defineStorage } from '../../lib/define.js';

/** After the reads that check a storage; faults by row begin during the warm-up. */
const RIGHT_CALLS = 300;
/** Number of refused attempts before a lost connection opens again. */
const REFUSED = 3;

const profile = (/** @type {string} */ summary) => ({ summary, options: {} });
let calls = 0;
let opened = 0;

/** @param {string} name */
const failed = (name) => Object.assign(new Error(`planned: ${name}`), { code: name });

/**
 * @param {number} id
 * @param {import('../../lib/types.js').Dataset} dataset
 */
function wrong(id, dataset) {
  if (id % 10 === 1) return undefined;
  if (id % 10 === 2) return dataset.value(id + 1);
  if (id % 10 === 3) throw failed('E_PLANNED');
  return dataset.value(id);
}

export const storage = defineStorage({
  name: 'planned',
  summary: 'faults that a test plans',
  package: null,
  server: null,
  rows: ['get'],
  profiles: {
    default: profile('no faults'),
    wrong: profile('of ten rows one is missing, one is another, one is refused'),
    silent: profile('no reply from the 300th call on'),
    dies: profile('the process ends at the 600th call'),
    lost: profile('the connection is lost once'),
    slow: profile('2 ms for each reply'),
  },
  open: {
    async rows({ dataset, profile: { name } }) {
      opened += 1;
      return {
        async get(id) {
          calls += 1;
          if (name === 'slow') await sleep(2);
          if (name === 'dies' && calls === 2 * RIGHT_CALLS) process.exit(3);
          if (calls <= RIGHT_CALLS) return dataset.value(id);
          if (name === 'lost' && opened === 1) throw failed('ECONNRESET');
          if (name === 'lost' && opened <= 1 + REFUSED) throw failed('ECONNREFUSED');
          if (name === 'silent') await new Promise(() => {});
          return name === 'wrong' ? wrong(id, dataset) : dataset.value(id);
        },
        async close() {},
      };
    },
  },
});
