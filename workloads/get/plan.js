/** Which rows are read, and how often they are written: options of the workloads get and mix. */

import { usageError } from '../../lib/errors.js';
import { count, flag, reading, text } from '../../lib/options.js';
import { parseColumns } from '../../lib/own-columns.js';
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

const SAMPLE_DEFAULT = 10_000;

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
  readOnly: flag({
    help: 'read keys that are on the server of the Redis family already, and write nothing',
  }),
  keysFrom: text({ value: '<file>', help: '--read-only: keys to draw from, one per line' }),
  table: reading(checkedBy(parseColumns), {
    value: '<table>',
    help: '--read-only: a table of MariaDB or MySQL instead, "shop.users(id,name)": key and value',
  }),
  sample: count(1, 100_000, undefined, {
    help: '--read-only: number of keys drawn, by SCAN or from the file',
    shown: `${SAMPLE_DEFAULT}`,
  }),
});

/** @param {[string, unknown]} option */
const isGiven = ([, value]) => value !== undefined;

/**
 * @param {'get' | 'mix'} name
 * @returns {NonNullable<import('../../lib/types.js').WorkloadDefinition['plan']>}
 */
export function planOf(name) {
  return ({ keys, mix, readOnly, keysFrom, sample, table }, { isNamed }) => {
    const [given] = Object.entries({ 'keys-from': keysFrom, table, sample }).find(isGiven) ?? [];
    if (!readOnly && given !== undefined) {
      throw usageError(`--${given} requires --read-only`, 'add --read-only');
    }
    if (readOnly && name === 'mix') {
      throw usageError('--read-only: the workload mix writes', 'use --workload get');
    }
    if (mix !== undefined && name === 'get' && isNamed) {
      throw usageError('a mix belongs to the workload mix, not to get');
    }
    return {
      workload: {
        workload: mix === undefined ? name : 'mix',
        workloadOptions: {
          ...(keys && { keys }),
          ...(mix && { mix }),
          ...(readOnly && { readOnly, sample: sample ?? SAMPLE_DEFAULT }),
          ...(keysFrom && { keysFrom }),
          ...(table && { table }),
        },
      },
    };
  };
}
