/** Options of the workloads get and mix: rows to read, and fraction of writes. */

import { usageError } from '../../lib/errors.js';
import { count, duration, flag, reading, text } from '../../lib/options.js';
import { parseColumns } from '../../lib/own-columns.js';
import { CRUD_DEFAULT, isPlainMix, KINDS, kindsOf, parseMix } from '../mix/weights.js';
import { parseKeys } from './keys.js';

/**
 * @param {(text: string) => unknown} parse throws if it is wrong
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
    help: `mix of operations, such as get:95,set:5 or get:90,insert:5,del:5; ${KINDS.join(', ')}`,
  }),
  ttl: duration(undefined, {
    help: 'inserts of --mix expire after this time: get:90,insert:10 --ttl 2s',
  }),
  readOnly: flag({
    help: 'read existing keys from Redis or Valkey; write nothing',
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
 * @param {string | undefined} mix
 * @param {number | undefined} ttl
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
function requireTtl(mix, ttl) {
  if (ttl === undefined) return;
  const kinds = mix === undefined ? [] : kindsOf(parseMix(mix));
  const example = 'write for example --mix get:90,insert:10 --ttl 2s';
  if (!kinds.includes('insert')) throw usageError('--ttl: no row is inserted', example);
  if (kinds.includes('del')) {
    throw usageError('--ttl and del in --mix: rows that expire are not deleted', example);
  }
}

/**
 * @param {'get' | 'mix' | 'crud'} name
 * @returns {NonNullable<import('../../lib/types.js').WorkloadDefinition['plan']>}
 */
export function planOf(name) {
  return ({ keys, mix: asked, ttl, readOnly, keysFrom, sample, table, valueSize }, { isNamed }) => {
    const mix = asked ?? (name === 'crud' ? CRUD_DEFAULT : undefined);
    const [option] = Object.entries({ 'keys-from': keysFrom, table, sample }).find(isGiven) ?? [];
    if (!readOnly && option !== undefined) {
      throw usageError(`--${option} requires --read-only`, 'add --read-only');
    }
    if (readOnly && name !== 'get') {
      throw usageError(`--read-only: the workload ${name} writes`, 'use --workload get');
    }
    if (mix !== undefined && name === 'get' && isNamed) {
      throw usageError('a mix belongs to the workload mix, not to get');
    }
    const isPlain = name !== 'crud' && (mix === undefined || isPlainMix(parseMix(mix)));
    requireTtl(mix, ttl);
    if (!isPlain && [valueSize].flat().length > 1) {
      throw usageError(
        `--mix ${mix} and several --value-size cannot be combined`,
        'write one size',
      );
    }
    return {
      workload: {
        workload: mix === undefined ? name : isPlain ? 'mix' : 'crud',
        workloadOptions: {
          ...(keys && { keys }),
          ...(mix && { mix }),
          ...(ttl && { ttlMs: ttl }),
          ...(readOnly && { readOnly, sample: sample ?? SAMPLE_DEFAULT }),
          ...(keysFrom && { keysFrom }),
          ...(table && { table }),
        },
      },
    };
  };
}
