/** Clients of Cassandra that connect to a single node, and the meaning of their errors. */

import { formatEndpoint } from './address.js';
import { FULL_DISK } from './hints.js';

/** Names of write errors in Cassandra and Java. */
const NO_SPACE = /FSWriteError|FSDiskFull|No space left|InsufficientDiskSpace/i;

/**
 * @param {import('./types.js').Endpoint} endpoint
 * @param {import('./types.js').Credentials} credentials
 * @param {import('cassandra-driver').ClientOptions & { once?: boolean }} [options] once: never
 *   resend a request
 * @returns {Promise<import('cassandra-driver').Client>} not yet connected
 */
export async function cassandraClient(endpoint, { user, password }, options = {}) {
  const { once = false, ...more } = options;
  const { auth, Client, policies } = await import('cassandra-driver');
  const { AllowListPolicy, RoundRobinPolicy } = policies.loadBalancing;
  const place = formatEndpoint(endpoint);
  return new Client({
    contactPoints: [place],
    ...more,
    // Only this node, for any cluster and data centre.
    policies: {
      loadBalancing: new AllowListPolicy(new RoundRobinPolicy(), [place]),
      ...(once && { retry: new policies.retry.FallthroughRetryPolicy() }),
    },
    ...(user !== undefined && {
      authProvider: new auth.PlainTextAuthProvider(user, password ?? ''),
    }),
  });
}

/**
 * @param {import('./types.js').Endpoint} endpoint
 * @param {import('./types.js').Credentials} credentials
 * @param {{ connectTimeout: number, readTimeout: number }} socketOptions
 * @returns {Promise<import('cassandra-driver').Client>}
 */
export async function connectCassandra(endpoint, credentials, socketOptions) {
  const client = await cassandraClient(endpoint, credentials, { socketOptions });
  await client.connect().catch(async (error) => {
    await client.shutdown();
    throw error;
  });
  return client;
}

/**
 * Its "All host(s) tried for query failed" contains the reasons of the hosts, and an error of the
 * server may be a Java exception.
 * @param {any} error
 * @returns {{ text: string, hint: string | undefined }}
 */
export function explainCassandra(error) {
  const [inner] = Object.values(error?.innerErrors ?? {});
  const [text] = String(inner?.message ?? error?.message ?? error).split('\n');
  // Data in its memory that it could not write remain inconsistent until then.
  const hint = NO_SPACE.test(text) ? `${FULL_DISK}, then start it again` : undefined;
  return { text, hint };
}
