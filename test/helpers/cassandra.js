/** Whether a test can have a Cassandra here: it needs a Java 17, and its jars or Maven. */

import cassandra from '../../servers/cassandra.js';
import { findJava } from '../../servers/java.js';
import { findProgram, namedFolders } from '../../servers/programs.js';
import { PACKAGES_HOME } from './servers.js';

/** @returns {Promise<string | false>} why there is none, as a test's `skip` takes it */
export async function whyNoCassandra() {
  if ((await findJava()) === null) return 'no Java 17 on PATH or in JAVA_HOME';
  if ((await cassandra.find(PACKAGES_HOME)) !== null) return false;
  return (await findProgram('mvn', namedFolders())) === null
    ? 'no jars of Cassandra, and no Maven'
    : false;
}
