/**
 * Who wrote what: all agents share a token, so that it says nothing. An agent signs what it writes
 * for a lease with a key pair of its own, whose public key goes with its first message, and the
 * controller takes nothing else for that seat. The controller signs leases and orders with the key
 * of its token (servers/coordinator.js), and agents take nothing else.
 */

import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { usageError } from '../../lib/errors.js';

/** @typedef {{ run: string, seat: number, step: number, payload?: string }} Signed */

/** @returns {{ key: string, signed: (what: Signed) => string }} key: the public one */
export function createSeatKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = /** @type {string} */ (publicKey.export({ format: 'jwk' }).x);
  return { key, signed: (what) => signature(textOf(what), privateKey) };
}

/**
 * @param {string} key of the seat
 * @param {Signed} what
 * @param {string} made signature
 * @returns {boolean}
 */
export function isSignedBy(key, what, made) {
  return verifies(key, textOf(what), made);
}

/**
 * @param {string | undefined} token
 * @returns {(text: string) => string} signs as the controller
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: it is the token of agents
 */
export function signerOf(token = '') {
  const [, x, d] = token.split(':');
  if (d === undefined) {
    throw usageError(
      'race --agents: this token is that of agents, which cannot give orders',
      'name the file of the controller’s token by --token-file (docs/fleet.md)',
    );
  }
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' });
  return (text) => signature(text, key);
}

/**
 * @param {string | undefined} token of agents, or of the controller
 * @returns {(text: string, made: string) => boolean} whether the controller has signed it
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: it has no key
 */
export function verifierOf(token = '') {
  const [, x] = token.split(':');
  if (x !== undefined) return (text, made) => verifies(x, text, made);
  throw usageError(
    'agent: this token has no key of the controller, whose orders could not be told from others',
    'use a token of `servers start coordinator`, or make one (docs/fleet.md)',
  );
}

/**
 * @param {string} text
 * @param {import('node:crypto').KeyObject} key
 */
function signature(text, key) {
  return sign(null, Buffer.from(text), key).toString('base64');
}

/**
 * @param {string} x public key
 * @param {string} text
 * @param {string} made signature
 */
function verifies(x, text, made) {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text), key, Buffer.from(made, 'base64'));
  } catch {
    return false; // no key
  }
}

/** @param {Signed} what payload: of an upload; absent: the agent is ready to start */
function textOf({ run, seat, step, payload }) {
  return JSON.stringify([run, seat, step, payload ?? null]);
}
