/** Profiles over TLS: derived from those of a TLS-capable storage, never declared. */

/** Name of the profile `default` with TLS; for others a suffix, `tuned-tls`. */
export const TLS_PROFILE = 'tls';
const SUFFIX = `-${TLS_PROFILE}`;

/**
 * @param {string} name name of a profile
 * @returns {string} name of the same profile over TLS
 */
export function tlsProfileOf(name) {
  return name === 'default' ? TLS_PROFILE : `${name}${SUFFIX}`;
}

/**
 * @param {string} name
 * @returns {string} the profile that it is derived from; other names are unchanged
 */
export function baseProfileOf(name) {
  if (name === TLS_PROFILE) return 'default';
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name;
}

/**
 * @param {Pick<import('./types.js').Contender, 'profiles' | 'tls'>} definition
 * @param {string} name
 * @returns {import('./types.js').Profile | null} declared or derived; null: none
 */
export function findProfile({ profiles, tls }, name) {
  if (Object.hasOwn(profiles, name)) return profiles[name];
  const base = baseProfileOf(name);
  if (tls !== true || base === name || !Object.hasOwn(profiles, base)) return null;
  const { summary, ...rest } = profiles[base];
  return { ...rest, summary: `${summary}, over TLS`, tls: true };
}
