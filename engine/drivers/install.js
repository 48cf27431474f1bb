/**
 * Driver versions for `--against`: packed as npm would publish them, installed with their
 * dependencies into the state folder, without install scripts, keyed by the content of the tarball,
 * since a name may refer to other code tomorrow.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { targetError } from '../../lib/errors.js';
import { makeHome } from '../../lib/home.js';
import { readManifest } from '../../lib/packages.js';

/** @typedef {import('./sources.js').DriverSource} DriverSource */

/**
 * @typedef {object} Driver a package that replaces the installed one
 * @property {string} name name that adapters import
 * @property {string} package its own name, which differs in a fork
 * @property {string} version exact version
 * @property {string} folder folder whose node_modules contains it
 * @property {string} label version; for unpublished code, with a prefix of its hash
 * @property {string} [from] folder that was packed
 *
 * @typedef {{ package: string, version: string, kind: DriverSource['kind'], integrity: string }}
 *   Mark marks a complete installation
 */

const NPM_LIMIT_MS = 300_000;
const MARK = 'dragstrip-driver.json';
const HASH_CHARS = 16;
const AGAINST = '--against';
const LABEL_CHARS = 7;

/**
 * @param {DriverSource} source
 * @param {string} home the state folder
 * @returns {Promise<Driver>}
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET with npm's message
 */
export async function installDriver(source, home) {
  const parent = path.join(home, 'drivers');
  const known = publishedBefore(source, parent);
  if (known !== null) return driverIn(source, known);
  makeHome(home);
  await mkdir(parent, { recursive: true });
  // Excludes servers and secrets if the folder contains the state folder.
  await writeFile(path.join(home, '.npmignore'), '*\n');
  const building = await mkdtemp(path.join(parent, '.installing-'));
  try {
    const tarball = await pack(source, building);
    const digest = createHash('sha512').update(await readFile(tarball));
    const content = digest.copy().digest('hex').slice(0, HASH_CHARS);
    const folder = path.join(parent, `${source.package.replaceAll('/', '+')}-${content}`);
    if (markOf(folder) === null) {
      const integrity = `sha512-${digest.digest('base64')}`;
      await install(source, { tarball, building, folder, integrity });
    }
    return driverIn(source, folder);
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

/**
 * @param {string} folder
 * @returns {Mark | null} null: no complete installation
 */
function markOf(folder) {
  try {
    return JSON.parse(readFileSync(path.join(folder, MARK), 'utf8'));
  } catch {
    return null;
  }
}

/**
 * A published version never changes, so npm is not called again for an exact version.
 * @param {DriverSource} source
 * @param {string} parent
 * @returns {string | null}
 */
function publishedBefore({ kind, package: name, spec }, parent) {
  const version = spec.slice(name.length + 1);
  if (kind !== 'registry' || !/^\d+\.\d+\.\d+/.test(version) || !existsSync(parent)) return null;
  const found = readdirSync(parent).find((one) => {
    const mark = one.startsWith('.') ? null : markOf(path.join(parent, one));
    return mark?.kind === kind && mark.package === name && mark.version === version;
  });
  return found === undefined ? null : path.join(parent, found);
}

/**
 * @param {DriverSource} source
 * @param {string} folder
 * @returns {Driver}
 */
function driverIn({ name, kind, spec, text, option = AGAINST }, folder) {
  const mark = markOf(folder);
  if (mark === null) throw targetError(`${option} ${text}: its installation is incomplete`);
  const hash = folder.slice(folder.lastIndexOf('-') + 1);
  const label =
    kind === 'registry' ? mark.version : `${mark.version}+${hash.slice(0, LABEL_CHARS)}`;
  const { package: own, version } = mark;
  return { name, package: own, version, folder, label, ...(kind === 'folder' && { from: spec }) };
}

/**
 * @param {DriverSource} source
 * @param {string} folder target folder
 * @returns {Promise<string>} path of the tarball
 */
async function pack({ text, kind, spec, option }, folder) {
  if (kind === 'tarball') return spec;
  // Runs the build scripts of the user's own folder; scripts of other packages never run.
  const scripts = kind === 'folder' ? '--foreground-scripts=false' : '--ignore-scripts';
  const args = ['pack', '--json', scripts, '--pack-destination', folder, spec];
  const output = await runNpm(args, { cwd: folder, text, option, action: 'pack' });
  const [packed] = Object.values(JSON.parse(output.slice(output.search(/[[{]/))));
  const file = String(packed.filename).replace(/^@/, '').replaceAll('/', '-');
  return path.join(folder, file);
}

/**
 * @param {DriverSource} source
 * @param {{ tarball: string, building: string, folder: string, integrity: string }} places
 */
async function install(
  { text, kind, package: name, option = AGAINST },
  { tarball, building, folder, integrity },
) {
  // Without a package.json npm would install into a parent folder.
  await writeFile(path.join(building, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball];
  await runNpm(args, { cwd: building, text, option, action: 'install' });
  const version = readManifest(path.join(building, 'node_modules', name))?.['version'];
  if (version === undefined) throw targetError(`${option} ${text}: it does not contain ${name}`);
  /** @type {Mark} */
  const mark = { package: name, version: String(version), kind, integrity };
  await writeFile(path.join(building, MARK), `${JSON.stringify(mark)}\n`);
  await rm(folder, { recursive: true, force: true }); // an incomplete installation
  try {
    await rename(building, folder);
  } catch (error) {
    if (markOf(folder) === null) throw error; // otherwise another run was first
  }
}

/**
 * @param {string[]} args
 * @param {{ cwd: string, text: string, action: string, option?: string }} how
 * @returns {Promise<string>} its standard output
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET
 */
async function runNpm(args, { cwd, text, action, option = AGAINST }) {
  const { failed, stdout, stderr, shortMessage } = await npm(args, { cwd });
  if (!failed) return String(stdout);
  const lines = String(stderr ?? '').split('\n');
  const message = lines.find((line) => /^npm (ERR!|error) (?!code)\S/.test(line)) ?? shortMessage;
  const isVersion = !text.includes('/') && !text.startsWith('.');
  throw targetError(
    `${option} ${text}: npm could not ${action} it: ${String(message).slice(0, 200)}`,
    isVersion ? `npm view ${text} version shows whether it exists` : undefined,
  );
}

/**
 * Path of the npm that started this process, if any.
 * @param {readonly string[]} args
 * @param {{ cwd: string }} options
 */
export async function npm(args, { cwd }) {
  const { execa } = await import('execa');
  const script = process.env['npm_execpath'];
  const [program, ...first] =
    script !== undefined && /\.[cm]?js$/.test(script) ? [process.execPath, script] : ['npm'];
  const options = { cwd, reject: false, stdin: /** @type {const} */ ('ignore') };
  return execa(program, [...first, ...args], { ...options, timeout: NPM_LIMIT_MS });
}
