/** A Redis with special options, without a password, which ends with the test. */

import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEndpoint } from '../../lib/address.js';
import { launch } from '../../servers/process.js';
import { loadServer } from '../../servers/registry.js';
import { PACKAGES_HOME } from './servers.js';

/**
 * @param {string} folder data folder
 * @param {number} port
 * @param {readonly string[]} [words] more options
 * @returns {Promise<number>} its pid, when it replies or loads its rows
 */
export async function startRedis(folder, port, words = []) {
  const { find } = await loadServer('redis');
  const binaries = await find(PACKAGES_HOME);
  if (binaries === null) throw new Error('Redis is not there');
  const { identity } = await launch({
    program: binaries.programs['redis-server'],
    args: ['--bind', '127.0.0.1', '--port', `${port}`, '--save', '', '--dir', folder, ...words],
    cwd: folder,
    env: binaries.env ?? {},
    logPath: path.join(folder, 'log'),
    owned: true,
  });
  return identity.pid;
}

/** @param {string} address @returns {Promise<void>} resolves when it replies */
export async function redisAnswers(address) {
  const { probe } = await loadServer('redis');
  const main = parseEndpoint(address, '--redis');
  for (let left = 200; ; left -= 1) {
    try {
      await probe({ main }, {});
      return;
    } catch (error) {
      if (left === 0) throw error;
      await sleep(50);
    }
  }
}
