/** Label of a storage with its profile. */

/** Separator before the server, in the name of a storage on several: `ioredis on valkey`. */
const ON = ' on ';

/**
 * @param {{ storage: string, profile: string }} benchmark
 * @returns {string} `ioredis`, `ioredis:tuned`, `ioredis:tuned on valkey`: as named by the user,
 *   the default profile has no suffix
 */
export function labelOf({ storage, profile }) {
  if (profile === 'default') return storage;
  const [driver, ...server] = storage.split(ON);
  return [`${driver}:${profile}`, ...server].join(ON);
}
