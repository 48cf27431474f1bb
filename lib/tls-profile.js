/** Profiles over TLS: derived from those of a storage whose driver has it, never declared. */

/** Of the profile `default`; of others a suffix, `tuned-tls`. */
export const TLS_PROFILE = 'tls';
const SUFFIX = `-${TLS_PROFILE}`;

/**
 * @param {string} name of a profile
 * @returns {string} of the same over TLS
 */
export function tlsProfileOf(name) {
  return name === 'default' ? TLS_PROFILE : `${name}${SUFFIX}`;
}

/**
 * @param {string} name
 * @returns {string} the profile that it is derived from; of others the same
 */
export function baseProfileOf(name) {
  if (name === TLS_PROFILE) return 'default';
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name;
}

/**
 * @param {Pick<import('./types.js').Contender, 'profiles' | 'tls'>} definition
 * @param {string} name
 * @returns {import('./types.js').Profile | null} declared or derived; null: there is none
 */
export function findProfile({ profiles, tls }, name) {
  if (Object.hasOwn(profiles, name)) return profiles[name];
  const base = baseProfileOf(name);
  if (tls !== true || base === name || !Object.hasOwn(profiles, base)) return null;
  const { summary, ...rest } = profiles[base];
  return { ...rest, summary: `${summary}, over TLS`, tls: true };
}
