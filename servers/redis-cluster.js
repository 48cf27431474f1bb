/**
 * A Redis Cluster of three primaries and three replicas: how to find, start and probe it. Starting
 * is in cluster-start.js.
 */

import { firstAnswer, formatEndpoint } from '../lib/address.js';
import { defineServer } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import { findListener } from '../measure/listener.js';
import { nodesOf, parseSlots } from '../protocols/resp/slots.js';
import { callRedis, fieldsOf } from './cluster-call.js';
import { startCluster } from './cluster-start.js';
import { findBinaries } from './programs.js';
import { readSettings } from './redis-family.js';

/** @typedef {import('../lib/types.js').Address} Address */
/** @typedef {import('../lib/types.js').Credentials} Credentials */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

const NAME = 'redis-cluster';
const TITLE = 'Redis Cluster';
const FLAG = 'redis-cluster';
const CREDENTIALS = Object.freeze({
  user: 'DRAGSTRIP_REDIS_CLUSTER_USER',
  password: 'DRAGSTRIP_REDIS_CLUSTER_PASSWORD',
});
const HINT =
  `start one with \`npx dragstrip servers start ${NAME}\`, ` +
  `or give the address of a node with --${FLAG}`;
/** Settings that determine the duration of a failover, and the refused requests meanwhile. */
const SETTINGS = ['cluster-node-timeout', 'cluster-require-full-coverage'];

export default defineServer({
  name: NAME,
  summary: 'Redis Cluster: three primaries and three replicas, rows spread over them by slot',
  endpoints: {
    main: {
      default: '127.0.0.1:7000',
      env: 'DRAGSTRIP_REDIS_CLUSTER',
      flag: FLAG,
      summary: 'any node of a Redis Cluster',
      schemes: ['redis', 'rediss', 'valkey', 'valkeys'],
    },
  },
  credentials: CREDENTIALS,
  packages: ['redis-server', 'redis-tools'],
  programs: ['redis-server'],
  tls: true,

  find(home) {
    const programs = { required: ['redis-server'], optional: ['redis-cli'] };
    return findBinaries({ ...programs, home, servers: ['redis', NAME] });
  },

  start: (context) => startCluster(NAME, context),

  async probe(address, credentials) {
    const { endpoint, nodes, primaries } = await findState(address, credentials);
    const { product, version, settings } = await readSettings(endpoint, credentials, {
      title: TITLE,
      credentials: CREDENTIALS,
      hint: HINT,
      settings: SETTINGS,
    });
    return {
      version: product === 'Redis' ? version : `${product} ${version}`,
      settings: { nodes: `${primaries} primaries, ${nodes - primaries} replicas`, ...settings },
      pid: await findListener(endpoint),
    };
  },

  async nodes(address, credentials) {
    return firstAnswer(address, (endpoint) => readNodes(endpoint, credentials));
  },
});

const STATE = /: its cluster state is /;

/**
 * @param {import('../lib/types.js').Address} address
 * @param {Credentials} credentials
 * @returns {ReturnType<typeof readState>} version of the first node in service
 * @throws the state of the cluster according to the first node that replies, or the reason why none
 *   replies
 */
async function findState(address, credentials) {
  /** @type {unknown} */
  let report;
  try {
    return await firstAnswer(address, async (one) => {
      try {
        return await readState(one, credentials);
      } catch (error) {
        if (STATE.test(error.message)) report ??= error;
        throw error;
      }
    });
  } catch (error) {
    throw report ?? error;
  }
}

/**
 * @param {Endpoint} endpoint
 * @param {Credentials} credentials
 * @returns {Promise<{ endpoint: Endpoint, nodes: number, primaries: number }>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: not a node of a cluster, or the
 *   cluster is not in service
 */
async function readState(endpoint, credentials) {
  const where = `${TITLE} at ${formatEndpoint(endpoint)}`;
  const text = await call(endpoint, credentials, ['CLUSTER', 'INFO']);
  const { cluster_state: state, ...fields } = fieldsOf(text);
  if (state !== 'ok') {
    throw targetError(
      `${where}: its cluster state is ${state}, ${fields['cluster_slots_ok']} of 16384 slots are served`,
      'check which of its nodes is down, or restart it',
    );
  }
  return {
    endpoint,
    nodes: Number(fields['cluster_known_nodes']),
    primaries: Number(fields['cluster_size']),
  };
}

/**
 * @param {Endpoint} endpoint
 * @param {Credentials} credentials
 * @returns {Promise<Endpoint[]>} encrypted if this one is
 */
async function readNodes(endpoint, credentials) {
  const reply = await call(endpoint, credentials, ['CLUSTER', 'SLOTS']);
  const { tls } = endpoint;
  return nodesOf(parseSlots(reply, endpoint.host ?? '')).map((node) => ({
    ...node,
    ...(tls && { tls }),
  }));
}

/**
 * @param {Endpoint} endpoint
 * @param {Credentials} credentials
 * @param {readonly string[]} words
 */
function call(endpoint, credentials, words) {
  return callRedis(endpoint, credentials, words, {
    title: TITLE,
    hint: HINT,
    password: CREDENTIALS.password,
  });
}
