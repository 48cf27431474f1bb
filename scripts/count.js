/**
 * Counts the product's source (`npm run count`): files, lines and code lines per folder, imports
 * against the layers, import cycles, and with `--workload NAME` product files outside the
 * workload's folder that contain its name. `--rev REVISION` counts a commit instead of the working
 * tree, so before and after a change are two runs; `--json` prints the same as JSON.
 *
 * The product is every tracked .js, .ts and .lua file except test/, bench/ and packages/NAME/test/.
 * A code line is a line that is neither blank nor part of a comment. scripts/budget.json limits the
 * code lines of each folder (test/fast/tidy.test.js).
 */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cyclesOf, importEdges, isTest, LAYERS, wrongEdges } from './imports.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BYTES_MAX = 1e9;

/** @param {readonly string[]} words @param {string} [input] */
function git(words, input) {
  return execFileSync('git', words, { cwd: ROOT, maxBuffer: BYTES_MAX, input });
}

/**
 * @param {string} file
 * @returns {boolean} whether it is part of the product
 */
export function isCounted(file) {
  return /\.(js|ts|lua)$/.test(file) && !isTest(file) && !file.startsWith('bench/');
}

/**
 * @param {string} [revision] absent: the working tree
 * @returns {[string, string][]} names and texts of the product's files
 */
function productFiles(revision) {
  if (revision === undefined) {
    return lines(git(['ls-files', '-z']).toString(), '\0')
      .filter((file) => isCounted(file) && existsSync(path.join(ROOT, file)))
      .map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')]);
  }
  const tree = git(['ls-tree', '-r', '-z', '--name-only', revision]).toString();
  const files = lines(tree, '\0').filter(isCounted);
  const request = files.map((file) => `${revision}:${file}\n`).join('');
  const blobs = git(['cat-file', '--batch'], request);
  let at = 0;
  return files.map((file) => {
    const headerEnd = blobs.indexOf('\n', at);
    const bytes = Number(blobs.toString('latin1', at, headerEnd).split(' ')[2]);
    const text = blobs.toString('utf8', headerEnd + 1, headerEnd + 1 + bytes);
    at = headerEnd + bytes + 2;
    return [file, text];
  });
}

/** @param {string} text @param {string} separator */
function lines(text, separator) {
  return text.split(separator).filter((line) => line !== '');
}

/**
 * @param {string} file
 * @param {string} text
 * @returns {number} lines that are neither blank nor part of a comment
 */
function countCode(file, text) {
  const [open, close, single] = file.endsWith('.lua') ? ['--[[', ']]', '--'] : ['/*', '*/', '//'];
  let inComment = false;
  let code = 0;
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (!inComment && line.startsWith(open)) inComment = true;
    else if (!inComment && line !== '' && !line.startsWith(single)) code += 1;
    if (inComment && line.includes(close)) inComment = false;
  }
  return code;
}

/** @param {string} text */
function countLines(text) {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/** @param {string} file */
function folderOf(file) {
  if (!file.includes('/')) return '.';
  const two = file.split('/').slice(0, 2).join('/');
  return LAYERS[two] === undefined ? file.slice(0, file.indexOf('/')) : two;
}

/**
 * @param {readonly [string, string][]} files
 * @param {string} name name of a workload
 * @returns {string[]} files outside workloads/NAME and data for it that contain the name as a word
 */
function filesNaming(files, name) {
  const word = new RegExp(`(?<![A-Za-z])${name}(?![a-z])`, 'i');
  return files
    .filter(([file, text]) => !file.startsWith(`workloads/${name}/`) && word.test(text))
    .map(([file]) => file);
}

/**
 * @param {{ revision?: string, workload?: string, files?: readonly [string, string][] }} options
 *   files: names and texts of the product's files; default: those of the revision
 */
export function count({ revision, workload, files = productFiles(revision) }) {
  /** @type {Record<string, { files: number, lines: number, code: number }>} */
  const folders = {};
  for (const [file, text] of files) {
    const folder = folderOf(file);
    folders[folder] ??= { files: 0, lines: 0, code: 0 };
    folders[folder].files += 1;
    folders[folder].lines += countLines(text);
    folders[folder].code += countCode(file, text);
  }
  const edges = importEdges(files.filter(([file]) => file.endsWith('.js')));
  const { upwards, sideways } = wrongEdges(edges);
  const show = (/** @type {import('./imports.js').Edge} */ { file, to }) => `${file} > ${to}`;
  return {
    revision: revision ?? 'working tree',
    folders,
    total: sum(Object.values(folders)),
    imports: edges.length,
    upwards: upwards.map(show),
    sideways: sideways.map(show),
    cycles: cyclesOf(edges.map(({ file, to }) => ({ from: file, to }))),
    folderCycles: folderCycles(edges),
    ...(workload === undefined ? {} : { workload, naming: filesNaming(files, workload) }),
  };
}

/** @param {readonly import('./imports.js').Edge[]} edges @returns {string[]} pairs of folders */
function folderCycles(edges) {
  const arrows = new Set(
    edges.filter(({ from, into }) => from !== into).map(({ from, into }) => `${from} > ${into}`),
  );
  return [...arrows].filter((arrow) => {
    const [from, into] = arrow.split(' > ');
    return from < into && arrows.has(`${into} > ${from}`);
  });
}

/** @param {readonly { files: number, lines: number, code: number }[]} rows */
function sum(rows) {
  const total = { files: 0, lines: 0, code: 0 };
  for (const row of rows) {
    total.files += row.files;
    total.lines += row.lines;
    total.code += row.code;
  }
  return total;
}

/** @param {ReturnType<typeof count>} counts @returns {string} */
function format(counts) {
  const benchmark = (/** @type {number | string} */ value) => String(value).padStart(8);
  const row = (/** @type {string} */ name, /** @type {(number | string)[]} */ values) =>
    `${name.padEnd(16)}${values.map(benchmark).join('')}`;
  const list = (/** @type {string} */ name, /** @type {readonly string[]} */ items) => [
    `${name}: ${items.length}`,
    ...items.map((item) => `  ${item}`),
  ];
  const folders = Object.entries(counts.folders).sort(([a], [b]) => a.localeCompare(b));
  return [
    row(counts.revision, ['files', 'lines', 'code']),
    ...folders.map(([name, { files, lines, code }]) => row(name, [files, lines, code])),
    row('total', Object.values(counts.total)),
    '',
    `imports: ${counts.imports}`,
    ...list('upwards', counts.upwards),
    ...list('sideways', counts.sideways),
    ...list('cycles', counts.cycles),
    ...list('folders that import each other', counts.folderCycles),
    ...(counts.naming === undefined
      ? []
      : list(`files outside workloads/${counts.workload}/ naming it`, counts.naming)),
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      rev: { type: 'string' },
      workload: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const counts = count({ revision: values.rev, workload: values.workload });
  console.log(values.json ? JSON.stringify(counts, null, 2) : format(counts));
}
