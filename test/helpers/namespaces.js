/** Namespaces of workloads on the servers of a test, without a run around them. */

import { openNamespace } from '../../data/namespaces/index.js';

/**
 * @param {{ name: string, address: import('../../lib/types.js').Address,
 *   credentials: import('../../lib/types.js').Credentials }[]} servers
 * @param {import('../../lib/types.js').Namespace} namespace
 * @returns {Promise<() => Promise<void>>} function that releases them
 */
export async function claimOn(servers, namespace) {
  /** @param {(handle: import('../../lib/types.js').NamespaceHandle) => Promise<unknown>} work */
  const each = async (work) => {
    for (const { name, address, credentials } of servers) {
      const handle = await openNamespace(name, namespace, { address, credentials });
      await work(handle).finally(() => handle.close());
    }
  };
  await each((handle) => handle.claim());
  return () => each((handle) => handle.release());
}
