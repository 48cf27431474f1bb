/** Availability of Cassandra for tests: it needs Java 17, and its jars or Maven. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import cassandra from '../../servers/cassandra.js';
import { findJava } from '../../servers/java.js';
import { findProgram, namedFolders } from '../../servers/programs.js';
import { PACKAGES_HOME } from './servers.js';

/** @returns {Promise<string | false>} reason for `skip`; false: available */
export async function prepareCassandra() {
  const java = await findJava();
  if (java === null) return 'no Java 17 on PATH or in JAVA_HOME';
  useQuickCompiler(java);
  if ((await cassandra.find(PACKAGES_HOME)) !== null) return false;
  return (await findProgram('mvn', namedFolders())) === null
    ? 'no jars of Cassandra, and no Maven'
    : false;
}

/**
 * Java's second compiler takes most of the CPU time of a start, for speed that no test needs.
 * @param {string} java
 */
function useQuickCompiler(java) {
  const home = mkdtempSync(path.join(tmpdir(), 'dragstrip-java-'));
  process.on('exit', () => rmSync(home, { recursive: true, force: true }));
  chmodSync(home, 0o755); // servers of root have a different user
  mkdirSync(path.join(home, 'bin'));
  const script = `#!/bin/sh\nexec '${java}' -XX:TieredStopAtLevel=1 "$@"\n`;
  writeFileSync(path.join(home, 'bin/java'), script, { mode: 0o755 });
  process.env['JAVA_HOME'] = home;
}
