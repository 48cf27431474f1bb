/**
 * Availability of targets: storages with their drivers, servers that respond, rows that exist.
 * Others are skipped with a reason and a hint; if the user named one that cannot run, this is an
 * error.
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
import { isReadOnly, missingOwnData } from './own-data.js';
import { missingPort, withServerAxis } from './server-axis.js';
import { missingTls, overTls, withTlsAxis } from './tls-axis.js';

/** @typedef {import('../lib/types.js').Unavailable} Unavailable */
/** @typedef {import('./plan.js').RunPlan} RunPlan */

/**
 * @typedef {object} ServerTarget
 * @property {string} name
 * @property {import('../lib/types.js').Address} address
 * @property {'flag' | 'env' | 'dragstrip' | 'default'} source
 * @property {string[]} [assumed] endpoints of the address that nobody named
 * @property {string | null} version
 * @property {Record<string, string>} settings
 * @property {Record<string, string> | null} credentialVariables environment variables of its
 *   credentials; for Dragstrip's own server, private files (lib/credentials.js)
 * @property {number[]} pids its processes, if known
 * @property {Unavailable | null} unavailable
 * @property {import('./own-data.js').OwnKeys} [own] keys of the user, with --read-only
 * @property {import('./server-axis.js').ListedServer} [listed] named by --servers
 */

/**
 * @typedef {object} StorageTarget
 * @property {import('../lib/types.js').Contender} definition
 * @property {string} source name or absolute path
 * @property {string} profile
 * @property {boolean} named the user named it
 * @property {string | null} version version of the driver's package
 * @property {import('./drivers/install.js').Driver & { text: string }} [driver] a version other
 *   than the installed one; text: value of --against
 * @property {import('./drivers/identity.js').DriverIdentity} [identity] identity of the code that
 *   its process loads
 * @property {import('../lib/node-child.js').Runtime} [runtime] runtime instead of this Node
 * @property {string} [base] storage with the installed version, if this one has another
 * @property {ServerTarget | null} server
 * @property {Unavailable | null} unavailable
 */

/**
 * @param {RunPlan & { ownRows?: boolean }} plan ownRows: the run creates its own rows
 * @param {import('./contenders.js').Choice} workload
 * @returns {Promise<{ storages: StorageTarget[], servers: ServerTarget[] }>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: unknown storage or profile;
 *   E_TARGET: a named storage cannot run; E_REFUSED: a server on another machine that is not
 *   allowed
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
    const refusal = isReadOnly(plan) ? missingOwnData(definition, plan) : null;
    if (refusal !== null && !named) continue;
    const { tls: isOverTls } = requireProfile(definition, profile);
    // A file resolves packages from its own folder, a built-in storage from Dragstrip's.
    const importer = path.isAbsolute(source) ? source : undefined;
    let unavailable =
      refusal ??
      missingCapability(definition, workload) ??
      (await checkAvailable(definition, profile, importer));
    let server = servers.get(on?.label ?? definition.server ?? '') ?? null;
    unavailable ??= missingPort(definition, on);
    if (server !== null) {
      if (isOverTls) server = overTls(server);
      unavailable ??= server.unavailable ?? missingTls(definition, server, plan.tls);
    }
    // An address given by the user names the server, even if no storage is named.
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
 * @returns {import('../lib/types.js').Contender} its target on that server
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
 * @returns {boolean} whether it exists only in a runtime of this run other than Node
 */
function isElsewhere({ runtime }, { runtimes = [] }) {
  return runtime !== undefined && runtimes.some((text) => text.split('@')[0] === runtime);
}

/**
 * Benchmarks are identified by the storage's name, so a file of the user must not use an existing
 * one.
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
    'rename one, or leave one out by --storages',
  );
}

/**
 * `all` is every profile of every storage, `name:all` every profile of one.
 * @param {string[] | null} texts null: every storage except alternatives, with its default profile
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
  const selections = new Map();
  for (const text of texts) {
    const named = text !== 'all';
    const sources = named ? [text] : names.map((name) => `${name}:all`);
    for (const each of sources) {
      const { source, profile } = contenders.parse(each);
      const profiles =
        profile === 'all' ? Object.keys((await contenders.load(source)).profiles) : [profile];
      for (const name of profiles) {
        selections.set(`${source}:${name}`, { source, profile: name, named });
      }
    }
  }
  return [...selections.values()];
}

/**
 * @param {import('../lib/types.js').Contender} definition
 * @param {import('./contenders.js').Choice} workload
 * @returns {Unavailable | null}
 */
