/** The address of Redis from the options of redis-benchmark and redis-cli. */

import { usageError } from '../lib/errors.js';
import { count, text } from '../lib/options.js';

/** @type {import('../lib/options.js').OptionTable} */
export const addressOptions = Object.freeze({
  host: text({ also: ['-h'], value: '<value>', help: 'Redis’ host', shown: '127.0.0.1' }),
  port: count(1, 65_535, undefined, {
    also: ['-p'],
    help: 'Redis’ port',
    shown: '6379; without host and port: as for --redis',
  }),
});

/**
 * @param {Record<string, any>} given
 * @param {Readonly<Record<string, string>>} addresses by flag name
 * @returns {Record<string, string>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: together with --redis
 */
export function redisAddress({ host, port, socket }, addresses) {
  const hasPlace = (host ?? port) !== undefined;
  if (!hasPlace && socket === undefined) return { ...addresses };
  if (addresses['redis'] !== undefined) {
    const flags = socket === undefined ? '--host or --port' : '--host, --port or --socket';
    throw usageError(`--redis and ${flags} cannot be combined`, 'write --redis host:port');
  }
  const name = host ?? '127.0.0.1';
  const parts = [
    ...(hasPlace ? [`${name.includes(':') ? `[${name}]` : name}:${port ?? 6379}`] : []),
    ...(socket === undefined ? [] : [`unix:${socket}`]),
  ];
  return { ...addresses, redis: parts.join(',') };
}
