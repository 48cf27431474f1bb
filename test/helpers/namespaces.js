/** Namespaces of workloads on the servers of a test, without a run around them. */

import { openNamespace } from '../../data/namespaces/index.js';

/**
 * @param {{ name: string, address: import('../../lib/types.js').Address }[]} servers
 * @param {import('../../lib/types.js').Namespace} namespace
 * @returns {Promise<() => Promise<void>>} releases them again
 */
export async function claimOn(servers, namespace) {
  /** @param {(handle: import('../../lib/types.js').NamespaceHandle) => Promise<unknown>} work */
  const each = async (work) => {
    for (const { name, address } of servers) {
      const handle = await openNamespace(name, namespace, { address, credentials: {} });
      await work(handle).finally(() => handle.close());
    }
  };
  await each((handle) => handle.claim());
  return () => each((handle) => handle.release());
}
