/**
 * Machines of a network as network namespaces: a bridge in one, the others connected to it. Needs
 * root and iproute2; the machine's network is not changed.
 */

import { execFileSync } from 'node:child_process';

/** @param {string} line @returns {string} */
function ip(line) {
  return execFileSync('ip', line.split(' '), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** @returns {string | null} reason why they are not available; null: available */
export function missingNamespaces() {
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
      // It does not exist.
    }
  }
}

/**
 * @typedef {object} Network
 * @property {(member: string) => string[]} inside command prefix of a program that runs there
 * @property {(member: string) => string} address
 * @property {(member: string, state: 'up' | 'down') => void} link sets the state of a member's link
 * @property {() => void} remove
 */

/**
 * @param {readonly string[]} members members; the first has the bridge
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
        // It was not created.
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
