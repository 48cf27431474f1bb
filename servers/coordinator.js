/**
 * The coordinator of several load machines (docs/fleet.md): a separate Redis, never a measured one.
 * A holder of its token has only the permissions of the coordination on Dragstrip's keys: no other
 * keys, settings, users or script libraries.
 *
 * There are two tokens. The controller's is `SECRET:X:D` with an Ed25519 key pair (RFC 8037: X is
 * the public key, D the private one, in base64url); that of agents is `SECRET:X`, the password of
 * the coordinator. Agents verify with X the messages that the controller signs with D.
 */

import { generateKeyPairSync } from 'node:crypto';
import { defineRedisServer } from './redis-family.js';
import { randomSecret } from './secrets.js';

/** Prefix of every key of the coordination. */
export const COORDINATOR_PREFIX = 'dragstrip-fleet';

/** Permissions of its user, in the syntax of ACL SETUSER. */
export const RULES = [
  `~${COORDINATOR_PREFIX}:* resetchannels -@all +@read +@write +@connection +@transaction`,
  '+@scripting -@dangerous -function -fcall -fcall_ro +info +time',
].join(' ');

/**
 * @param {string} token token of the controller, or of agents
 * @returns {string} token of agents
 */
export function agentsToken(token) {
  return token.split(':', 2).join(':');
}

/** @returns {{ password: string, controller: string }} password: password of agents */
export function createTokens() {
  const { x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const controller = [randomSecret(), x, d].join(':');
  return { password: agentsToken(controller), controller };
}

export default defineRedisServer({
  name: 'coordinator',
  title: 'Redis',
  summary: 'the coordinator of several load machines (race --agents): a Redis of its own',
  program: 'redis',
  endpoint: {
    default: '127.0.0.1:6390',
    env: 'DRAGSTRIP_COORDINATOR',
    flag: 'coordinator',
    summary: 'the coordinator',
  },
  credentials: {
    user: 'DRAGSTRIP_COORDINATOR_USER',
    password: 'DRAGSTRIP_COORDINATOR_TOKEN',
    controller: 'DRAGSTRIP_COORDINATOR_CONTROLLER_TOKEN',
  },
  secrets: createTokens,
  packages: ['redis-server', 'redis-tools'],
  product: null,
  binariesOf: 'redis',
  rules: RULES,
  keepsRows: false,
});
