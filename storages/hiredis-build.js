/**
 * Builds hiredis-node for this Node: a copy of the installed sources, two calls changed, compiled
 * by npm's node-gyp. Never writes into node_modules, never downloads headers, and is atomic: built
 * in a temporary folder and renamed.
 */

import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { builtBinary, builtFolder, noteBuild } from '../lib/hiredis-build.js';
import { findPackage } from '../lib/packages.js';
import { ownerMayLive, ownerName } from '../lib/process-identity.js';

/** @typedef {{ built: boolean, reason: string | null }} BuildReport */

const PACKAGES = ['hiredis', 'nan', 'bindings', 'file-uri-to-path'];
const BUILD_LIMIT_MS = 180_000;

/**
 * The two calls in src/reader.cc that V8 no longer has without a context (hiredis-node's issue
 * 143), in the form of nan, which the package already uses.
 */
const CHANGES = [
  { from: 'larray->Set(task->idx,v);', to: 'Nan::Set(larray, (uint32_t)task->idx, v);' },
  {
    from: 'v = Exception::Error(v->ToString());',
    to: 'v = Exception::Error(Nan::To<String>(v).ToLocalChecked());',
  },
];

/** Loads the build and parses a nil, an array and an error, which use the changed calls. */
const TRIAL = `const { Reader } = require('hiredis');
const reader = new Reader();
reader.feed('*2\\r\\n$1\\r\\na\\r\\n$-1\\r\\n-ERR no\\r\\n');
const [a, b] = reader.get();
if (a !== 'a' || b !== null || reader.get().message !== 'ERR no') throw new Error('wrong replies');`;

/**
 * @param {object} options
 * @param {string} options.home the state folder
 * @param {string} [options.modules] folder with hiredis and nan; default: resolved by Node
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<BuildReport>} built: it exists and loads (possibly from before); otherwise the
 *   reason, one line
 */
export async function buildHiredis(options) {
  const report = await buildOnce(options);
  noteBuild(report.reason);
  return report;
}

/** @param {Parameters<typeof buildHiredis>[0]} options @returns {Promise<BuildReport>} */
async function buildOnce({ home, modules, signal }) {
  if (existsSync(builtBinary(home)) && (await tryOut(builtFolder(home)))) {
    return { built: true, reason: null };
  }
  const tools = findTools(modules);
  if (typeof tools === 'string') return { built: false, reason: tools };
  const parent = path.join(home, 'hiredis');
  let building = '';
  try {
    await mkdir(parent, { recursive: true });
    await removeLeftovers(parent);
    building = await mkdtemp(path.join(parent, `building-${ownerName()}-`));
    return await build(home, building, tools, signal);
  } catch (error) {
    return { built: false, reason: String(error.message).split('\n')[0] };
  } finally {
    if (building !== '') await rm(building, { recursive: true, force: true });
  }
}

/**
 * @param {string} home
 * @param {string} building
 * @param {Tools} tools
 * @param {AbortSignal} [signal]
 * @returns {Promise<BuildReport>}
 */
async function build(home, building, tools, signal) {
  const source = path.join(building, 'node_modules/hiredis');
  for (const [name, folder] of Object.entries(tools.sources)) {
    await copyWritable(folder, path.join(building, 'node_modules', name));
  }
  await changeSource(path.join(source, 'src/reader.cc'));
  const compiled = await run(
    process.execPath,
    [tools.gyp, 'rebuild', '--nodedir', tools.nodedir, '--devdir', path.join(building, 'dev')],
    { cwd: source, signal, env: { npm_config_nodedir: tools.nodedir } },
  );
  if (compiled.status !== 0) {
    return { built: false, reason: `it does not compile: ${firstError(compiled.output)}` };
  }
  await keepOnlyBinary(path.join(source, 'build'));
  if (!(await tryOut(building))) {
    return { built: false, reason: 'it compiled, but the build does not load or parse' };
  }
  const target = builtFolder(home);
  await rm(target, { recursive: true, force: true }); // the existing build does not load
  try {
    await rename(building, target);
  } catch (error) {
    // Another process was first; its build is used if it loads.
    if (!(await tryOut(target))) throw error;
  }
  return { built: true, reason: null };
}

/**
 * @typedef {object} Tools
 * @property {string} gyp node-gyp's script
 * @property {string} nodedir a prefix with include/node of this Node
 * @property {Record<string, string>} sources package name to folder
 */

/**
 * @param {string} [modules]
 * @returns {Tools | string} the reason if something is missing
 */
function findTools(modules) {
  /** @type {Record<string, string>} */
  const sources = {};
  for (const name of PACKAGES) {
    const folder = modules === undefined ? findPackage(name)?.folder : path.join(modules, name);
    if (folder === undefined || !existsSync(folder)) {
      return `the npm package ${name} is not installed`;
    }
    sources[name] = folder;
  }
  for (const names of [
    ['c++', 'g++', 'clang++'],
    ['make', 'gmake'],
    ['python3', 'python'],
  ]) {
    if (!names.some(isOnPath)) return `${names[0]} is not on PATH`;
  }
  const gyp = findNodeGyp();
  if (gyp === null) return 'node-gyp of npm is missing';
  const nodedir = findHeaders();
  if (nodedir === null)
    return `the headers of Node ${process.versions.node} are missing beside node`;
  return { gyp, nodedir, sources };
}

