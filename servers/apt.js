/**
 * Runs apt-get and dpkg-deb in a private folder, without root. The system's sources, keys and
 * proxies are read; its lists, caches, locks and installed packages are neither used nor modified.
 */

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { targetError, usageError } from '../lib/errors.js';
import { runCommand } from './command.js';
import { findProgram } from './programs.js';

/** Settings that would allow unsigned packages (apt.conf(5), apt-secure(8)). */
const SIGNED_ONLY = [
  'APT::Get::AllowUnauthenticated',
  'Acquire::AllowInsecureRepositories',
  'Acquire::AllowWeakRepositories',
  'Acquire::AllowDowngradeToInsecureRepositories',
];
/** Hint if packages are not available. */
const HINT =
  'install the server yourself (its programs must be on PATH), or give the address of a ' +
  'running one; see `npx dragstrip doctor`';

/**
 * @typedef {object} Apt
 * @property {(packages: readonly string[]) => Promise<{ known: string[], depends: string[] }>} look
 *   known packages, and their direct dependencies (without recommendations)
 * @property {(packages: readonly string[], root: string) => Promise<string[]>} unpack downloads
 *   (checked by apt against the signed lists) and unpacks them into `root`; gives name, version and
 *   architecture of each: `redis-server_7.0.15-1_amd64`
 */

/**
 * Reads the package lists into `folder`.
 * @param {string} folder absolute; created
 * @param {{ signal?: AbortSignal }} options
 * @returns {Promise<Apt>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET without apt or network
 */
export async function openApt(folder, { signal }) {
  const tools = await findTools();
  if (/["\\\n]/.test(folder)) {
    throw usageError(`${folder}: apt cannot write to a path with quotes`, 'set DRAGSTRIP_HOME');
  }
  const archives = join(folder, 'archives');
  await mkdir(join(folder, 'lists', 'partial'), { recursive: true });
  await mkdir(join(folder, 'cache', 'archives', 'partial'), { recursive: true });
  await mkdir(archives);
  await writeFile(join(folder, 'status'), '');
  const configuration = join(folder, 'apt.conf');
  await writeFile(configuration, writeConfiguration(folder));

  /** @param {string} program @param {readonly string[]} args */
  const apt = (program, args) =>
    runCommand(program, ['-c', configuration, ...args], { cwd: archives, signal });

  const update = await apt(tools.aptGet, ['-q', 'update']);

  /** @type {Apt['look']} */
  async function look(packages) {
    const { output } = await apt(tools.aptCache, ['depends', ...packages]);
    // Packages are not indented; `<virtual>` ones and other architectures (`:i386`) do not match.
    const known = matches(output, /^([a-z0-9][a-z0-9+.-]*)$/gm);
    const depends = matches(output, /^ [ |](?:Pre)?Depends: ([a-z0-9][a-z0-9+.-]*)$/gm);
    if (known.length === 0) throw notAvailable(packages, [update.output, output]);
    return { known, depends };
  }

  /** @type {Apt['unpack']} */
  async function unpack(packages, root) {
    const download = await apt(tools.aptGet, ['-q', 'download', ...packages]);
    if (!download.ok) throw notAvailable(packages, [update.output, download.output]);
    await mkdir(root, { recursive: true });
    const leaves = await readdir(archives);
    for (const leaf of leaves) {
      const archive = join(archives, leaf);
      const result = await runCommand(tools.dpkgDeb, ['-x', archive, root], { signal });
      if (!result.ok) {
        throw targetError(`unpacking ${leaf} failed: ${result.output.split('\n').pop()}`, HINT);
      }
      await rm(archive);
    }
    // File names have %3a for a colon in a version.
    return leaves.map((leaf) => leaf.replace(/\.deb$/, '').replaceAll('%3a', ':'));
  }

  return { look, unpack };
}

/**
 * @param {string} text
 * @param {RegExp} form
 */
function matches(text, form) {
  return [...new Set(Array.from(text.matchAll(form), (match) => match[1]))];
}

async function findTools() {
  const [aptGet, aptCache, dpkgDeb] = await Promise.all(
    ['apt-get', 'apt-cache', 'dpkg-deb'].map((program) => findProgram(program)),
  );
  if (aptGet === null || aptCache === null || dpkgDeb === null) {
    const system = /^PRETTY_NAME="?([^"\n]*)/m.exec(
      await readFile('/etc/os-release', 'utf8').catch(() => ''),
    );
    throw targetError(
      "fetching servers requires Debian's or Ubuntu's packages, but apt-get was not found" +
        ` (${system?.[1] ?? process.platform})`,
      HINT,
    );
  }
  return { aptGet, aptCache, dpkgDeb };
}

/**
 * Read after the system's settings (apt.conf(5), option -c), so it takes precedence.
 * @param {string} folder
 */
function writeConfiguration(folder) {
  return [
    // System hooks would clean its caches or fail without root.
    '#clear APT::Update::Pre-Invoke;',
    '#clear APT::Update::Post-Invoke;',
    '#clear APT::Update::Post-Invoke-Success;',
    '#clear DPkg::Pre-Install-Pkgs;',
    '#clear DPkg::Post-Invoke;',
    // Only package lists: no desktop metadata, no file indexes.
    ...['DEP-11', 'DEP-11-icons-small', 'DEP-11-icons', 'DEP-11-icons-hidpi', 'DEP-11-icons-large']
      .concat(['DEP-11-icons-large-hidpi', 'CNF', 'Contents-deb', 'Contents-udeb'])
      .map((target) => `#clear Acquire::IndexTargets::deb::${target};`),
    '#clear Acquire::IndexTargets::deb-src;',
    // Independent of the system's settings, only packages of signed lists are unpacked and
    // executed.
    ...SIGNED_ONLY.map((name) => `${name} "false";`),
    'Acquire::Languages "none";',
    'Acquire::Retries "2";',
    'Acquire::http::Timeout "20";',
    'Acquire::https::Timeout "20";',
    `Dir::State "${folder}";`,
    `Dir::State::lists "${folder}/lists";`,
    // No package counts as installed; `ldd` finds the libraries of the system.
    `Dir::State::status "${folder}/status";`,
    `Dir::Cache "${folder}/cache";`,
    // Container images disable these; without them every command parses the lists again.
    'Dir::Cache::pkgcache "pkgcache.bin";',
    'Dir::Cache::srcpkgcache "srcpkgcache.bin";',
    'Acquire::GzipIndexes "false";',
    'Debug::NoLocking "true";',
    // As root, apt would download as user _apt, which cannot access a private folder.
    'APT::Sandbox::User "root";',
    'APT::Get::List-Cleanup "false";',
    '',
  ].join('\n');
}

/**
 * @param {readonly string[]} packages
 * @param {string[]} outputs outputs of apt, causes first
 */
function notAvailable(packages, outputs) {
  const lines = outputs.flatMap((output) => output.split('\n'));
  const cause =
    lines.find((line) => /resolv|connect|timed out|unreachable|proxy/i.test(line)) ??
    lines.find((line) => line.startsWith('E:')) ??
    'not in the package lists of this system';
  return targetError(`packages ${packages.join(' ')} are not available: ${cause.trim()}`, HINT);
}
