/**
 * `dragstrip doctor`: check servers, drivers and data, and show how to install missing parts. It
 * changes nothing.
 */

import { getLoader, hasLoader } from '../../data/loaders/index.js';
import { resolveAddress, resolveAddresses } from '../../engine/addresses.js';
import { formatEndpoint } from '../../lib/address.js';
import { findHome } from '../../lib/home.js';
import { labelOf } from '../../lib/label.js';
import { findPackage } from '../../lib/packages.js';
import { hideSecrets } from '../../lib/secrets.js';
import { environmentWarnings, readEnvironment } from '../../measure/environment.js';
import { loadServer, SERVER_NAMES } from '../../servers/index.js';
import { checkAvailable, loadStorage, STORAGE_NAMES } from '../../storages/index.js';
import { addressesOf } from '../options.js';

/**
 * @typedef {object} Finding
 * @property {boolean} good
 * @property {string} [bad] the state if it is not available; absent: missing
 * @property {string} text
 * @property {string | null} [hint]
 */

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} 0, also if something is missing, because nothing was to be run
 */
export async function execute({ options, stdout }) {
  const home = findHome();
  const flags = addressesOf(options);
  await resolveAddresses(SERVER_NAMES, { flags, home });
  await section(stdout, 'This machine', machine());
  await section(stdout, 'Drivers', drivers());
  await section(stdout, 'Servers', servers(flags, home));
  return 0;
}

/**
 * @param {NodeJS.WritableStream} stdout
 * @param {string} title
 * @param {AsyncIterable<Finding>} findings
 */
async function section(stdout, title, findings) {
  stdout.write(`${title}\n`);
  for await (const { good, bad = 'missing', text, hint } of findings) {
    stdout.write(`  ${good ? 'ok     ' : bad}  ${text}\n`);
    if (hint) stdout.write(`           → ${hint}\n`);
  }
}

/** @returns {AsyncGenerator<Finding>} */
async function* machine() {
  const environment = await readEnvironment();
  const { node, cpu, cores, os } = environment;
  yield { good: true, text: `Node ${node}, ${os}, ${cores} × ${cpu}` };
  for (const { message, hint } of environmentWarnings(environment)) {
    yield { good: false, bad: 'warning', text: message, hint };
  }
}

/** @returns {AsyncGenerator<Finding>} */
async function* drivers() {
  for (const name of STORAGE_NAMES) {
    const definition = await loadStorage(name);
    for (const profile of Object.keys(definition.profiles)) {
      const missing = await checkAvailable(definition, profile);
      const label = labelOf({ storage: name, profile });
      const driver = definition.package === null ? null : findPackage(definition.package);
      const release = driver === null ? '' : ` (${driver.name} ${driver.version})`;
      if (missing === null) yield { good: true, text: `${label}${release}` };
      else yield { good: false, text: `${label}: ${missing.reason}`, hint: missing.hint };
    }
  }
}

/**
 * @param {Record<string, string>} flags
 * @param {string} home
 * @returns {AsyncGenerator<Finding>}
 */
async function* servers(flags, home) {
  for (const name of SERVER_NAMES) {
    if (name === 'coordinator') continue; // never measured
    const definition = await loadServer(name);
    const binaries = await definition.find(home);
    if (binaries !== null) yield { good: true, text: `${name}: binaries (${binaries.source})` };
    else {
      const hint = `npx dragstrip servers fetch ${name}`;
      yield { good: false, text: `${name}: no binaries`, hint };
    }
    const { address, source, credentials } = await resolveAddress(name, { flags, home });
    const where = Object.values(address).map(formatEndpoint).join(', ');
    try {
      const { version } = await definition.probe(address, credentials);
      yield { good: true, text: `${name} ${version} answers at ${where} (${source})` };
      if (hasLoader(name)) yield await rows(name, address, credentials);
    } catch (error) {
      if (error.code !== 'E_TARGET') throw error;
      const hint = error.hint ?? `npx dragstrip servers start ${name}`;
      yield { good: false, text: hideSecrets(error.message, credentials), hint };
    }
  }
}

/**
 * @param {string} name
 * @param {import('../../lib/types.js').Address} address
 * @param {import('../../lib/types.js').Credentials} credentials
 * @returns {Promise<Finding>}
 */
async function rows(name, address, credentials) {
  const loader = await getLoader(name);
  const { dataset, notOurs } = await loader.inspect({ address, credentials });
  if (dataset === null) {
    const hint = `npx dragstrip seed ${loader.name}`;
    return { good: false, text: notOurs ?? `${name}: the dataset is missing`, hint };
  }
  const { rows: n, valueSize, valueSizes, seed } = dataset;
  const sizes = valueSizes === undefined ? '' : ` (${valueSizes})`;
  const what = `${n} rows of ${sizes && 'up to '}${valueSize} characters${sizes}`;
  return { good: true, text: `${name}: ${what}, seed ${seed}` };
}
