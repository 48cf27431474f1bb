/**
 * What can run here and now: storages with their drivers, servers that answer, rows that are
 * there. What cannot is skipped with its reason and the hint; what the user named and cannot run
 * is an error.
 */

import path from 'node:path';
import { getLoader } from '../data/loaders/index.js';
import { formatEndpoint, formatPlace, parseEndpoint } from '../lib/address.js';
import { isSameDataset } from '../lib/dataset.js';
import { targetError, usageError } from '../lib/errors.js';
import { findPackage } from '../lib/packages.js';
import { requireAnnounced, requireLoopback } from '../lib/safety.js';
import { hideSecrets } from '../lib/secrets.js';
import { DIGEST, sizesName } from '../lib/value-sizes.js';
import { findListener } from '../measure/listener.js';
import { failureOfStart, loadServer } from '../servers/index.js';
import { checkAvailable, requireProfile } from '../storages/index.js';
import { requireTlsUse, resolveAddress } from './addresses.js';
import { contendersOf, lackedBy } from './contenders.js';
import { isReadOnly, lackOfOwnData } from './own-data.js';
import { lackOfPort, withServerAxis } from './server-axis.js';
import { lackOfTls, overTls, withTlsAxis } from './tls-axis.js';

/** @typedef {import('../lib/types.js').Unavailable} Unavailable */
/** @typedef {import('./plan.js').RunPlan} RunPlan */

/**
 * @typedef {object} ServerTarget
 * @property {string} name
 * @property {import('../lib/types.js').Address} address
 * @property {'flag' | 'env' | 'dragstrip' | 'default'} source
 * @property {string | null} version
 * @property {Record<string, string>} settings
 * @property {Record<string, string> | null} credentialVariables environment variables of its
 *   credentials, of our own server private files (lib/credentials.js)
 * @property {number[]} pids of its processes, where known
 * @property {Unavailable | null} unavailable
 * @property {import('./own-data.js').OwnKeys} [own] keys of the user, with --read-only
 * @property {import('./server-axis.js').ListedServer} [listed] by --servers, which named it
 */

/**
 * @typedef {object} StorageTarget
 * @property {import('../lib/types.js').Contender} definition
 * @property {string} source name or absolute path
 * @property {string} profile
 * @property {boolean} named by the user
 * @property {string | null} version of the driver's package
 * @property {import('./drivers/install.js').Driver & { text: string }} [driver] another than the
 *   installed version; text: as --against names it
 * @property {import('./drivers/identity.js').DriverIdentity} [identity] what its process loads
 * @property {import('../lib/node-child.js').Runtime} [runtime] in the place of this Node
 * @property {string} [base] storage with the installed version, where this has another
 * @property {ServerTarget | null} server
 * @property {Unavailable | null} unavailable
 */

/**
 * @param {RunPlan & { ownRows?: boolean }} plan ownRows: the run makes its rows itself
 * @param {import('./contenders.js').Choice} workload
 * @returns {Promise<{ storages: StorageTarget[], servers: ServerTarget[] }>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: unknown storage or profile;
 *   E_TARGET: a
 *   storage that the user named cannot run; E_REFUSED: a server elsewhere that was not allowed
 */
export async function resolveTargets(plan, workload) {
  const contenders = contendersOf(workload);
  const plain = await expandSelections(plan.storages, contenders);
  const selections = await withServerAxis(
    await withTlsAxis(plain, plan.tls, contenders.load),
    plan.servers ?? [],
    contenders.load,
  );
  const servers = await serversOf(selections, contenders, plan);
  requireTlsUse(
    plan.addresses,
    [...servers.values()].map(({ address }) => address),
  );
  /** @type {StorageTarget[]} */
  const storages = [];
  for (const { source, profile, named, on } of selections) {
    const definition = onServer(await contenders.load(source), on);
    const lack = isReadOnly(plan) ? lackOfOwnData(definition, plan) : null;
    if (lack !== null && !named) continue;
    const { tls: isOverTls } = requireProfile(definition, profile);
    // A file resolves packages from its own folder, a built-in storage from Dragstrip's.
    const importer = path.isAbsolute(source) ? source : undefined;
    let unavailable =
      lack ??
      lackOfCapability(definition, workload) ??
      (await checkAvailable(definition, profile, importer));
    let server = servers.get(on?.label ?? definition.server ?? '') ?? null;
    unavailable ??= lackOfPort(definition, on);
    if (server !== null) {
      if (isOverTls) server = overTls(server);
      unavailable ??= server.unavailable ?? lackOfTls(definition, server, plan.tls);
    }
    // An address that the user gave is meant, whether or not the storage was named.
    const missing = server !== null && server.source === 'flag' && server.version === null;
    if ((named || missing) && unavailable !== null && !isElsewhere(definition, plan)) {
      throw targetError(`storage ${definition.name}: ${unavailable.reason}`, unavailable.hint);
    }
    requireOwnName(storages, definition, { source, profile });
    const version =
      definition.package === null ? null : findPackage(definition.package, importer)?.version;
    storages.push({
      definition,
      source,
      profile,
      named,
      version: version ?? null,
      ...baseOf(storages, { source, profile }, on),
      server,
      unavailable,
    });
  }
  return { storages, servers: [...servers.values()] };
}

