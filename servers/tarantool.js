/**
 * Tarantool: how to find, start and probe it. Its spaces are defined in box.lua, which also serves
 * for manual starts.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatEndpoint } from '../lib/address.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findListener } from '../measure/listener.js';
import { readProgramVersion } from './command.js';
import { ask, notThere, PROBE_TIMEOUT_MS } from './conversation.js';
import { startDaemon } from './daemon.js';
import { findBinaries } from './programs.js';
import { OWN_USER, randomSecret, writePrivate } from './secrets.js';

/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

const SCRIPT = fileURLToPath(new URL('../box.lua', import.meta.url));
/** The greeting has 128 bytes and begins with the version (IPROTO, "Greeting packet"). */
const GREETING = /^Tarantool (\d\S*)/;
/** First line of `tarantool --version`. */
const VERSION = /^Tarantool (?:Enterprise )?(\d[^-\s]*)/;
const GREETING_LENGTH = 128;
const HINT =
  'start one with `npx dragstrip servers start tarantool`, or give its address with --tarantool';

export default defineServer({
  name: 'tarantool',
  summary: 'Tarantool: in-memory tuples, IPROTO',
  endpoints: {
    main: {
      default: '127.0.0.1:3301',
      env: 'DRAGSTRIP_TARANTOOL',
      flag: 'tarantool',
      summary: 'Tarantool, binary protocol',
      schemes: ['tarantool'],
    },
  },
  credentials: { user: 'DRAGSTRIP_TARANTOOL_USER', password: 'DRAGSTRIP_TARANTOOL_PASSWORD' },
  packages: ['tarantool'],
  programs: ['tarantool'],

  find(home) {
    return findBinaries({ required: ['tarantool'], home, servers: ['tarantool'] });
  },

  async start(context) {
    const program = context.binaries.programs['tarantool'];
    const secrets = { user: OWN_USER, password: randomSecret() };
    return startDaemon(
      {
        name: 'tarantool',
        version: await readProgramVersion(program, ['--version'], VERSION, context.binaries.env),
        endpoints: ['main'],
        secrets,
        plan(folder, ports) {
          const secretFile = join(folder, 'box.secret');
          writePrivate(secretFile, secrets.password);
          // A copy, because the server's user may have no access to the folder of this package.
          const script = join(folder, 'box.lua');
          writePrivate(script, readFileSync(SCRIPT, 'utf8'));
          return {
            program,
            args: [script],
            env: {
              DRAGSTRIP_BOX_LISTEN: `127.0.0.1:${ports['main']}`,
              DRAGSTRIP_BOX_FOLDER: folder,
              DRAGSTRIP_BOX_KEEP: context.owned ? 'no' : 'yes',
              DRAGSTRIP_BOX_USER: secrets.user,
              DRAGSTRIP_BOX_SECRET_FILE: secretFile,
            },
          };
        },
        answers: ({ main }) => callsOurs(main, secrets),
      },
      context,
    );
  },

  byHand: ({ programs }) => [
    {
      program: programs['tarantool'],
      args: [SCRIPT],
      env: { DRAGSTRIP_BOX_FOLDER: 'tarantool' },
    },
  ],

  async probe({ main }, credentials) {
    const answer = await ask(main, { send: null, enough: isGreeting });
    const match = GREETING.exec(answer.bytes.toString('latin1'));
    if (match === null) throw notThere('Tarantool', main, answer, HINT);
    const settings = await readSettings(main, credentials);
    return { version: match[1], settings, pid: await findListener(main) };
  },
});

/** @param {Buffer} bytes */
function isGreeting(bytes) {
  // Reply that does not start like a greeting.
  return bytes.length >= GREETING_LENGTH || !'Tarantool'.startsWith(bytes.toString('latin1', 0, 9));
}

/**
 * The greeting is not sufficient, because it is sent before box.lua has run.
 * @param {Endpoint} endpoint
 * @param {Credentials} secrets
 */
async function callsOurs(endpoint, secrets) {
  return readSettings(endpoint, secrets).then(
    (settings) => Object.keys(settings).length > 0,
    () => false,
  );
}

/**
 * @param {Endpoint} endpoint
 * @param {Credentials} credentials
 * @returns {Promise<Record<string, string>>} empty if the server does not run box.lua
 */
async function readSettings(endpoint, credentials) {
  // @ts-expect-error the driver has no types
  const { default: Tarantool } = await import('tarantool-driver');
  const client = new Tarantool({
    ...endpoint,
    username: credentials.user ?? null,
    password: credentials.password ?? null,
    lazyConnect: true,
    timeout: PROBE_TIMEOUT_MS,
    retryStrategy: () => null,
  });
  client.on('error', () => {}); // the same error rejects the request
  try {
    await client.connect();
  } catch (error) {
    throw targetError(
      `Tarantool at ${formatEndpoint(endpoint)}: ${error.message}`,
      'set DRAGSTRIP_TARANTOOL_USER and DRAGSTRIP_TARANTOOL_PASSWORD',
      error,
    );
  }
  /** @type {any} */
  const reply = await client.call('dragstrip_settings').catch(() => []);
  client.disconnect();
  return reply.flat()[0] ?? {}; // the driver's call returns each result as a tuple
}
