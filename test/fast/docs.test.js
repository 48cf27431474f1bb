/** The documents name files, headings, commands and options that exist, in standard terms. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMMAND_OPTIONS } from '../../cli/options.js';
import { detailsOf } from '../../cli/run-details.js';
import { WORKLOADS } from '../../workloads/index.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGES = readdirSync(path.join(ROOT, 'packages')).map((name) => `packages/${name}`);
const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...['docs', ...PACKAGES].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
].map((file) => /** @type {const} */ ([file, readFileSync(path.join(ROOT, file), 'utf8')]));

/** Folders of the repository. */
const FOLDERS = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !/^(\.|node_modules|results|types)/.test(entry.name))
  .map(({ name }) => name);

/** Phrases with a standard term instead, in documents and in code. */
const ODD_EVERYWHERE = [
  '\\b(is|are|was|were|be|been|cannot be) told\\b|told apart|\\b(is|are|was|be) said\\b',
  '\\bto be had\\b|cannot be had|com(e|es|ing) to rest|somebody else|nothing( else)? is said',
  '\\basked (for|to|once|again|twice|what|how)\\b|\\b(is|are|was|were|be|been|not|nobody) asked\\b',
  'there is none of that name|: one of them|leave one of them out|leave out one of them',
  '(did not|no) answer within|answers there|without an answer|were there already',
  '(report|option|plot)\\b.{0,20}: not known|must be a string that is|is not as it was fetched',
  'in the place of|wire limit\\b|driver limit\\b|\\bwhoever\\b|the rest is told',
];
const ODD_IN_CODE = new RegExp(
  [...ODD_EVERYWHERE, '(answers|operations|replies|requests|sections) a second\\b'].join('|'),
  'i',
);
const ODD = new RegExp(
  [
    ...ODD_EVERYWHERE,
    'right answers? (a|per) second|\\ba second (time )?of\\b|of the house|\\bof ours\\b',
    "the seed's|stand-in",
    'what (this|it) does not (say|tell)|stands? still|their like\\b|by slices|\\bslices of\\b',
    'in place of|\\bwho has\\b|what helps|does not tell',
  ].join('|'),
  'i',
);
/** A doc comment names its subject: a noun, or what the function does. */
const ODD_COMMENT = /\/\*\*(?:\n *\*)? (?:What|Who|Whose|Of|Where|Which) .*/g;

/** @returns {string[]} */
function codeFiles() {
  const entries = readdirSync(ROOT, { withFileTypes: true });
  const own = entries.map(({ name }) => name).filter((name) => /\.(js|lua)$/.test(name));
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(js|ts|lua)$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  return [...own, ...inFolders];
}

/** @param {string} text @returns {string[]} anchors, as GitHub forms them */
function headingsOf(text) {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replace(/\]\([^)]*\)/g, '')
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Commands of pages about one workload; options beside others name their command. */
const PAGES = /** @type {Readonly<Record<string, string>>} */ ({
  mget: 'mget',
  mutex: 'mutex',
  insert: 'insert',
  commands: 'commands',
  codec: 'codec',
});
/** Options of every command, and of other programs that the documents name. */
const OTHERS = [
  ...['help', 'help-all', 'version', 'workload'],
  ...[
    'min-semi-space-size',
    'max-semi-space-size',
    'initial-old-space-size',
    'no-parallel-scavenge',
    'trace-incremental-marking',
    'threads',
    'busy',
  ],
];
/** @type {Map<string, Promise<Set<string>>>} */
const flags = new Map();

/** @param {string} name */
function isCommand(name) {
  return name === 'any' || ['run', 'replay', ...COMMANDS].includes(name);
}

/** Commands that are workloads or their presets, and the others. */
const COMMANDS = [
  ...Object.entries(WORKLOADS).flatMap(([name, { isCommand: own, presets = {} }]) => [
    ...(own ? [name] : []),
    ...Object.keys(presets).filter((preset) => presets[preset] !== null),
  ]),
  ...Object.keys(COMMAND_OPTIONS),
];

/**
 * @param {string} command; `any`: of all
 * @param {string} workload workload of `run`
 * @returns {Promise<Set<string>>} its options by their long names, hidden ones too
 */
