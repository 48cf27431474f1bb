/**
 * Runtimes other than this Node (`--runtime node@24,bun,deno`): installed from npm into the state
 * folder like drivers, never system-wide, and used for benchmark processes. npm has one package per
 * runtime and platform, whose binary needs no install script.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { targetError, usageError } from '../../lib/errors.js';
import { installDriver } from './install.js';

/** @typedef {import('../../lib/node-child.js').Runtime} Runtime */
/** @typedef {import('../targets.js').StorageTarget} StorageTarget */

/** Earlier versions lack features that the modules of a benchmark process use. */
const NODE_MIN = 18;

const ARM = process.arch === 'arm64';
/** @type {Readonly<Record<Runtime['kind'], { package: string, program: string }>>} */
const PACKAGES = Object.freeze({
  node: { package: `node-${process.platform}-${process.arch}`, program: 'bin/node' },
  bun: {
    package: `@oven/bun-${process.platform}-${ARM ? 'aarch64' : process.arch}`,
    program: 'bin/bun',
  },
  deno: {
    package: `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`,
    program: 'deno',
  },
});

/**
 * @param {string} text `node@24`, `bun`, `deno@2.9.6`
 * @returns {{ kind: Runtime['kind'], range: string }}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function parseRuntime(text) {
  const match = /^(node|bun|deno)(?:@(\d+(?:\.\d+){0,2}))?$/.exec(text.trim());
  if (match?.[1] === 'node' && Number.parseInt(match[2], 10) < NODE_MIN) {
    throw usageError(
      `--runtime ${JSON.stringify(text)}: this Node is too old for Dragstrip's processes`,
      `write --runtime node@${NODE_MIN} or a later one`,
    );
  }
  if (match !== null) {
    return { kind: /** @type {Runtime['kind']} */ (match[1]), range: match[2] ?? 'latest' };
  }
  throw usageError(
    `--runtime ${JSON.stringify(text)}: not a runtime`,
    'supported: node, bun and deno, optionally with a version: node@24,bun',
  );
}

/**
 * @param {string} text
 * @param {string} home the state folder
 * @returns {Promise<Runtime>}
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET if npm has none for this platform
 */
export async function installRuntime(text, home) {
  const { kind, range } = parseRuntime(text);
  const { package: name, program } = PACKAGES[kind];
  const spec = `${name}@${range}`;
  const about = { name, package: name, kind: /** @type {const} */ ('registry'), spec };
  const found = await installDriver({ ...about, text: spec, option: '--runtime' }, home);
  const file = path.join(found.folder, 'node_modules', name, program);
  if (!existsSync(file)) throw targetError(`--runtime ${text}: ${spec} has no ${program}`);
  return { kind, version: found.version, program: file };
}

/**
 * Each storage under each runtime instead of this Node; named storages first.
 * @param {readonly StorageTarget[]} storages
 * @param {{ runtimes?: readonly string[] }} plan
 * @param {string} home
 * @returns {Promise<StorageTarget[]>}
 */
export async function withRuntimes(storages, { runtimes = [] }, home) {
  if (runtimes.length === 0) return [...storages];
  /** @type {Runtime[]} */
  const installed = [];
  for (const text of runtimes) installed.push(await installRuntime(text, home));
  return storages.flatMap((target) => {
    const { definition } = target;
    const { runtime: only, name } = definition;
    const known = installed.filter(({ kind }) => only === undefined || kind === only);
    const under = known.map((runtime) => {
      const label = `${name}@${runtime.kind}-${runtime.version}`;
      const own = { ...target, definition: Object.freeze({ ...definition, name: label }), runtime };
      // The runtime itself determines whether it can open it.
      if (only !== undefined) return { ...own, unavailable: target.server?.unavailable ?? null };
      return { ...own, base: target.base ?? name };
    });
    return only !== undefined && under.length > 0 ? under : [target, ...under];
  });
}
