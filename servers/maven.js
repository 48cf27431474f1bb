/**
 * Downloads Java libraries with Maven. The user's settings, mirrors and proxies are read; the
 * user's local repository is neither used nor modified.
 */

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { targetError } from '../lib/errors.js';
import { runCommand } from './command.js';
import { findProgram, namedFolders } from './programs.js';

/**
 * Downloads a library and its dependencies, verified against the repository's checksums.
 * @param {{ group: string, artifact: string, version: string }} library
 * @param {string} folder for the jars; created
 * @param {{ scratch: string, name: string, hint: string, signal?: AbortSignal }} options scratch:
 *   a temporary folder; name: of the server, for messages
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
      ...['dependency:copy-dependencies', `-DoutputDirectory=${folder}`],
    ],
    { cwd: scratch, signal },
  );
  await rm(scratch, { recursive: true, force: true });
  if (!ok)
    throw targetError(`${name}: downloading its jars failed: ${causeOf(output, reason)}`, hint);
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