/** @typedef {import('./server-axis.js').ListedServer} ListedServer */

/**
 * @param {import('../lib/types.js').Contender} definition
 * @param {ListedServer} [on]
 * @returns {import('../lib/types.js').Contender} under its name on that server
 */
function onServer(definition, on) {
  if (on === undefined) return definition;
  return Object.freeze({ ...definition, name: `${definition.name} on ${on.label}` });
}

/**
 * @param {readonly StorageTarget[]} storages
 * @param {{ source: string, profile: string }} selection
 * @param {ListedServer} [on]
 * @returns {{ base?: string }} the same driver on the first server
 */
function baseOf(storages, { source, profile }, on) {
  if (on === undefined) return {};
  const first = storages.find((one) => one.source === source && one.profile === profile);
  return first === undefined ? {} : { base: first.definition.name };
}

/**
 * @param {readonly { source: string, profile: string, on?: ListedServer }[]} selections
 * @param {import('./contenders.js').ContenderSource} contenders
 * @param {RunPlan & { ownRows?: boolean }} plan
 * @returns {Promise<Map<string, ServerTarget>>} by name, in the order of the storages
 */
async function serversOf(selections, contenders, plan) {
  /** @type {Map<string, ListedServer | undefined>} */
  const names = new Map();
  for (const { source, profile, on } of selections) {
    const definition = await contenders.load(source);
    requireProfile(definition, profile);
    if (definition.server !== null) names.set(on?.label ?? definition.server, on);
  }
  const resolved = await Promise.all([...names].map(([name, on]) => resolveServer(name, plan, on)));
  return new Map(resolved.map((server) => [server.name, server]));
}

/**
 * @param {import('../lib/types.js').Contender} definition
 * @param {RunPlan} plan
 * @returns {boolean} it exists only in a runtime that this run has beside Node
 */
function isElsewhere({ runtime }, { runtimes = [] }) {
  return runtime !== undefined && runtimes.some((text) => text.split('@')[0] === runtime);
}

/**
 * Benchmarks are identified by the storage's name: a file of the user may not take one that is
 * there.
 * @param {StorageTarget[]} storages
 * @param {import('../lib/types.js').Contender} definition
 * @param {{ source: string, profile: string }} selection
 */
function requireOwnName(storages, { name }, { source, profile }) {
  const other = storages.find(
    (storage) => storage.definition.name === name && storage.profile === profile,
  );
  if (other === undefined) return;
  throw usageError(
    `two storages have the name "${name}": ${other.source} and ${source}`,
    'give one of them another name, or leave it out by --storages',
  );
}

/**
 * `all` is every profile of every storage, `name:all` every profile of one.
 * @param {string[] | null} texts null: every storage but the alternatives, with its default profile
 * @param {import('./contenders.js').ContenderSource} contenders
 * @returns {Promise<{ source: string, profile: string, named: boolean }[]>}
 */
async function expandSelections(texts, contenders) {
  if (texts === null) {
    const defaults = await contenders.defaults();
    return defaults.map((source) => ({ source, profile: 'default', named: false }));
  }
  const names = await contenders.names();
  /** @type {Map<string, { source: string, profile: string, named: boolean }>} */
  const found = new Map();
  for (const text of texts) {
    const named = text !== 'all';
    const sources = named ? [text] : names.map((name) => `${name}:all`);
    for (const each of sources) {
      const { source, profile } = contenders.parse(each);
      const profiles =
        profile === 'all' ? Object.keys((await contenders.load(source)).profiles) : [profile];
      for (const name of profiles) {
        found.set(`${source}:${name}`, { source, profile: name, named });
      }
    }
  }
  return [...found.values()];
}

/**
 * @param {import('../lib/types.js').Contender} definition
 * @param {import('./contenders.js').Choice} workload
 * @returns {Unavailable | null}
 */
function lackOfCapability(definition, workload) {
  const lacks = lackedBy(workload, definition);
  if (lacks.length === 0) return null;
  return {
    reason: `it does not support ${lacks.join(', ')}`,
    hint: `choose storages that do: npx dragstrip list`,
  };
}

/**
 * @param {readonly string[]} names of servers that no storage is bound to
 * @param {RunPlan & { ownRows?: boolean }} plan
 * @returns {Promise<ServerTarget[]>}
 */
export function resolveServers(names, plan) {
  return Promise.all(names.map((name) => resolveServer(name, plan)));
}

/**
 * @param {string} name
 * @param {RunPlan & { ownRows?: boolean }} plan
 * @param {ListedServer} [listed] by --servers
 * @returns {Promise<ServerTarget>} with the reason where it cannot be used
 */
