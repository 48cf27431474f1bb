/**
 * The style rules that a program can check, and which folder may import which. The linter
 * (biome.json) limits functions to 90 lines.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { count, isCounted } from '../../scripts/count.js';
import { oddIdentifiers } from '../../scripts/identifiers.js';
import {
  cyclesOf,
  importEdges,
  isTest,
  LAYERS,
  layerOf,
  wrongEdges,
} from '../../scripts/imports.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LINES_MAX = 500;
const COLUMNS_MAX = 100;
const LITERAL_COLUMNS_MAX = 110;
/** A test file is a list, longer without harm. */
const TEST_LINES_MAX = 600;
const BLOB_BYTES_MAX = 200_000;
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
    const ignored = ignoredByGit();
    return readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter(
      (file) => !ignored.some((pattern) => pattern.test(file)),
    );
  }
}

/** @returns {RegExp[]} patterns of this .gitignore: names, folders, a star within a name */
function ignoredByGit() {
  const lines = readFileSync(path.join(ROOT, '.gitignore'), 'utf8').split('\n');
  return ['/.git/', ...lines.filter((line) => line !== '')].map((line) => {
    const name = line
      .replace(/^\/|\/$/g, '')
      .replaceAll('.', '\\.')
      .replaceAll('*', '[^/]*');
    return new RegExp(`${line.startsWith('/') ? '^' : '(^|/)'}${name}(/|$)`);
  });
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

describe('the size of the product', () => {
  test('stays within the budget of each folder (scripts/budget.json)', () => {
    const budget = JSON.parse(FILES.get('scripts/budget.json') ?? '{}');
    const { folders } = count({ files: [...FILES].filter(([file]) => isCounted(file)) });
    assertNone(
      Object.keys(folders).filter((folder) => budget[folder] === undefined),
      'give the folder a budget',
    );
    assertNone(
      Object.entries(folders).flatMap(([folder, { code }]) =>
        code > budget[folder] ? [`${folder}: ${code} code lines of ${budget[folder]}`] : [],
      ),
      'remove what this makes superfluous, or raise the budget and say why in the commit',
    );
  });
});

/** @param {string} file */
const isProduct = (file) => !isTest(file) && !/^(bench|scripts|examples)\//.test(file);

describe('files', () => {
  test('have 500 lines at most', () => {
    const long = CODE.map(
      ([file, text]) => /** @type {const} */ ([file, text.split('\n').length - 1]),
    )
      .filter(([file, lines]) => {
        const limit = isTest(file) ? TEST_LINES_MAX : LINES_MAX;
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

  test('are named by a noun, in lower case and dashes', () => {
    const wrong = CODE.map(([file]) => file).filter((file) => {
      const name = path.basename(file).replace(/(\.(test|config|d|test-d))?\.(js|ts)$/, '');
      const drawer = /(^|[-_.])(utils?|helpers?|common|misc|shared)([-_.]|$)/.test(name);
      return drawer || !/^[a-z0-9]+([-_][a-z0-9]+)*$/.test(name);
    });
    assertNone(wrong, 'name it for what it is');
  });

  test('write out their properties, and pack none into a spread literal', () => {
    assertNone(linesWith(/\.\.\.\{(?!\})/), 'write one property per line');
  });

  test('begin with a header comment', () => {
    // The shims of bin/ and the top level say it in the file that they call.
    const silent = CODE.filter(
      ([file, text]) => !/^(#![^\n]*\n)?\/\*\*/.test(text) && file !== 'bin/dragstrip.js',
    ).map(([file]) => file);
    assertNone(silent, 'begin with a header comment');
  });

  test('in test folders are tests, and no other file is named like one', () => {
    const folders = ['fast', 'golden', 'contract', 'fault', 'long'];
    const lost = CODE.map(([file]) => file).filter(
      (file) =>
        file.endsWith('.test.js') &&
        !(isTest(file) && folders.includes(file.replace(/^.*?\btest\//, '').split('/')[0])),
    );
    assertNone(lost, 'scripts/test.js does not run it');
  });
});

const TYPE = '\\{(?:[^{}]|\\{(?:[^{}]|\\{(?:[^{}]|\\{[^{}]*\\})*\\})*\\})*\\}';
const RELATIVE = '(?:(?:that |those )?of|what|who|whose|which|where|that|to be)\\b';
/** Relative clauses in place of nouns, and phrases that English does not have. */
const ODD_COMMENTS = [
  new RegExp(`@(?:param|property|typedef) ${TYPE} \\S+ ${RELATIVE}`),
  new RegExp(`@(?:returns|throws|type) ${TYPE} ${RELATIVE}`),
  /@throws [^@]*\bwhere\b/,
  /^(?:What|Who|Whose|Of|Where|Which|(?:That|Those) of|So many)\b/,
  /\bwhere (?:there|it|they|that|this|its) (?:is|are|was|has|have|does|do|did|gives|can)\b/,
  /\bwhat (?:is|was|were|has|had|it|they)\b(?! wrong)/,
  /\bas ever\b|\banew\b|\bat hand\b|\bfor ever\b|\bbut for\b|\bbehind (?:it|them)\b/,
  /(?<![`'])\bours?\b|: not known\b|\bnot readable\b/,
];

/** @param {string} text @returns {string[]} its comments, each on one line */
function commentsOf(text) {
  const comments = text.matchAll(/\/\*\*([\s\S]*?)\*\/|(?:^[ \t]*\/\/.*\n)+/gm);
  return [...comments].map(([all, doc]) =>
    (doc?.replace(/^[ \t]*\*/gm, '') ?? all.replace(/^[ \t]*\/\//gm, ''))
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

describe('words', () => {
  test('of identifiers are terms of the field, and vague ones only in short scopes', () => {
    const odd = oddIdentifiers(CODE.map(([file]) => path.join(ROOT, file)));
    assertNone(
      odd.map(({ file, line, name }) => `${path.relative(ROOT, file)}:${line}: ${name}`),
      'name it for what it is: scripts/identifiers.js',
    );
  });

  test('of comments are nouns and verbs, not relative clauses', () => {
    const odd = CODE.flatMap(([file, text]) =>
      commentsOf(text).flatMap((comment) =>
        ODD_COMMENTS.some((pattern) => pattern.test(comment)) ? [`${file}: ${comment}`] : [],
      ),
    );
    assertNone(odd, 'name the value');
  });
});

describe('restrictions by folder', () => {
  test('only measure/clock.js reads a clock', () => {
    const clocks = /\bperformance\.(now|timeOrigin)|\bDate\.now\(|\bnew Date\(\)|\bhrtime\b/;
    // The mutex is published alone; no result contains its times.
    const own = ['measure/clock.js', 'packages/mutex/index.js'];
    const found = linesWith(clocks, (file) => isProduct(file) && !own.includes(file));
    assertNone(found, 'take a clock from measure/clock.js');
  });

  test('only cli/ prints', () => {
    const printing = /\bconsole\.\w+\(|\bprocess\.(stdout|stderr)\b/;
    assertNone(
      linesWith(printing, (file) => isProduct(file) && !file.startsWith('cli/')),
      'give the text to cli/',
    );
  });

  test('only cli/ and the entries of child processes end the process', () => {
    const found = linesWith(
      /\bprocess\.(exit\(|exitCode|abort\()/,
      (file) => isProduct(file) && !/^cli\/|\/child\.js$/.test(file),
    );
    assertNone(found, 'throw a DragstripError');
  });
});

/** Imports still to be removed, and no new ones. */
const SIDEWAYS = Object.freeze(['storages/index.js > codecs/index.js']);
/** @type {readonly string[]} cycles still to be broken */
const CYCLES = [];

/** @param {string} file @returns {boolean} run by people, not imported */
function isEntry(file) {
  if (/^(bench|scripts|examples)\//.test(file)) return true;
  return /^(data\/)?[^/]+\.js$/.test(file);
}

const edges = importEdges(CODE);

describe('imports run one way', () => {
  test('downwards through the layers, never up or sideways', () => {
    assert.ok(edges.length > 300, `${edges.length} imports were seen`);
    const { upwards, sideways } = wrongEdges(edges);
    const wrong = [...upwards, ...sideways].filter(
      ({ file, to }) => !SIDEWAYS.includes(`${file} > ${to}`),
    );
    assertNone(
      wrong.map(({ file, to }) => `${file} imports ${to}`),
      'docs/architecture.md: Folders',
    );
  });

  test('cli/, engine/ and report/ import no folder of a workload, only the registry', () => {
    const known = edges.filter(
      ({ file, to }) => /^(cli|engine|report)\//.test(file) && /^workloads\/[^/]+\//.test(to),
    );
    assertNone(
      known.map(({ file, to }) => `${file} imports ${to}`),
      'declare it in the workload',
    );
  });

  test('no name of a workload outside workloads/', () => {
    // The plain words insert, get, mget and commands are also operations and kinds of handles.
    assertNone(
      linesWith(/(?<![\w./-])(codec|mutex|ycsb)(?![\w]|\.js)/, (file) =>
        /^(cli|engine|report|stats|load|measure|lib)\/.*js$|^index\.js$/.test(file),
      ).filter((line) => !/summary|hint|help/.test(line)),
      'a workload declares it: lib/report-types.d.ts, lib/workload-types.d.ts',
    );
  });

  test('no file imports itself by way of others', () => {
    assertNone(
      cyclesOf(edges.map(({ file, to }) => ({ from: file, to }))).filter(
        (cycle) => !CYCLES.includes(cycle),
      ),
      'break the cycle',
    );
  });

  test('every file of the product is reached from an entry point, not only from tests', () => {
    const { files, exports, bin } = JSON.parse(FILES.get('package.json') ?? '{}');
    assert.ok(files.length > 0);
    const entries = [
      ...Object.values(exports).map((one) => path.posix.normalize(one.import?.default ?? one)),
      ...Object.values(bin),
      ...CODE.map(([file]) => file).filter((file) => isEntry(file)),
    ];
    const reached = new Set(entries);
    for (const file of reached) {
      for (const { file: from, to } of edges) if (from === file) reached.add(to);
      // Entries of child processes, and scripts that a page holds.
      const urls = (FILES.get(file) ?? '').matchAll(/(?:URL|read)\('(\.[^']+\.js)'/g);
      for (const [, to] of urls) reached.add(path.posix.join(path.posix.dirname(file), to));
    }
    assertNone(
      CODE.map(([file]) => file).filter(
        (file) => !reached.has(file) && !isTest(file) && !/\.d\.ts$|\.config\.js$/.test(file),
      ),
      'use it or remove it',
    );
  });

  test('every folder has a layer and every imported file is there', () => {
    assertNone(
      CODE.map(([file]) => file).filter((file) => LAYERS[layerOf(file)] === undefined),
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

  test('a benchmark process starts without schemas, servers, reports and the command line', () => {
    const loaded = new Set(['engine/child.js']);
    for (const file of loaded) {
      const code = FILES.get(file) ?? '';
      for (const [, to] of code.matchAll(/^(?:import|export|\}) .*from '([^']+)';$/gm)) {
        if (to.startsWith('node:')) continue;
        loaded.add(to.startsWith('.') ? path.posix.join(path.posix.dirname(file), to) : to);
      }
    }
    assert.ok(loaded.size > 20, [...loaded].join(' '));
    const heavy = /^[^./]+$|^@|^(servers|report|cli|index|stats\/(?!percentile))/;
    assertNone(
      [...loaded].filter((file) => heavy.test(file)),
      'every benchmark waits for it: import it where it is used',
    );
  });

  test('the hot path’s loops know no storage, workload or report', () => {
    const words = /\b(redis|tarantool|handlersocket|mysql|lmdb|sqlite)\b/i;
    assertNone(
      linesWith(words, (file) => file.startsWith('load/')),
      'a loop knows none',
    );
  });
});

describe('test/mutants.json', () => {
  test('changes texts that occur once in their files, for scripts/mutants.js', () => {
    /** @type {{ file: string, changes: [string, string][] }[]} */
    const groups = JSON.parse(FILES.get('test/mutants.json') ?? '[]');
    assert.ok(groups.length > 50);
    const gone = groups.flatMap(({ file, changes }) =>
      changes
        .filter(([from]) => FILES.get(file)?.split(from).length !== 2)
        .map(([from]) => `${file}: ${from}`),
    );
    assertNone(gone, 'change the text in test/mutants.json too');
  });
});

describe('forbidden content', () => {
  test('host names of registries and paths of one machine', () => {
    const forbidden = new RegExp(
      [
        `registry\\.npm${'js'}`,
        `deb\\.debian\\.${'org'}`,
        `repo1?\\.maven\\.${'apache'}`,
        '/home/(?!me/)[a-z]+/',
        '/root/',
        '/work/',
        `/tmp/dev${'srv'}`,
      ].join('|'),
    );
    const lines = [...FILES]
      .filter(([file]) => !/\.(png|svg|woff2?)$/.test(file))
      .flatMap(([file, text]) =>
        text.split('\n').flatMap((line, i) => (forbidden.test(line) ? [`${file}:${i + 1}`] : [])),
      )
      .filter((place) => !place.startsWith('test/fast/tidy.test.js'));
    assertNone(lines, 'it is true on one machine only');
  });

  test('first-in first-out by Array.shift, which moves every element', () => {
    assertNone(
      // mysql2's own queue is a ring.
      linesWith(/(?<!_connectionQueue)\.shift\(\)/, (file) =>
        /^(load|storages|protocols|limits|packages)\//.test(file),
      ),
      'use a head index or a ring',
    );
  });

  test('anything over 200 KB', () => {
    const large = [...FILES.keys()].filter(
      (file) =>
        statSync(path.join(ROOT, file)).size > BLOB_BYTES_MAX && file !== 'package-lock.json',
    );
    assertNone(large, 'generate it, or make it smaller');
  });

  test('the lock names every platform’s packages and no host', () => {
    const { packages } = JSON.parse(FILES.get('package-lock.json') ?? '{}');
    const entries = Object.entries(/** @type {Record<string, any>} */ (packages));
    assertNone(
      entries
        .filter(([, { resolved, link }]) => resolved !== undefined && !link)
        .map(([name]) => name),
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

  test('no script of a dependency runs at installation', () => {
    const { allowScripts } = JSON.parse(FILES.get('package.json') ?? '{}');
    const { packages } = JSON.parse(FILES.get('package-lock.json') ?? '{}');
    const withScripts = Object.entries(/** @type {Record<string, any>} */ (packages))
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([place]) => [place.replace(/^.*node_modules\//, ''), false]);
    assert.deepEqual(allowScripts, Object.fromEntries(withScripts));
    assert.match(FILES.get('scripts/install.js') ?? '', /'--ignore-scripts'/);
    // npm 10 does not know allowScripts.
    assert.match(FILES.get('.npmrc') ?? '', /^ignore-scripts=true$/m);
  });

  test('the packages in packages/ have the same release, and import nothing outside of them', () => {
    const root = JSON.parse(FILES.get('package.json') ?? '{}');
    const manifests = [...FILES].filter(([file]) => /^packages\/[^/]+\/package\.json$/.test(file));
    assert.equal(manifests.length, 2);
    for (const [file, text] of manifests) {
      const { version, license, engines, dependencies } = JSON.parse(text);
      assert.deepEqual([version, license, engines], [root.version, root.license, root.engines]);
      assert.equal(dependencies, undefined, file);
      assert.equal(FILES.get(file.replace('package.json', 'LICENSE')), FILES.get('LICENSE'));
    }
    const folders = manifests.map(([file]) => file.replace('package.json', ''));
    const sources = CODE.filter(
      ([file]) => folders.some((folder) => file.startsWith(folder)) && !isTest(file),
    );
    const external = sources.flatMap(([file, text]) =>
      [...text.matchAll(/^(?:import|export|\}) [^;]*?from '(?!\.\/|node:)([^']+)'/gm)].map(
        ([, to]) => `${file} imports ${to}`,
      ),
    );
    assert.ok(sources.length > 20);
    assertNone(external, 'a package is published alone');
  });
});
