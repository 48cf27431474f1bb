/**
 * The colours of plots. A plot is drawn with tokens: unused colours that encode a role and a
 * series. Painting replaces them by the colours of a theme or by variables of a page, so one
 * drawing serves light, dark and print.
 *
 * Non-goals: layout, and the colours of a page's text (html/style.css has its own variables).
 */

/**
 * Roles other than storages.
 * @typedef {'ink' | 'muted' | 'grid' | 'surface' | 'shade' | 'driver-limit' | 'wire-limit' |
 *   'cpu-user' | 'cpu-system' | 'cpu-server' | 'neutral'} Role
 */

/** Number of distinct colours of storages; then they repeat. */
export const SERIES_COLORS = 16;
/** Index of parts without a series. */
const NOBODY = 0xff;
/** Tokens are `#fe`, the role (series colours come after all roles), the series. */
const TOKEN = /(fill|stroke)="#fe([0-9a-f]{2})([0-9a-f]{2})"/g;

/**
 * @param {Role} role
 * @param {number} [series] series of the mark, which hides it
 * @returns {string} a colour for an option of ECharts
 */
export function roleColor(role, series = NOBODY) {
  return token(ROLES.indexOf(role), series);
}

/**
 * @param {number} series
 * @returns {string} a colour for an option of ECharts
 */
export function seriesColor(series) {
  return token(ROLES.length + (series % SERIES_COLORS), series);
}

/**
 * @param {number} n
 * @returns {string} a series colour for parts without a storage, which are never hidden
 */
export function freeColor(n) {
  return token(ROLES.length + (n % SERIES_COLORS), NOBODY);
}

/** @param {number} color @param {number} series */
function token(color, series) {
  const hex = (/** @type {number} */ value) => value.toString(16).padStart(2, '0');
  return `#fe${hex(color)}${hex(Math.min(series, NOBODY))}`;
}

/**
 * At least 3 : 1 against the surface for marks, 4.5 : 1 for text (WCAG 2.2, 1.4.11 and 1.4.3).
 * @typedef {Readonly<{ roles: Record<Role, string>, series: string[] }>} Theme
 * @type {Readonly<Record<'light' | 'dark', Theme>>}
 */
export const THEMES = Object.freeze({
  light: {
    roles: {
      ink: '#1f2328',
      muted: '#59636e',
      grid: '#dfe4ea',
      surface: '#ffffff',
      shade: '#eceff3',
      'driver-limit': '#b91c1c',
      'wire-limit': '#1d4ed8',
      'cpu-user': '#2563eb',
      'cpu-system': '#7aa7f7',
      'cpu-server': '#d97706',
      neutral: '#6b7280',
    },
    series: [
      ...['#2563eb', '#c2410c', '#15803d', '#9333ea', '#0e7490', '#be185d', '#4d7c0f', '#b45309'],
      ...['#4338ca', '#b91c1c', '#0f766e', '#a21caf', '#0369a1', '#57534e', '#65720a', '#86198f'],
    ],
  },
  dark: {
    roles: {
      ink: '#e6edf3',
      muted: '#9aa5b1',
      grid: '#2b323b',
      surface: '#12161c',
      shade: '#1e252e',
      'driver-limit': '#f87171',
      'wire-limit': '#7aa7f7',
      'cpu-user': '#5b93f5',
      'cpu-system': '#2f5fb3',
      'cpu-server': '#f5a524',
      neutral: '#8b949e',
    },
    series: [
      ...['#5b93f5', '#fb8b4b', '#4ac26b', '#c084fc', '#2cc4de', '#f472b6', '#9bd62f', '#f0b429'],
      ...['#8f94fb', '#f87171', '#2dd4bf', '#e879f9', '#45b5f5', '#a8a29e', '#c6d34a', '#d68be0'],
    ],
  },
});

/** In the order of their tokens. */
const ROLES = /** @type {Role[]} */ (Object.keys(THEMES.light.roles));

/**
 * @param {string} svg drawing with tokens
 * @param {'light' | 'dark' | 'page'} theme page: variables of a page, and the series of each mark
 *   as `data-s` for its script
 * @returns {string}
 */
export function paint(svg, theme) {
  return svg.replace(/<[a-z][^>]*>/gi, (tag) => {
    let owner = NOBODY;
    const painted = tag.replace(TOKEN, (_, attribute, color, series) => {
      const index = Number.parseInt(series, 16);
      if (index !== NOBODY) owner = index;
      return `${attribute}="${colorOf(Number.parseInt(color, 16), theme)}"`;
    });
    if (owner === NOBODY || theme !== 'page') return painted;
    return painted.replace(/^<[a-z]+/i, (name) => `${name} data-s="${owner}"`);
  });
}

/**
 * @param {number} color
 * @param {'light' | 'dark' | 'page'} theme
 */
function colorOf(color, theme) {
  const series = color - ROLES.length;
  if (theme === 'page') return `var(--${series < 0 ? `p-${ROLES[color]}` : `s${series}`})`;
  return series < 0 ? THEMES[theme].roles[ROLES[color]] : THEMES[theme].series[series];
}

/**
 * @param {'light' | 'dark'} theme
 * @returns {string} declarations of the variables of a painted page
 */
export function paletteCss(theme) {
  const { roles, series } = THEMES[theme];
  return [
    ...ROLES.map((role) => `--p-${role}:${roles[role]}`),
    ...series.map((color, i) => `--s${i}:${color}`),
  ].join(';');
}