/** @param {string} name */
function isOnPath(name) {
  return (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** @returns {string | null} */
function findNodeGyp() {
  const npmScript = process.env['npm_execpath'];
  const roots = [path.join(nodePrefix(), 'lib/node_modules/npm')];
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const npm = path.join(folder, 'npm');
    if (existsSync(npm)) roots.push(path.join(path.dirname(realpathSync(npm)), '..'));
  }
  if (npmScript) roots.unshift(path.join(path.dirname(npmScript), '..'));
  // Debian's npm has node-gyp as a separate package.
  const candidates = roots.flatMap((root) => [
    path.join(root, 'node_modules/node-gyp/bin/node-gyp.js'),
    path.join(root, '../node-gyp/bin/node-gyp.js'),
  ]);
  candidates.push('/usr/share/nodejs/node-gyp/bin/node-gyp.js');
  return candidates.find((file) => existsSync(file)) ?? null;
}

function nodePrefix() {
  return path.dirname(path.dirname(realpathSync(process.execPath)));
}

/**
 * Headers of another Node would compile and then crash, so the ABI numbers must be equal.
 * @returns {string | null} a prefix with include/node
 */
function findHeaders() {
  const candidates = [process.env['npm_config_nodedir'], nodePrefix(), '/usr', '/usr/local'];
  for (const prefix of candidates) {
    if (!prefix) continue;
    const file = path.join(prefix, 'include/node/node_version.h');
    if (!existsSync(file)) continue;
    const abi = /#define NODE_MODULE_VERSION (\d+)/.exec(readFileSync(file, 'utf8'))?.[1];
    if (abi === process.versions.modules) return prefix;
  }
  return null;
}

/**
 * A plain copy keeps modes, so a copy of a read-only node_modules could neither be built nor
 * removed.
 * @param {string} from a folder; links are followed
 * @param {string} to
 */
async function copyWritable(from, to) {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    const source = path.join(from, name);
    const target = path.join(to, name);
    if (statSync(source).isDirectory()) {
      await copyWritable(source, target);
    } else {
      await copyFile(source, target);
      await chmod(target, 0o644);
    }
  }
}

/** @param {string} file src/reader.cc of the copy */
async function changeSource(file) {
  let text = readFileSync(file, 'utf8');
  for (const { from, to } of CHANGES) {
    if (text.split(from).length !== 2) {
      throw new Error(`src/reader.cc is not the one of hiredis 0.5.0: "${from}" is not in it once`);
    }
    text = text.replace(from, () => to);
  }
  await writeFile(file, text);
}

/**
 * @param {string} folder the build folder, whose objects and makefiles contain paths and megabytes
 */
async function keepOnlyBinary(folder) {
  for (const name of await readdir(folder)) {
    if (name !== 'Release') await rm(path.join(folder, name), { recursive: true, force: true });
  }
  const release = path.join(folder, 'Release');
  for (const name of await readdir(release)) {
    if (name === 'hiredis.node') continue;
    await rm(path.join(release, name), { recursive: true, force: true });
  }
}

/** @param {string} parent parent folder of builds; those of killed processes are removed */
async function removeLeftovers(parent) {
  for (const name of await readdir(parent)) {
    const maker = /^building-(\d+\.\d+\.[0-9a-f]{8})-/.exec(name)?.[1];
    if (maker === undefined || ownerMayLive(maker)) continue;
    await rm(path.join(parent, name), { recursive: true, force: true });
  }
}

/**
 * In a separate process: a bad native module can crash its process.
 * @param {string} folder
 * @returns {Promise<boolean>}
 */
async function tryOut(folder) {
  const script = `require = require('node:module').createRequire(${JSON.stringify(`${folder}/`)});
${TRIAL}`;
  return (await run(process.execPath, ['-e', script], { cwd: folder })).status === 0;
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, signal?: AbortSignal, env?: Record<string, string> }} options
 * @returns {Promise<{ status: number | null, output: string }>} output: both streams
 */
async function run(program, args, { cwd, signal, env = {} }) {
  const { execa } = await import('execa');
  const { exitCode, all, failed, shortMessage } = await execa(program, args, {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    extendEnv: false,
    all: true,
    stdin: 'ignore',
    reject: false,
    timeout: BUILD_LIMIT_MS,
    cancelSignal: signal,
  });
  const ended = exitCode === undefined && failed ? `error: ${shortMessage}` : '';
  return { status: exitCode ?? null, output: `${all ?? ''}\n${ended}` };
}

/**
 * The environment for a build. node-gyp lets npm's variables overrule its arguments: an empty
 * npm_config_nodedir would have it download headers.
 * @returns {Record<string, string | undefined>}
 */
function cleanEnvironment() {
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  // binding.gyp calls `node` by name, which must be this one.
  const nodeFolder = path.dirname(process.execPath);
  return {
    ...Object.fromEntries(kept),
    PATH: `${nodeFolder}${path.delimiter}${process.env['PATH'] ?? ''}`,
  };
}

/** @param {string} output */
function firstError(output) {
  const lines = output.split('\n');
  const line =
    lines.find((text) => /\berror: /i.test(text)) ??
    lines.find((text) => text.startsWith('gyp ERR! stack')) ??
    lines.find((text) => text.startsWith('gyp ERR!'));
  return (line ?? 'no message').trim();
}
