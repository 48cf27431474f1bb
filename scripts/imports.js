/**
 * The import graph of the source files: imports, the layer of each folder, and cycles. Shared by
 * scripts/count.js and test/fast/tidy.test.js. Pure: file texts in, edges out.
 */

import path from 'node:path';

/**
 * A folder may import itself and lower layers, never a higher or an equal one. Files at the top
 * level are `top`, except the programming interface, `index`.
 * @type {Readonly<Record<string, number>>}
 */
export const LAYERS = Object.freeze({
  test: 13,
  top: 12,
  bin: 12,
  data: 12,
  scripts: 12,
  examples: 12,
  bench: 11,
  cli: 10,
  index: 9,
  report: 8,
  'packages/fleet': 7.5,
  engine: 7,
  storages: 6,
  servers: 6,
  workloads: 6,
  codecs: 5.5,
  'data/connections': 6,
  'data/counts': 6,
  'data/loaders': 6,
  'data/namespaces': 6,
  'data/own': 6,
  limits: 5,
  protocols: 4,
  load: 3,
  stats: 2,
  measure: 1,
  lib: 0,
  // Published separately, so they import nothing from the rest.
  'packages/handlersocket': -1,
  'packages/mutex': -1,
});

/** @typedef {{ file: string, to: string, from: string, into: string }} Edge from, into: layers */

/** @param {string} file @returns {boolean} in test/, or in the tests of a package */
export function isTest(file) {
  return /^(packages\/[^/]+\/)?test\//.test(file);
}

/**
 * @param {string} text text of a test file
 * @returns {string[]} declared servers and permissions: `// Needs: redis, mariadb`
 */
export function needsOf(text) {
  return /^\/\/ Needs: (.+)$/m.exec(text)?.[1].split(', ') ?? [];
}

/**
 * @param {string} file
 * @returns {string} the longest folder prefix that has a layer
 */
export function layerOf(file) {
  if (file === 'index.js') return 'index';
  if (file === 'define.js') return 'lib';
  if (!file.includes('/')) return 'top';
  if (isTest(file)) return 'test';
  for (let folder = path.posix.dirname(file); folder !== '.'; folder = path.posix.dirname(folder)) {
    if (LAYERS[folder] !== undefined) return folder;
  }
  return file.slice(0, file.indexOf('/'));
}

/**
 * @param {string} file
 * @param {string} text
 * @returns {string[]} the files that it imports, statically or dynamically; types do not count
 */
export function importsOf(file, text) {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  return [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g)].map(([, to]) =>
    path.posix.join(path.posix.dirname(file), to),
  );
}

/**
 * @param {Iterable<readonly [string, string]>} code file names and texts
 * @returns {Edge[]}
 */
export function importEdges(code) {
  return [...code].flatMap(([file, text]) =>
    importsOf(file, text).map((to) => ({
      file,
      to,
      from: layerOf(file),
      into: layerOf(to),
    })),
  );
}

/** @param {string} layer @returns {boolean} the folders of data/ are one layer */
function isOfData(layer) {
  return layer.startsWith('data/');
}

/**
 * @param {readonly Edge[]} edges
 * @returns {{ upwards: Edge[], sideways: Edge[] }} imports of a higher layer, and of another folder
 *   of the same layer
 */
export function wrongEdges(edges) {
  const crossing = edges.filter(({ from, into }) => from !== into);
  return {
    upwards: crossing.filter(({ from, into }) => LAYERS[into] > LAYERS[from]),
    sideways: crossing.filter(
      ({ from, into }) => LAYERS[into] === LAYERS[from] && !(isOfData(from) && isOfData(into)),
    ),
  };
}

/**
 * @param {readonly { from: string, to: string }[]} arrows
 * @returns {string[]} the cycles found by one depth-first search, each as `a > b > a`
 */
export function cyclesOf(arrows) {
  /** @type {Map<string, string[]>} */
  const next = new Map();
  for (const { from, to } of arrows) next.set(from, [...(next.get(from) ?? []), to]);
  /** @type {Set<string>} */
  const done = new Set();
  /** @type {string[]} */
  const cycles = [];
  /** @param {string} node @param {string[]} route */
  const visit = (node, route) => {
    if (route.includes(node)) {
      cycles.push([...route.slice(route.indexOf(node)), node].join(' > '));
      return;
    }
    if (done.has(node)) return;
    for (const to of next.get(node) ?? []) visit(to, [...route, node]);
    done.add(node);
  };
  for (const node of next.keys()) visit(node, []);
  return cycles;
}