async function resolveServer(name, plan, listed) {
  const { product = name, address: own = null } = listed ?? {};
  const definition = await loadServer(product);
  const [{ flag }] = Object.values(definition.endpoints);
  const flags = own === null ? plan.addresses : { ...plan.addresses, [flag]: own };
  const { running, ...found } = await resolveAddress(product, { flags, home: plan.home });
  const { address, source, credentials, credentialVariables } = found;
  if (name === 'redis' && plan.redisDb) address.main = { ...address.main, db: plan.redisDb };
  for (const [which, endpoint] of Object.entries(address)) {
    address[which] = await requireLoopback(endpoint, plan.allowTargets, name);
  }
  /** @type {ServerTarget} */
  const target = {
    name,
    address,
    source,
    version: null,
    settings: {},
    credentialVariables,
    pids: [],
    unavailable: null,
    ...(listed && { listed }),
  };
  // In place of a server that did not start, no other one at the default address is used.
  const failed = source === 'default' ? failureOfStart(product) : null;
  try {
    if (failed !== null) throw failed;
    const report = await definition.probe(address, credentials);
    await addNodes(definition, target, { credentials, allowTargets: plan.allowTargets });
    target.version = report.version;
    target.settings = report.settings;
    target.pids.push(...(await ownPids(target.address, running, definition)));
    if (!plan.ownRows && !isReadOnly(plan))
      target.unavailable = await lackOfRows(target, credentials, plan);
  } catch (error) {
    if (error !== failed && error.code !== 'E_TARGET') throw error;
    target.unavailable = {
      reason: hideSecrets(error.message, credentials),
      hint: error.hint ?? `npx dragstrip servers start ${product}`,
    };
  }
  return target;
}

/**
 * Nodes that a cluster announces become endpoints of its address, each after the target guard: a
 * driver connects to those and to no other.
 * @param {import('../lib/types.js').ServerDefinition} definition
 * @param {ServerTarget} target
 * @param {{ credentials: import('../lib/types.js').Credentials, allowTargets?: readonly string[] }}
 *   about
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED: a node elsewhere
 */
async function addNodes({ nodes, name }, target, { credentials, allowTargets = [] }) {
  if (nodes === undefined) return;
  const { address } = target;
  const allowed = allowTargets.map((text) => parseEndpoint(text, '--allow-target'));
  for (const node of await nodes(address, credentials)) {
    const known = Object.values(address);
    const place = /** @type {{ host: string, port: number }} */ (node);
    requireAnnounced(place, [...known, ...allowed], name);
    if (known.some((one) => formatPlace(one) === formatPlace(node))) continue;
    address[`node${known.length + 1}`] = node;
  }
}

/**
 * The server's processes as this machine sees them; what the server itself says may be a number of
 * another pid namespace.
 * @param {import('../lib/types.js').Address} address
 * @param {import('../lib/types.js').RunningServer | undefined} running
 * @param {import('../lib/types.js').ServerDefinition} definition
 * @returns {Promise<number[]>}
 */
async function ownPids(address, running, { nodes }) {
  if (running !== undefined) return (running.nodes ?? [running]).map(({ pid }) => pid);
  /** @type {Set<number>} */
  const pids = new Set();
  for (const endpoint of Object.values(address)) {
    const pid = await findListener(endpoint);
    if (pid !== null) pids.add(pid);
    // Every endpoint of one server is of the same process.
    if (pids.size > 0 && nodes === undefined) break;
  }
  return [...pids];
}

/**
 * @param {ServerTarget} target
 * @param {import('../lib/types.js').Credentials} credentials
 * @param {RunPlan} plan
 * @returns {Promise<Unavailable | null>}
 */
async function lackOfRows({ name, address, listed }, credentials, plan) {
  const loader = await getLoader(listed?.kind ?? name);
  const wanted = plan.dataset;
  const { dataset, notOurs } = await loader.inspect({ address, credentials });
  const [first] = Object.values(address);
  const where = listed === undefined ? '' : ` --${loader.name} ${formatEndpoint(first)}`;
  const seedIt = `npx dragstrip seed ${loader.name}${where}`;
  const flags = flagsOf(wanted);
  if (dataset === null) {
    return {
      reason: notOurs ?? `${name} at ${describeAddress(address)} does not contain the dataset`,
      hint: `${seedIt}${flags}`,
    };
  }
  if (isSameDataset(dataset, wanted)) return null;
  const isKnown = !dataset.valueSizes?.startsWith(DIGEST);
  const adopt = isKnown ? `add${flagsOf(dataset)} to this command, or ` : '';
  return {
    reason:
      `${name} contains another dataset: ${dataset.rows} rows of ${sizeText(dataset)} characters, ` +
      `seed ${dataset.seed}; this run needs ${wanted.rows} of ${sizeText(wanted)}, ` +
      `seed ${wanted.seed}`,
    hint: `${adopt}run ${seedIt}${flags}`,
  };
}

/** @param {import('../lib/types.js').DatasetOptions} dataset */
function sizeText({ valueSize, valueSizes }) {
  return valueSizes === undefined ? valueSize : sizesName(valueSizes);
}

/** @param {import('../lib/types.js').DatasetOptions} dataset */
function flagsOf({ rows, valueSize, valueSizes, seed }) {
  return ` --rows ${rows} --value-size ${valueSizes ?? valueSize} --seed ${seed}`;
}

/** @param {import('../lib/types.js').Address} address */
export function describeAddress(address) {
  return [...new Set(Object.values(address).map(formatEndpoint))].join(', ');
}