function missingCapability(definition, workload) {
  const lacks = lackedBy(workload, definition);
  if (lacks.length === 0) return null;
  return {
    reason: `it does not support ${lacks.join(', ')}`,
    hint: `choose storages that do: npx dragstrip list`,
  };
}

/**
 * @param {readonly string[]} names servers that no storage is bound to
 * @param {RunPlan & { ownRows?: boolean }} plan
 * @returns {Promise<ServerTarget[]>}
 */
export function resolveServers(names, plan) {
  return Promise.all(names.map((name) => resolveServer(name, plan)));
}

/**
 * @param {string} name
 * @param {RunPlan & { ownRows?: boolean }} plan
 * @param {ListedServer} [listed] servers of --servers
 * @returns {Promise<ServerTarget>} address, with the reason if it cannot be used
 */
async function resolveServer(name, plan, listed) {
  const { product = name, address: listedAddress = null } = listed ?? {};
  const definition = await loadServer(product);
  const [{ flag }] = Object.values(definition.endpoints);
  const flags =
    listedAddress === null ? plan.addresses : { ...plan.addresses, [flag]: listedAddress };
  const anyDatabase = plan.workloadOptions?.['table'] !== undefined; // it names its database
  const how = { flags, home: plan.home, anyDatabase };
  const { running, ...resolved } = await resolveAddress(product, how);
  const { address, source, assumed, credentials, credentialVariables } = resolved;
  if (name === 'redis' && plan.redisDb) address.main = { ...address.main, db: plan.redisDb };
  for (const [which, endpoint] of Object.entries(address)) {
    address[which] = await requireLoopback(endpoint, plan.allowTargets, name);
  }
  /** @type {ServerTarget} */
  const target = {
    name,
    address,
    source,
    assumed,
    version: null,
    settings: {},
    credentialVariables,
    pids: [],
    unavailable: null,
    ...(listed && { listed }),
  };
  // If a server did not start, no other server at the default address is used instead.
  const failed = source === 'default' ? failureOfStart(product) : null;
  try {
    if (failed !== null) throw failed;
    const report = await definition.probe(address, credentials);
    await addNodes(definition, target, { credentials, allowTargets: plan.allowTargets });
    target.version = report.version;
    target.settings = report.settings;
    target.pids.push(...(await ownPids(target.address, report, { running, definition })));
    if (!plan.ownRows && !isReadOnly(plan))
      target.unavailable = await missingRows(target, credentials, plan);
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
 * Nodes announced by a cluster become endpoints of its address, each after the target guard, since
 * drivers connect only to those.
 * @param {import('../lib/types.js').ServerDefinition} definition
 * @param {ServerTarget} target
 * @param {{ credentials: import('../lib/types.js').Credentials, allowTargets?: readonly string[] }}
 *   about
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED: a node on another machine
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
 * The server's processes as seen on this machine; the pid that a server reports may belong to
 * another pid namespace.
 * @param {import('../lib/types.js').Address} address
 * @param {import('../lib/types.js').ProbeReport} report
 * @param {{ running: import('../lib/types.js').RunningServer | undefined,
 *   definition: import('../lib/types.js').ServerDefinition }} about
 * @returns {Promise<number[]>}
 */
async function ownPids(address, { pid }, { running, definition: { nodes } }) {
  if (running !== undefined) return (running.nodes ?? [running]).map((one) => one.pid);
  if (nodes === undefined) return pid === null ? [] : [pid];
  const pids = await Promise.all(Object.values(address).map(findListener));
  return [...new Set(pids.flatMap((one) => one ?? []))];
}

/**
 * @param {ServerTarget} target
 * @param {import('../lib/types.js').Credentials} credentials
 * @param {RunPlan} plan
 * @returns {Promise<Unavailable | null>} reason why its rows are not those of the run
 */
export async function missingRows({ name, address, listed }, credentials, plan) {
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