async function flagsOf(command, workload) {
  if (command === 'any') {
    const all = await Promise.all(['run', 'replay', ...COMMANDS].map((one) => flagsOf(one, 'get')));
    return new Set(all.flatMap((one) => [...one]));
  }
  const rows =
    COMMAND_OPTIONS[command] ??
    (await detailsOf(command === 'run' ? workload : command, command)).options;
  return new Set(rows.map(({ flags: text }) => /--([\w-]+)/.exec(text)?.[1] ?? text));
}

/**
 * @param {string} file
 * @param {string} command
 * @param {string} words the rest of the line
 * @returns {Promise<string[]>} the command, or its options, that do not exist
 */
async function unknownIn(file, command, words) {
  if (!isCommand(command)) return [`${file}: ${command}`];
  const given = [...words.matchAll(/(?<=^|\s)--([a-z][\w-]*)/g)].map(([, name]) => name);
  const workload = /--workload ([a-z-]+)(?!\S)/.exec(words)?.[1] ?? 'get';
  const key = `${command} ${workload}`;
  const known = flags.get(key) ?? flagsOf(command, workload);
  flags.set(key, known);
  const names = await known;
  return given
    .filter((name) => !names.has(name) && !['config', ...OTHERS].includes(name))
    .map((name) => `${file}: ${command} --${name}`);
}

test('texts and comments of the code use standard terms', () => {
  const odd = codeFiles()
    .filter((file) => file !== 'test/fast/docs.test.js')
    .flatMap((file) =>
      readFileSync(path.join(ROOT, file), 'utf8')
        .split('\n')
        .filter((line) => ODD_IN_CODE.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
  assert.deepEqual(odd, []);
});

test('doc comments begin with a noun or a verb', () => {
  const odd = codeFiles().flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(ODD_COMMENT)].map(
      ([comment]) => `${file}: ${comment}`,
    ),
  );
  assert.deepEqual(odd, []);
});

