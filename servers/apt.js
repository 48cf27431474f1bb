/**
 * apt-get and dpkg-deb in a folder of our own, as any user: the system's sources, keys and proxies
 * are read; its lists, caches, locks and installed packages are neither used nor touched.
 */

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { targetError, usageError } from '../lib/errors.js';
import { runCommand } from './command.js';
import { findProgram } from './programs.js';

/** What to do instead where packages cannot be had. */
const REMEDY =
  'install the server yourself (its programs are taken from PATH), or give the address of a ' +
  'running one; see `dragstrip doctor`';

/**
 * @typedef {object} Apt
 * @property {(packages: readonly string[]) => Promise<{ known: string[], depends: string[] }>} look
 *   which of the packages the lists know, and what these depend on themselves (no recommendations)
 * @property {(packages: readonly string[], root: string) => Promise<void>} unpack downloads
 *   (checked by apt against the signed lists) and unpacks them into `root`
 */

/**
 * Reads the lists of packages into `folder`.
 * @param {string} folder absolute; made
 * @param {{ signal?: AbortSignal }} options
 * @returns {Promise<Apt>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET where there is no apt, or no network
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
    // Packages stand at the margin; `<virtual>` ones and foreign architectures (`:i386`) do not
    // match.
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
    for (const leaf of await readdir(archives)) {
      const archive = join(archives, leaf);
      const result = await runCommand(tools.dpkgDeb, ['-x', archive, root], { signal });
      if (!result.ok) {
        throw targetError(`${leaf} cannot be unpacked: ${result.output.split('\n').pop()}`, REMEDY);
      }
      await rm(archive);
    }
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
      "servers are fetched from Debian's or Ubuntu's packages, but apt-get is not here" +
        ` (${system?.[1] ?? process.platform})`,
      REMEDY,
    );
  }
  return { aptGet, aptCache, dpkgDeb };
}

/**
 * Read after the system's own settings (apt.conf(5), option -c), so it has the last word.
 * @param {string} folder
 */
function writeConfiguration(folder) {
  return [
    // Hooks of the system would clean its caches or fail without root.
    '#clear APT::Update::Pre-Invoke;',
    '#clear APT::Update::Post-Invoke;',
    '#clear APT::Update::Post-Invoke-Success;',
    '#clear DPkg::Pre-Install-Pkgs;',
    '#clear DPkg::Post-Invoke;',
    // Only the lists of packages: no metadata of desktops, no indexes of files.
    ...['DEP-11', 'DEP-11-icons-small', 'DEP-11-icons', 'DEP-11-icons-hidpi', 'DEP-11-icons-large']
      .concat(['DEP-11-icons-large-hidpi', 'CNF', 'Contents-deb', 'Contents-udeb'])
      .map((target) => `#clear Acquire::IndexTargets::deb::${target};`),
    '#clear Acquire::IndexTargets::deb-src;',
    'Acquire::Languages "none";',
    'Acquire::Retries "2";',
    'Acquire::http::Timeout "20";',
    'Acquire::https::Timeout "20";',
    `Dir::State "${folder}";`,
    `Dir::State::lists "${folder}/lists";`,
    // Nothing counts as installed: what the system has is left to `ldd` to find.
    `Dir::State::status "${folder}/status";`,
    `Dir::Cache "${folder}/cache";`,
    // Container images switch these off; without them each command parses the lists anew.
    'Dir::Cache::pkgcache "pkgcache.bin";',
    'Dir::Cache::srcpkgcache "srcpkgcache.bin";',
    'Acquire::GzipIndexes "false";',
    'Debug::NoLocking "true";',
    // As root apt would hand the download to user _apt, who may not enter a private folder.
    'APT::Sandbox::User "root";',
    'APT::Get::List-Cleanup "false";',
    '',
  ].join('\n');
}

/**
 * @param {readonly string[]} packages
 * @param {string[]} outputs of apt, the causes first
 */
function notAvailable(packages, outputs) {
  const lines = outputs.flatMap((output) => output.split('\n'));
  const cause =
    lines.find((line) => /resolv|connect|timed out|unreachable|proxy/i.test(line)) ??
    lines.find((line) => line.startsWith('E:')) ??
    'they are not in the lists of this system';
  return targetError(`packages ${packages.join(' ')} cannot be had: ${cause.trim()}`, REMEDY);
}
