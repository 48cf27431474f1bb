/**
 * The style of the house as far as a machine can see it, and which room may import which. Functions
 * of 70 lines at most are held by the linter (biome.json).
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LINES_MAX = 400;
const COLUMNS_MAX = 100;
const LITERAL_COLUMNS_MAX = 110;
/** A test file is a list, longer without harm. */
const TEST_LINES_MAX = 600;
/** @type {ReadonlyMap<string, string>} text of each file that is, or is to be, kept */
const FILES = new Map(
  listFiles()
    .filter((file) => existsSync(path.join(ROOT, file)) && statSync(path.join(ROOT, file)).isFile())
    .map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')]),
);
const CODE = [...FILES].filter(([file]) => /\.(js|ts)$/.test(file));

/** @returns {string[]} as git sees them; from an unpacked archive, all but what git would ignore */
function listFiles() {
  try {
    const words = ['ls-files', '--cached', '--others', '--exclude-standard'];
    const options = { cwd: ROOT, encoding: /** @type {const} */ ('utf8'), maxBuffer: 1e8 };
    return execFileSync('git', words, { ...options, stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter(
      (file) => !/^(node_modules|\.dragstrip|types|results|\.git)(\/|$)/.test(file),
    );
  }
}

/**
 * @param {Iterable<string>} found
 * @param {string} rule
 */
function assertNone(found, rule) {
  const list = [...found];
  assert.equal(list.length, 0, `${rule}:\n  ${list.join('\n  ')}`);
}

/**
 * @param {RegExp} pattern
 * @param {(file: string) => boolean} [where]
 * @returns {string[]} `file:line: text` for each line of code that matches; comments are left out
 */
function linesWith(pattern, where = () => true) {
  return CODE.filter(([file]) => where(file)).flatMap(([file, text]) =>
    text
      .split('\n')
      .map((line, i) => /** @type {const} */ ([line, `${file}:${i + 1}: ${line.trim()}`]))
      .filter(([line]) => !/^\s*(\*|\/\/|\/\*)/.test(line) && pattern.test(line))
      .map(([, shown]) => shown),
  );
}

/** @param {string} file */
const isProduct = (file) => !/^(test|bench|scripts|examples)\//.test(file);

describe('files', () => {
  test('have 400 lines at most', () => {
    const long = CODE.map(
      ([file, text]) => /** @type {const} */ ([file, text.split('\n').length - 1]),
    )
      .filter(([file, lines]) => {
        const limit = file.startsWith('test/') ? TEST_LINES_MAX : LINES_MAX;
        return lines > limit;
      })
      .map(([file, lines]) => `${file}: ${lines} lines`);
    assertNone(long, 'split it by its nouns');
  });

  test('have lines of 100 columns at most', () => {
    const wide = CODE.flatMap(([file, text]) =>
      text.split('\n').flatMap((line, i) => {
        const columns = [...line].length;
        // The formatter breaks code; a literal or an import it leaves as it is, and so do we.
        const comment = /^\s*(\*|\/\/|\/\*)/.test(line);
        const literal = !comment && columns <= LITERAL_COLUMNS_MAX && /['`]|\/.+\//.test(line);
        const whole =
          literal || /https?:\/\/\S+$|^(import|\}) .*from '|^\s*\/.+\/[a-z]*[;,]?$/.test(line);
        return columns > COLUMNS_MAX && !whole ? [`${file}:${i + 1}: ${columns} columns`] : [];
      }),
    );
    assertNone(wide, 'break the line');
  });

  test('are named for a noun, in lower case and dashes', () => {
    const wrong = CODE.map(([file]) => file).filter((file) => {
      const name = path.basename(file).replace(/(\.(test|config|d|test-d))?\.(js|ts)$/, '');
      const drawer = /(^|[-_.])(utils?|helpers?|common|misc|shared)([-_.]|$)/.test(name);
      return drawer || !/^[a-z0-9]+([-_][a-z0-9]+)*$/.test(name);
    });
    assertNone(wrong, 'name it for what it is');
  });

  test('begin by saying what they are', () => {
    // The shims of bin/ and the top level say it in the file that they call.
    const silent = CODE.filter(
      ([file, text]) => !/^(#![^\n]*\n)?\/\*\*/.test(text) && file !== 'bin/dragstrip.js',
    ).map(([file]) => file);
    assertNone(silent, 'begin with a header comment');
  });

  test('of the test folders are tests, and nothing else has the name of one', () => {
    const folders = ['fast', 'golden', 'contract', 'fault'];
    const lost = CODE.map(([file]) => file).filter(
      (file) => file.endsWith('.test.js') && !folders.includes(file.split('/')[1]),
    );
    assertNone(lost, 'scripts/test.js does not run it');
  });
});

describe('what only some rooms may do', () => {
  test('only lib/measure/clock.js reads a clock', () => {
    const clocks = /\bperformance\.(now|timeOrigin)|\bDate\.now\(|\bnew Date\(\)|\bhrtime\b/;
    const found = linesWith(clocks, (file) => isProduct(file) && file !== 'lib/measure/clock.js');
    assertNone(found, 'take a clock from lib/measure/clock.js');
  });

  test('only lib/cli prints', () => {
    const printing = /\bconsole\.\w+\(|\bprocess\.(stdout|stderr)\b/;
    assertNone(
      linesWith(printing, (file) => isProduct(file) && !file.startsWith('lib/cli/')),
      'give the text to lib/cli',
    );
  });

  test('only lib/cli and the entries of child processes end the process', () => {
    const found = linesWith(
      /\bprocess\.(exit\(|exitCode|abort\()/,
      (file) => isProduct(file) && !/^lib\/cli\/|^lib\/\w+\/child\.js$/.test(file),
    );
    assertNone(found, 'throw a DragstripError');
  });
});

/** Rooms, the more exact first; `lib` are the leaves. */
const ROOMS = /** @type {const} */ ([
  'lib/cli',
  'lib/run',
  'lib/load',
  'lib/measure',
  'lib/analysis',
  'lib/standin',
  'lib/wire',
  'data/loaders',
  'storages',
  'codecs',
  'servers',
  'workloads',
  'report',
  'bin',
  'data',
  'bench',
  'scripts',
  'test',
  'examples',
  'lib',
]);

/** What each room may import beside itself. Not here: whatever may import everything. */
const MAY_IMPORT = Object.freeze({
  'lib/run': [
    ...['lib', 'lib/load', 'lib/measure', 'lib/analysis', 'lib/standin', 'lib/wire'],
    ...['storages', 'servers', 'workloads', 'data/loaders'],
  ],
  'lib/load': ['lib', 'lib/measure'],
  'lib/measure': ['lib'],
  'lib/analysis': ['lib', 'lib/measure'],
  // Stand-ins and the wire's limit speak the servers' protocols: the codecs of the loaders.
  'lib/standin': ['lib', 'lib/wire', 'data/loaders'],
  'lib/wire': ['lib', 'lib/measure', 'lib/analysis', 'data/loaders'],
  'data/loaders': ['lib'],
  storages: ['lib'],
  // Codecs of drivers, and of our own: our client's parser, the framers of the wire's limit.
  codecs: ['lib', 'lib/measure', 'lib/wire', 'storages'],
  servers: ['lib', 'lib/measure'],
  workloads: ['lib'],
  report: ['lib', 'lib/analysis'],
  bin: ['lib/cli'],
  data: ['lib/cli'],
  top: ['lib/cli'],
  lib: [],
});

/** Leaves that are more than that, each for one purpose. */
const EXCEPTIONS = Object.freeze({
  'storages/index.js': ['codecs'], // to the engine a codec is a storage of its own kind
  'lib/index.js': ['lib/run'], // the programming interface
  'lib/addresses.js': ['servers'], // where a server is: its endpoints and its record
  'lib/credentials.js': ['servers'], // which variables of the environment are its credentials
  'storages/mutex/index.js': ['lib/measure'], // locks have an end: the clock of who gives none
  'workloads/mutex/waits.js': ['lib/measure'], // waits as a histogram, as latencies have it
  'lib/comparison.js': ['lib/analysis'], // two results side by side, for the reports of it
});

/** @param {string} file */
function roomOf(file) {
  if (!file.includes('/')) return 'top';
  return ROOMS.find((room) => file.startsWith(`${room}/`)) ?? 'unknown';
}

/**
 * @param {string} file
 * @param {string} text
 * @returns {string[]} the files that it imports, statically or not; types are not imports
 */
function importsOf(file, text) {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  return [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g)].map(([, to]) =>
    path.posix.join(path.posix.dirname(file), to),
  );
}

describe('imports run one way', () => {
  const edges = CODE.flatMap(([file, text]) =>
    importsOf(file, text).map((to) => ({ file, to, from: roomOf(file), into: roomOf(to) })),
  );

  test('shims, lib/cli, registries, members, leaves: never back', () => {
    assert.ok(edges.length > 300, `${edges.length} imports were seen`);
    const wrong = edges.filter(({ file, from, into }) => {
      const allowed = /** @type {Record<string, readonly string[]>} */ (MAY_IMPORT)[from];
      if (from === into || allowed === undefined) return false;
      const more = /** @type {Record<string, readonly string[]>} */ (EXCEPTIONS)[file] ?? [];
      return ![...allowed, ...more].includes(into);
    });
    assertNone(
      wrong.map(({ file, to }) => `${file} imports ${to}`),
      'DESIGN: Layout',
    );
  });

  test('the product imports no test, bench or example', () => {
    const wrong = edges.filter(
      ({ file, into }) => isProduct(file) && ['test', 'bench', 'examples'].includes(into),
    );
    assertNone(
      wrong.map(({ file, to }) => `${file} imports ${to}`),
      'move it to where both may',
    );
  });

  test('every room is known and every imported file is there', () => {
    assertNone(
      CODE.map(([file]) => file).filter((file) => roomOf(file) === 'unknown'),
      'name it',
    );
    // Tests hold whole programs in texts, whose imports look like theirs.
    const lost = edges.filter(
      ({ file, to }) =>
        isProduct(file) &&
        ![to, to.replace(/\.js$/, '.d.ts')].some((one) => existsSync(path.join(ROOT, one))),
    );
    assertNone(
      lost.map(({ file, to }) => `${file} imports ${to}`),
      'it is not there',
    );
  });

  test('a cell’s process starts without schemas, servers, reports and the command line', () => {
    const loaded = new Set(['lib/run/child.js']);
    for (const file of loaded) {
      const code = FILES.get(file) ?? '';
      for (const [, to] of code.matchAll(/^(?:import|export|\}) .*from '([^']+)';$/gm)) {
        if (to.startsWith('node:')) continue;
        loaded.add(to.startsWith('.') ? path.posix.join(path.posix.dirname(file), to) : to);
      }
    }
    assert.ok(loaded.size > 20, [...loaded].join(' '));
    const heavy = /^[^./]+$|^@|^(servers|report|lib\/(cli|index|analysis\/(?!percentile)))/;
    assertNone(
      [...loaded].filter((file) => heavy.test(file)),
      'every cell waits for it: import it where it is used',
    );
  });

  test('the hot path’s loops know no storage, workload or report', () => {
    const words = /\b(redis|tarantool|handlersocket|mysql|lmdb|sqlite)\b/i;
    assertNone(
      linesWith(words, (file) => file.startsWith('lib/load/')),
      'a loop knows none',
    );
  });
});

describe('what must not be in a file', () => {
  test('host names of registries and paths of one machine', () => {
    const forbidden = new RegExp(
      [
        `registry\\.npm${'js'}`,
        '/home/(?!me/)[a-z]+/',
        '/root/',
        '/work/',
        `/tmp/dev${'srv'}`,
      ].join('|'),
    );
    const found = [...FILES]
      .filter(([file]) => !/\.(png|svg|woff2?)$/.test(file))
      .flatMap(([file, text]) =>
        text.split('\n').flatMap((line, i) => (forbidden.test(line) ? [`${file}:${i + 1}`] : [])),
      )
      .filter((place) => !place.startsWith('test/fast/tidy.test.js'));
    assertNone(found, 'it is true on one machine only');
  });

  test('the lock names every platform’s packages and no host', () => {
    const { packages } = JSON.parse(FILES.get('package-lock.json') ?? '{}');
    const entries = Object.entries(/** @type {Record<string, any>} */ (packages));
    assertNone(
      entries.filter(([, { resolved }]) => resolved !== undefined).map(([name]) => name),
      'omit-lockfile-registry-resolved',
    );
    // npm ci refuses a lock from which optional packages of other platforms are missing.
    const missing = entries.flatMap(([name, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (needed) =>
          packages[`node_modules/${needed}`] === undefined &&
          packages[`${name}/node_modules/${needed}`] === undefined,
      ),
    );
    assertNone(missing, 'npm install on one platform left it out of package-lock.json');
  });

  test('scripts of npm that its ignore-scripts setting would skip', () => {
    const { scripts } = JSON.parse(FILES.get('package.json') ?? '{}');
    assert.match(FILES.get('.npmrc') ?? '', /^ignore-scripts=true$/m);
    const skipped = Object.keys(scripts).filter((name) =>
      /^(pre|post)(start|test|install)/.test(name),
    );
    assertNone(skipped, 'call it in the script itself');
  });
});