describe('documents', () => {
  test('link to files that exist', () => {
    const lost = DOCUMENTS.flatMap(([file, text]) =>
      [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .map(([, to]) => path.join(path.dirname(file), to))
        .filter((to) => !existsSync(path.join(ROOT, to)))
        .map((to) => `${file}: ${to}`),
    );
    assert.deepEqual(lost, []);
  });

  test('link to headings that exist, and so does the code', () => {
    const texts = Object.fromEntries(DOCUMENTS);
    const links = [
      ...DOCUMENTS.flatMap(([file, text]) =>
        [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map(([, to, id]) => ({
          file,
          to: to === '' ? file : path.join(path.dirname(file), to),
          id,
        })),
      ),
      ...codeFiles().flatMap((file) =>
        [
          ...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/\b(docs\/[\w-]+\.md)#([\w-]+)/g),
        ].map(([, to, id]) => ({ file, to, id })),
      ),
    ];
    const lost = links.filter(({ to, id }) => !headingsOf(texts[to] ?? '').includes(id));
    assert.deepEqual(lost, []);
  });

  test('name files of the repository that exist, and so does the code', () => {
    const pattern = new RegExp(`\`((?:${FOLDERS.join('|')})\\/[\\w./-]+)\``, 'g');
    const named = [
      ...DOCUMENTS.flatMap(([file, text]) =>
        [...text.matchAll(pattern)].map(([, name]) => ({ file, name })),
      ),
      ...codeFiles().flatMap((file) =>
        [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/\bdocs\/[\w-]+\.md\b/g)].map(
          ([name]) => ({ file, name }),
        ),
      ),
    ];
    assert.ok(named.length > 300, `${named.length} files are named`);
    const lost = named.filter(
      ({ name }) => !/NAME/.test(name) && !existsSync(path.join(ROOT, name)),
    );
    assert.deepEqual(lost, []);
  });

  test('of reliability name the test of each promise, or a manual check', () => {
    const [, text = ''] = DOCUMENTS.find(([file]) => file === 'docs/reliability.md') ?? [];
    const tables = text.split('\n\n').map((block) => block.split('\n'));
    const promises = tables
      .filter(([head]) => /^\| (fault|guarantee) \|.* test \|$/.test(head))
      .flatMap(([, , ...rows]) => rows);
    assert.ok(promises.length > 90, `${promises.length} promises`);
    const lacking = promises.filter((row) => {
      const [, test = ''] = /\| ([^|]*) \|$/.exec(row) ?? [];
      return !/`[\w./-]+\.test\.js`|`[\w/-]+\.sh`|^by hand|^the same$/.test(test);
    });
    assert.deepEqual(lacking, []);
  });

  test('of reliability have every code of a warning', () => {
    const [, text = ''] = DOCUMENTS.find(([file]) => file === 'docs/reliability.md') ?? [];
    const codes = codeFiles()
      .filter((file) => /^(cli|engine|lib|packages|workloads)\/(?!.*\btest\/)/.test(file))
      .flatMap((file) =>
        readFileSync(path.join(ROOT, file), 'utf8').match(/(?<=')W_[A-Z_]+(?=')/g),
      );
    const known = new Set(codes.filter((code) => code !== null));
    assert.ok(known.size > 25, `${known.size} codes`);
    assert.deepEqual(
      [...known].filter((code) => !text.includes(`\`${code}\``)),
      [],
    );
  });

  test('name scripts of npm that exist', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    const lost = DOCUMENTS.flatMap(([file, text]) =>
      [...text.matchAll(/\bnpm run ([\w:-]+)/g)]
        .filter(([, name]) => scripts[name] === undefined)
        .map(([, name]) => `${file}: ${name}`),
    );
    assert.deepEqual(lost, []);
  });

  test('show commands with existing options', async () => {
    const wrong = [];
    for (const [file, text] of DOCUMENTS) {
      const joined = text.replace(/\\\n\s*/g, '');
      for (const [, command, rest] of joined.matchAll(/npx dragstrip ([a-z]+)([^`\n|#>)]*)/g)) {
        if (command !== 'help') wrong.push(...(await unknownIn(file, command, rest)));
      }
    }
    assert.deepEqual(wrong, []);
  });

  test('name options that exist; on the page of a workload those of its command', async () => {
    const wrong = [];
    for (const [file, text] of DOCUMENTS) {
      const prose = text
        .replace(/^```[\s\S]*?^```/gm, '')
        // The changelog has earlier names in parentheses.
        .replace(file === 'CHANGELOG.md' ? /\(`--[^)]*\)/g : /$^/, '');
      for (const [, span] of prose.matchAll(/`([^`]+)`/g)) {
        const [first, ...rest] = span.split(/\s+/);
        const own = first.startsWith('--') ? (PAGES[path.basename(file, '.md')] ?? 'any') : first;
        const words = first.startsWith('--') ? span : rest.join(' ');
        if (isCommand(own)) {
          wrong.push(...(await unknownIn(file, own, words)));
        }
      }
    }
    assert.deepEqual(wrong, []);
  });

  test('are at most 17 pages and an index, and the README has at most 280 lines', () => {
    const pages = DOCUMENTS.filter(([file]) => file.startsWith('docs/'));
    assert.ok(pages.length <= 18, `${pages.length} pages with the index`);
    const texts = Object.fromEntries(DOCUMENTS);
    for (const [file] of pages) {
      const name = path.basename(file);
      assert.ok(name === 'README.md' || texts['docs/README.md'].includes(`(${name})`), name);
    }
    assert.ok(texts['README.md'].split('\n').length <= 281);
  });

  test('of the architecture name files and folders that exist', () => {
    const text = Object.fromEntries(DOCUMENTS)['docs/architecture.md'];
    const named = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]*)*(?:\/|\.(?:d\.ts|[a-z]{2,4})))`/g)]
      .map(([, name]) => name)
      .filter((name) => name.includes('/') || existsSync(path.join(ROOT, name)))
      .filter((name) => !/NAME|^\.dragstrip\//.test(name));
    assert.ok(named.length > 60, `${named.length} files are named`);
    assert.deepEqual(
      named.filter((name) => !existsSync(path.join(ROOT, name))),
      [],
    );
  });

  test('use standard terms', () => {
    const odd = DOCUMENTS.flatMap(([file, text]) =>
      text
        // The README's output and options come from the program.
        .replace(/<!-- (output|options):start -->[\s\S]*?<!-- \1:end -->/g, '')
        .split('\n')
        .filter((line) => !line.startsWith('    ') && ODD.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
    assert.deepEqual(odd, []);
  });
});
