/** `dragstrip list`: list storages and their profiles, servers, workloads and reports. */

import { capabilitiesOf } from '../../lib/capabilities.js';
import { wrap } from '../../lib/format.js';
import { labelOf } from '../../lib/label.js';
import { findPackage } from '../../lib/packages.js';
import { loadReport, REPORT_NAMES } from '../../report/index.js';
import { loadServer, SERVER_NAMES } from '../../servers/index.js';
import { checkAvailable, loadStorage, STORAGE_NAMES } from '../../storages/index.js';
import { loadWorkload, WORKLOAD_NAMES } from '../../workloads/index.js';

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ stdout }) {
  stdout.write('Storages\n');
  for await (const line of storageLines()) stdout.write(`${line}\n`);
  stdout.write('\nServers\n');
  for (const name of SERVER_NAMES) {
    stdout.write(`  ${name}: ${(await loadServer(name)).summary}\n`);
  }
  stdout.write('\nWorkloads\n');
  for (const name of WORKLOAD_NAMES) {
    stdout.write(`  ${name}: ${(await loadWorkload(name)).summary}\n`);
  }
  stdout.write('\nReports\n');
  for (const name of REPORT_NAMES) {
    stdout.write(`  ${name}: ${(await loadReport(name)).summary}\n`);
  }
  return 0;
}

/** Width of the output, like that of the help. */
const WIDTH = 100;

/** @returns {AsyncGenerator<string>} one line per storage, and an indented line per profile */
async function* storageLines() {
  for (const name of STORAGE_NAMES) {
    const definition = await loadStorage(name);
    const { package: wanted, server } = definition;
    const driver = wanted === null ? null : findPackage(wanted);
    const release = driver === null ? (wanted ?? 'built in') : `${driver.name} ${driver.version}`;
    const only = definition.alternative ? '; only if named' : '';
    const offers = capabilitiesOf(definition).join(', ');
    yield* indented(`${name}: ${release}, ${server ?? 'embedded'}; ${offers}${only}`, 2);
    for (const [profile, { summary, options }] of Object.entries(definition.profiles)) {
      const missing = await checkAvailable(definition, profile);
      const note = missing === null ? '' : `; not here: ${missing.reason}`;
      yield* indented(`${labelOf({ storage: name, profile })}: ${summary}${note}`, 4);
      if (Object.keys(options).length > 0) yield* indented(inWords(options), 8);
    }
  }
}

/** @param {string} text @param {number} by columns */
function indented(text, by) {
  return wrap(text, WIDTH - by - 2).map((line, i) => ' '.repeat(i === 0 ? by : by + 2) + line);
}

/**
 * @param {Record<string, unknown>} options @returns {string} JSON with blanks where it may be
 *   wrapped
 */
function inWords(options) {
  return JSON.stringify(options, null, 1).replaceAll(/\n\s*/g, ' ');
}
