/**
 * Machines of a network as network namespaces: a bridge in one, the others behind it. They need
 * root and iproute2; nothing of this machine's own network is touched.
 */

import { execFileSync } from 'node:child_process';

/** @param {string} line @returns {string} */
function ip(line) {
  return execFileSync('ip', line.split(' '), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** @returns {string | null} why there can be none here; null: there can */
export function lackOfNamespaces() {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const name = `dsprobe${process.pid}`;
  try {
    ip(`netns add ${name}`);
    ip(`link add dsp${process.pid} type veth peer name eth0 netns ${name}`);
    return null;
  } catch (error) {
    const { code, stderr = '' } = error;
    return code === 'ENOENT' ? 'iproute2 is not installed' : `no namespaces: ${stderr}`.trim();
  } finally {
    try {
      ip(`netns del ${name}`);
    } catch {
      // There is none.
    }
  }
}

/**
 * @typedef {object} Network
 * @property {(member: string) => string[]} inside words before a program that is to run there
 * @property {(member: string) => string} address
 * @property {(member: string, state: 'up' | 'down') => void} link sets the link of a member
 * @property {() => void} remove
 */

/**
 * @param {readonly string[]} members the first has the bridge
 * @returns {Network}
 */
export function createNetwork(members) {
  const [hub, ...others] = members;
  const nameOf = (/** @type {string} */ member) => `ds${process.pid}${member}`;
  const address = (/** @type {string} */ member) => `10.77.0.${members.indexOf(member) + 1}`;
  const remove = () => {
    for (const member of members) {
      try {
        ip(`netns del ${nameOf(member)}`);
      } catch {
        // It was not made.
      }
    }
  };
  try {
    for (const member of members) {
      ip(`netns add ${nameOf(member)}`);
      ip(`-n ${nameOf(member)} link set lo up`);
    }
    ip(`-n ${nameOf(hub)} link add br0 type bridge`);
    ip(`-n ${nameOf(hub)} addr add ${address(hub)}/24 dev br0`);
    ip(`-n ${nameOf(hub)} link set br0 up`);
    for (const [i, member] of others.entries()) {
      const [near, far] = [nameOf(hub), nameOf(member)];
      ip(`link add port${i} netns ${near} type veth peer name eth0 netns ${far}`);
      ip(`-n ${near} link set port${i} master br0`);
      ip(`-n ${near} link set port${i} up`);
      ip(`-n ${far} addr add ${address(member)}/24 dev eth0`);
      ip(`-n ${far} link set eth0 up`);
    }
  } catch (error) {
    remove();
    throw error;
  }
  return {
    inside: (member) => ['ip', 'netns', 'exec', nameOf(member)],
    address,
    link: (member, state) => void ip(`-n ${nameOf(member)} link set eth0 ${state}`),
    remove,
  };
}
