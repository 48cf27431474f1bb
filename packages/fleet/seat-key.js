/**
 * Authenticity of messages: all agents share a token, so it identifies none. An agent signs the
 * messages of a lease with its own key pair, whose public key is in its first message; the
 * controller accepts no others for that seat. The controller signs leases and orders with the key
 * of its token (servers/coordinator.js); agents accept no others.
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
 * @param {string} key private key of the seat
 * @param {Signed} what
 * @param {string} made signature
 * @returns {boolean}
 */
export function isSignedBy(key, what, made) {
  return verifies(key, textOf(what), made);
}

/**
 * @param {string | undefined} token
 * @returns {(text: string) => string} signs messages of the controller
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: this is the token of agents
 */
export function signerOf(token = '') {
  requireToken('race --agents', token);
  const [, x, d] = token.split(':');
  if (d === undefined) {
    throw usageError(
      'race --agents: this is an agent token, which cannot sign orders',
      'specify the controller’s token with --token-file (docs/fleet.md)',
    );
  }
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' });
  return (text) => signature(text, key);
}

/**
 * @param {string | undefined} token token of agents, or of the controller
 * @returns {(text: string, made: string) => boolean} whether the controller has signed it
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: it has no key
 */
export function verifierOf(token = '') {
  requireToken('agent', token);
  const [, x] = token.split(':');
  if (x !== undefined) return (text, made) => verifies(x, text, made);
  throw usageError(
    'agent: the token has no public key for verifying orders',
    'use a token of `servers start coordinator`, or create one (docs/fleet.md)',
  );
}

/**
 * @param {string} command
 * @param {string} token
 */
function requireToken(command, token) {
  if (token !== '') return;
  throw usageError(
    `${command} needs the token of a coordinator`,
    'add --token-file FILE, or start a coordinator here: npx dragstrip servers start coordinator',
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

/** @param {Signed} what payload: content of an upload; absent: the agent is ready to start */
function textOf({ run, seat, step, payload }) {
  return JSON.stringify([run, seat, step, payload ?? null]);
}
