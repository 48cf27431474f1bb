/**
 * The key pair of an agent for one lease: the public key goes with its first message, and the
 * controller takes nothing else for that seat than what was signed with the private one. All agents
 * share a token; this is what keeps one of them from writing the seat of another.
 */

import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';

/** @typedef {{ run: string, seat: number, step: number, payload?: string }} Signed */

/** @returns {{ key: string, signed: (what: Signed) => string }} key: the public one */
export function createSeatKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    signed: (what) => sign(null, bytesOf(what), privateKey).toString('base64'),
  };
}

/**
 * @param {string} key of the seat
 * @param {Signed} what
 * @param {string} signature
 * @returns {boolean}
 */
export function isSignedBy(key, what, signature) {
  try {
    const publicKey = createPublicKey({
      key: Buffer.from(key, 'base64'),
      type: 'spki',
      format: 'der',
    });
    return verify(null, bytesOf(what), publicKey, Buffer.from(signature, 'base64'));
  } catch {
    return false; // no key
  }
}

/** @param {Signed} what payload: of an upload; absent: the agent is ready to start */
function bytesOf({ run, seat, step, payload }) {
  return Buffer.from(JSON.stringify([run, seat, step, payload ?? null]));
}
