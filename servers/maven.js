/**
 * Downloads Java libraries with Maven. The user's settings, mirrors and proxies are read; the
 * user's local repository is neither used nor modified.
 */

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { targetError } from '../lib/errors.js';
import { runCommand } from './command.js';
import { findProgram, namedFolders } from './programs.js';

/** Exact version, because a plugin is executed. */
const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

/**
 * Downloads a library and its dependencies, verified against the repository's checksums.
 * @param {{ group: string, artifact: string, version: string }} library
 * @param {string} folder for the jars; created
 * @param {{ scratch: string, name: string, hint: string, signal?: AbortSignal }} options scratch: a
 *   temporary folder; name: name of the server, for messages
 * @returns {Promise<void>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET without Maven or
 *   network
 */
export async function copyDependencies(library, folder, { scratch, name, hint, signal }) {
  const maven = await findProgram('mvn', namedFolders());
  if (maven === null) {
    throw targetError(
      `${name}: fetching its jars requires Maven, but mvn is not on PATH`,
      `install Maven (Debian package maven), or ${hint}`,
    );
  }
  await mkdir(scratch, { recursive: true });
  const project = join(scratch, 'pom.xml');
  await writeFile(project, writeProject(library));
  const { ok, output, reason } = await runCommand(
    maven,
    [
      ...['--batch-mode', '--quiet', '--strict-checksums', `--file=${project}`],
      `-Dmaven.repo.local=${join(scratch, 'repository')}`,
      ...[`${PLUGIN}:copy-dependencies`, `-DoutputDirectory=${folder}`],
    ],
    { cwd: scratch, signal },
  );
  await rm(scratch, { recursive: true, force: true });
  if (!ok)
    throw targetError(`${name}: downloading its jars failed: ${causeOf(output, reason)}`, hint);
}

/**
 * Checksums of a repository prove complete files, but not the expected ones.
 * @param {string} folder folder of jars
 * @param {string} list lines of `sha256sum`
 * @param {string} name name of the server, for messages
 * @returns {Promise<number>} number of files
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: a jar is unknown, differs, or is
 *   missing
 */
export async function requireDigests(folder, list, name) {
  const wanted = new Map(
    list
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => /** @type {[string, string]} */ ([line.slice(66), line.slice(0, 64)])),
  );
  const leaves = await readdir(folder);
  for (const leaf of leaves) {
    const digest = createHash('sha256')
      .update(await readFile(join(folder, leaf)))
      .digest('hex');
    if (wanted.get(leaf) === digest) continue;
    const what = wanted.has(leaf) ? 'has an unexpected digest' : 'is unexpected';
    throw targetError(
      `${name}: ${leaf} from Maven ${what}`,
      'do not use it: check the configured repository and mirror of Maven',
    );
  }
  if (leaves.length === wanted.size) return leaves.length;
  throw targetError(`${name}: ${wanted.size - leaves.length} jars are missing from the download`);
}

/** @param {{ group: string, artifact: string, version: string }} library */
function writeProject({ group, artifact, version }) {
  return `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>dragstrip</groupId>
  <artifactId>server</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>${group}</groupId>
      <artifactId>${artifact}</artifactId>
      <version>${version}</version>
    </dependency>
  </dependencies>
</project>
`;
}

/**
 * @param {string} output
 * @param {string} reason
 * @returns {string} one line
 */
function causeOf(output, reason) {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.replace(/^\[ERROR\]\s*/, '').trim());
  return lines.find((line) => line !== '') ?? reason.split('\n')[0];
}
