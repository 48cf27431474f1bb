/**
 * sysbench as a contender of the like-shape sweep: the point read of Dragstrip's rows by
 * libmariadb, one request in flight per connection and thread. From PATH, or from the
 * distribution's packages, unpacked into the state folder.
 */

import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROW_NAMES } from '../../lib/dataset.js';
import { openApt } from '../../servers/apt.js';
import { unpackServer } from '../../servers/fetch.js';
import { findBinaries } from '../../servers/programs.js';

const SCRIPT = fileURLToPath(new URL('./sysbench.lua', import.meta.url));
const WANTED = { name: 'sysbench', packages: ['sysbench'], programs: ['sysbench'] };

/**
 * @param {{ home: string, address: import('../../lib/types.js').Address, credentials:
 *   import('../../lib/types.js').Credentials, rows: number, fetch: boolean }} where fetch: if
 *   it is not installed
 * @returns {Promise<import('../like-shape.js').Contender>}
 */
export async function sysbench({ home, address, credentials, rows, fetch }) {
  const { name } = WANTED;
  const look = () => findBinaries({ required: [name], home, servers: [name] });
  let program = await look();
  if (program === null && fetch) {
    const failure = await fetchPackages(home);
    if (failure !== null) return { name, missing: `its package cannot be fetched: ${failure}` };
    program = await look();
  }
  if (program === null) return { name, missing: 'it is not installed' };
  const { programs, env = {} } = program;
  return {
    name,
    async measure({ connections, perConnection, seconds }) {
      if (perConnection > 1) return null;
      const folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-sysbench-'));
      try {
        const file = path.join(folder, 'options');
        const { host, port } = address['sql'];
        const { user, password } = credentials;
        // In a file, because arguments are visible to other users.
        const options = {
          'db-driver': 'mysql',
          'mysql-host': host,
          'mysql-port': port,
          'mysql-user': user ?? 'root',
          'mysql-password': password ?? '',
          'mysql-db': ROW_NAMES.database,
          threads: connections,
          time: Math.max(1, Math.round(seconds)),
          events: 0,
        };
        const lines = Object.entries(options).map(([key, value]) => `${key}=${value}`);
        await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
        const scriptOptions = [`--source=${ROW_NAMES.table}`, `--rows=${rows}`];
        const args = [`--config-file=${file}`, SCRIPT, ...scriptOptions, 'run'];
        return rateOf(await output(programs[name], args, env));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/**
 * @param {string} home
 * @returns {Promise<string | null>} null: it is available now
 */
async function fetchPackages(home) {
  const packages = path.join(home, 'packages');
  await mkdir(packages, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(path.join(packages, '.partial-'));
  try {
    const apt = await openApt(path.join(folder, 'apt'), {});
    await unpackServer(WANTED, apt, path.join(folder, WANTED.name));
    await rename(path.join(folder, WANTED.name), path.join(packages, WANTED.name));
    return null;
  } catch (error) {
    return error.message;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<string>} its output
 */
function output(program, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn('timeout', ['--kill-after=1', '60', program, ...args], {
      env: { ...process.env, ...env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += chunk;
      });
    }
    child.once('error', reject);
    child.once('close', (status) => {
      const [message = 'no message'] = text.split('\n').filter((line) => /FATAL/.test(line));
      if (status === 0) resolve(text);
      else reject(new Error(`sysbench ended with status ${status}: ${message}`));
    });
  });
}

/**
 * @param {string} text
 * @returns {number} operations per second
 */
export function rateOf(text) {
  const match = /queries:\s+\d+\s+\(([\d.]+) per sec\.\)/.exec(text);
  if (match === null) throw new Error('sysbench printed no rate');
  return Number(match[1]);
}
