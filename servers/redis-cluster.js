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
/** They decide how long a failover takes, and what is refused meanwhile. */
const SETTINGS = ['cluster-node-timeout', 'cluster-require-full-coverage'];

export default defineServer({
  name: NAME,
  summary: 'Redis Cluster: three primaries and three replicas, rows spread over them by slot',
  endpoints: {
    main: {
      default: '127.0.0.1:7000',
      env: 'DRAGSTRIP_REDIS_CLUSTER',
      flag: FLAG,
      summary: 'a node of a Redis Cluster; it names the others',
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
    const { endpoint, nodes, primaries } = await firstAnswer(address, (one) =>
      readState(one, credentials),
    );
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

/**
 * @param {Endpoint} endpoint
 * @param {Credentials} credentials
 * @returns {Promise<{ endpoint: Endpoint, nodes: number, primaries: number }>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET if it is no node of a cluster, or of
 *   one that does not serve
 */
async function readState(endpoint, credentials) {
  const where = `${TITLE} at ${formatEndpoint(endpoint)}`;
  const text = await call(endpoint, credentials, ['CLUSTER', 'INFO']);
  const { cluster_state: state, ...fields } = fieldsOf(text);
  if (state !== 'ok') {
    throw targetError(
      `${where}: its cluster state is ${state}, ${fields['cluster_slots_ok']} of 16384 slots are served`,
      'see which of its nodes is down, or stop it and start it again',
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
 * @returns {Promise<Endpoint[]>} encrypted where this one is
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
