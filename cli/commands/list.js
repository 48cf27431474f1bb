/** `dragstrip list`: list storages and their profiles, servers, workloads and reports. */

import Table from 'cli-table3';
import { capabilitiesOf } from '../../lib/capabilities.js';
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
  stdout.write(`Storages\n${await storageTable()}\n\nServers\n`);
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

async function storageTable() {
  const table = new Table({
    head: ['storage', 'driver', 'server', 'offers', 'profile', 'options that are not the default'],
    style: { head: [], border: [], compact: true },
  });
  for (const name of STORAGE_NAMES) {
    const definition = await loadStorage(name);
    const driver = definition.package === null ? null : findPackage(definition.package);
    for (const [profile, { summary, options }] of Object.entries(definition.profiles)) {
      const missing = await checkAvailable(definition, profile);
      const disclosed = Object.keys(options).length === 0 ? '' : ` ${JSON.stringify(options)}`;
      const note = missing === null ? '' : `; not here: ${missing.reason}`;
      table.push([
        labelOf({ storage: name, profile }),
        driver === null ? (definition.package ?? 'built in') : `${driver.name} ${driver.version}`,
        definition.server ?? 'embedded',
        profile === 'default' ? capabilitiesOf(definition).join(', ') : '',
        profile === 'default' && definition.alternative ? 'default (if named)' : profile,
        `${summary}${disclosed}${note}`,
      ]);
    }
  }
  return table.toString();
}
