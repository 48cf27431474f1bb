/** What a storage is called with its profile. */

/**
 * @param {{ storage: string, profile: string }} benchmark
 * @returns {string} `ioredis`, `ioredis:tuned`
 */
export function labelOf({ storage, profile }) {
  return profile === 'default' ? storage : `${storage}:${profile}`;
}
