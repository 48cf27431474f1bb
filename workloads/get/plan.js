/** Which rows are read, and how often they are written: options of the workloads get and mix. */

import { usageError } from '../../lib/errors.js';
import { reading } from '../../lib/options.js';
import { parseMix } from '../mix/weights.js';
import { parseKeys } from './keys.js';

/**
 * @param {(text: string) => unknown} parse throws where it is wrong
 * @returns {(text: string) => string} the text
 */
function checkedBy(parse) {
  return (text) => {
    parse(text);
    return text;
  };
}

/** @type {import('../../lib/options.js').OptionTable} */
export const options = Object.freeze({
  keys: reading(checkedBy(parseKeys), {
    value: '<distribution>',
    help: 'key distribution: uniform, sequential, zipf:0.99, hotspot:0.1:0.9 (keys:operations)',
    shown: 'uniform',
  }),
  mix: reading(checkedBy(parseMix), {
    value: '<weights>',
    help: 'mix of reads and writes, such as get:95,set:5; writes leave values unchanged',
  }),
});

/**
 * @param {'get' | 'mix'} name
 * @returns {NonNullable<import('../../lib/types.js').WorkloadDefinition['plan']>}
 */
export function planOf(name) {
  return ({ keys, mix }, { isNamed }) => {
    if (mix !== undefined && name === 'get' && isNamed) {
      throw usageError('a mix belongs to the workload mix, not to get');
    }
    return {
      workload: {
        workload: mix === undefined ? name : 'mix',
        workloadOptions: { ...(keys && { keys }), ...(mix && { mix }) },
      },
    };
  };
}
