/**
 * From options to loads and variants: pure. targets.js decides which storages can run,
 * schedule/choose.js how each load is measured.
 */

import { z } from 'zod';
import { kindOf } from '../lib/capabilities.js';
import { DragstripError } from '../lib/errors.js';
import { parseGate } from '../lib/gate.js';
import { takeOptions } from '../lib/options.js';
import { sizeOptions } from '../lib/value-sizes.js';
import { DEFAULT_WORKLOAD } from '../workloads/index.js';
import { parseRuntime } from './drivers/runtimes.js';
import { LOAD_OPTIONS, loadsOf, refuseBeside, usualLoadsOf } from './load-options.js';
import {
  completeLoad,
  completeSearch,
  loadOption,
  searchOption,
  splitPossible,
  trialLoad,
  wholeNumber,
} from './loads.js';
import { optionsOf } from './options.js';
import { isReadOnly, refuseBesideReadOnly } from './own-data.js';
import { planSchedules } from './schedule/choose.js';
import { parseServers } from './server-axis.js';
import { rowsForSizes, withSizes } from './value-sizes.js';

/** @typedef {import('../lib/types.js').LoadOption} LoadOption */
/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */

const variantOption = z.strictObject({
  parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  /** absent: those of the run */
  loads: z.array(loadOption).min(1).optional(),
  /** storages of the run that support it, as written there; absent: all */
  storages: z.array(z.string()).optional(),
});

/** Values that are not scalars, passed by programs. */
const structured = z.looseObject({
  command: z.string().optional(),
  workload: z.string().optional(),
  /** variant of a workload that has several */
  test: z.string().optional(),
  loads: z.array(loadOption).min(1).optional(),
  findMax: searchOption.optional(),
  variants: z.array(variantOption).min(1).optional(),
  redisDb: wholeNumber(0, 2 ** 31 - 1).optional(),
  /** number of load machines that share each load */
  agents: wholeNumber(1, 1000).optional(),
  addresses: z.record(z.string(), z.string()).optional(),
  home: z.string().optional(),
  /** exclude the installed version, and skip versions that cannot be installed or opened */
  onlyAgainst: z.boolean().optional(),
});

/**
 * @typedef {{ [Name in keyof z.infer<typeof structured> as string extends Name ? never : Name]:
 *   z.infer<typeof structured>[Name] }} Structured
 * @typedef {Structured & import('../lib/run-options.js').SharedRunOptions} SharedOptions
 * @typedef {(SharedOptions & { keys?: string, mix?: string }) | (SharedOptions & { workload:
 *   string, [option: string]: unknown })} RunOptions options of the run and of its workload
 */

/**
 * @typedef {object} RunPlan options with every default filled in
 * @property {string} command
 * @property {string[] | null} storages null: all available storages, with their default profile
 * @property {string} workload
 * @property {string[]} [workloads] benchmarks of each workload, if there are several
 * @property {Record<string, unknown>} workloadOptions passed to its `prepare`
 * @property {import('../lib/result.js').Load[]} loads loads of all variants; in a search, the first
 *   one
 * @property {Variant[]} [variants] variants of the workload, if it has several
 * @property {import('./loads.js').SearchPlan | null} findMax
 * @property {string[]} against other versions of drivers, `ioredis@5`
 * @property {string[]} [runtimes] runtimes other than this Node
 * @property {boolean} [onlyAgainst] exclude the installed version, and skip versions that cannot
 *   run
 * @property {import('../lib/gate.js').Gate[]} [failIf]
 * @property {string} [reference] baseline of its ratios; absent: the installed driver
 * @property {import('./server-axis.js').ListedServer[]} [servers] servers to race; absent: no axis
 * @property {'on' | 'both'} [tls] drivers over TLS; absent: determined by the addresses
 * @property {boolean} pin pin client and server to separate processors
 * @property {number} rounds
 * @property {number} warmupOperations
 * @property {number} seed
 * @property {import('../lib/types.js').DatasetOptions} dataset
 * @property {number[]} [sizes] value sizes, if there are several; each load names its own
 * @property {import('./schedule/choose.js').LoadPlan[]} how how each load of each variant is
 *   measured
 * @property {import('./schedule/choose.js').SlicePlan} [slices] absent: each benchmark runs whole
 * @property {string} [whole] reason why its workload is not measured in slices
 * @property {import('./loads.js').SkippedLoad[]} [skipped] skipped combinations of lists
 * @property {number} timeoutMs
 * @property {Record<string, string>} addresses by option name: `{ redis: '127.0.0.1:6379' }`
 * @property {number} [redisDb] logical database of Redis; absent: 0
 * @property {string[]} allowTargets
 * @property {string | undefined} home
 */

/**
 * @typedef {object} Variant
 * @property {import('../lib/types.js').Parameters} parameters
 * @property {import('../lib/result.js').Load[]} loads
 * @property {string[]} [storages] storages that support it; absent: all
 */

/**
 * @param {RunOptions} options
 * @param {WorkloadDefinition | null} [workload] workload whose options are also accepted
 * @param {readonly import('../lib/types.js').ChosenStorage[]} [storages] storages to plan for
 * @param {{ asText?: boolean }} [how] asText: values are texts of the command line
 * @returns {RunPlan}
 * @throws {DragstripError} E_USAGE: an option is unknown or out of range
 */
export function planRun(options, workload = null, storages = [], how = {}) {
  return planParsed(parseRunOptions(options, workload, how), workload, storages);
}

/**
 * @typedef {object} ParsedOptions
 * @property {Structured} structure
 * @property {Record<string, any>} values options with defaults
 */

/**
 * @param {ParsedOptions} options
 * @param {WorkloadDefinition | null} workload
 * @param {readonly import('../lib/types.js').ChosenStorage[]} storages
 * @returns {RunPlan}
 * @throws {DragstripError} E_USAGE
 */
export function planParsed({ structure, values: parsed }, workload, storages) {
  const { test, loads: asked, addresses = {}, redisDb } = structure;
  const isPreset = workload?.preset !== undefined;
  const isNamed = structure.workload !== undefined && !isPreset;
  const context = { test, storages, addresses, loads: asked, isNamed };
  const planned = workload?.plan?.(parsed, context) ?? {};
  /** @type {Record<string, any>} */
  const values = { redisDb, addresses, ...parsed, ...planned.shared };
  const { findMax, options, skipped } = chooseLoads(structure, { workload, values, planned });
  const sizes = [values.valueSize].flat();
  if (sizes.length > 1) {
    const others = { '--find-max': findMax !== null, '--agents': structure.agents };
    refuseBeside('several --value-size', others);
  }
  const lists = structure.variants ?? planned.variants;
  /** @type {{ parameters?: import('../lib/types.js').Parameters, loads?: LoadOption[] }[]} */
  const owners = lists ?? [{}];
  const wanted = owners.flatMap(({ parameters, loads: list }, variant) =>
    (list ?? withSizes(options, sizes)).map((option) => ({
      variant,
      parameters,
      load: findMax === null ? completeLoad(option) : trialLoad(findMax, findMax.start),
      whole: option.whole,
      isFixed:
        (planned.loads === undefined || structure.variants !== undefined) &&
        isFixedBy(structure, option),
    })),
  );
  const { how, slices } = planSchedules(wanted, {
    values,
    given: structure,
    workload,
    isOther: (planned.workload?.workload ?? workload?.name) !== workload?.name,
    isSearch: findMax !== null,
  });
  const variants = lists?.map((one, i) => ({
    ...one,
    loads: how.flatMap(({ load }, j) => (wanted[j].variant === i ? [load] : [])),
  }));
  const loads = variants === undefined ? how.map(({ load }) => load) : loadsOfAll(variants);
  requireRows(loads, workload);
  const { seed } = values;
  const readOnly = isReadOnly({ workloadOptions: planned.workload?.workloadOptions ?? {} });
  if (readOnly) refuseBesideReadOnly(structure, loads);
  if (values.servers) {
    refuseBeside('--servers', {
      '--against': values.against?.length > 0,
      '--runtime': values.runtimes,
      '--agents': structure.agents,
      '--read-only': readOnly,
    });
  }
  const isGiven = /** @type {Record<string, unknown>} */ (structure)['rows'] !== undefined;
  const rows =
    sizes.length > 1 ? rowsForSizes(sizes, isGiven ? values.rows : undefined) : values.rows;
  for (const one of values.runtimes ?? []) parseRuntime(one);
  const dataset = { rows, ...sizeOptions(sizes[0]), seed };
  return {
    command: structure.command ?? 'run',
    storages: values.storages ?? null,
    workload: (isPreset ? undefined : structure.workload) ?? workload?.name ?? DEFAULT_WORKLOAD,
    workloadOptions: {},
    ...planned.workload,
    how,
    ...(slices && { slices }),
    ...(slices === null && wanted[0]?.whole && { whole: wanted[0].whole }),
    ...(skipped.length > 0 && { skipped }),
    loads,
    ...(variants && { variants }),
    findMax,
    against: values.against ?? [],
    ...(values.runtimes && { runtimes: values.runtimes }),
    ...(structure.onlyAgainst && { onlyAgainst: true }),
    ...(values.failIf && {
      failIf: values.failIf.map((/** @type {string} */ one) => parseGate(one)),
    }),
    ...(values.reference && { reference: values.reference }),
    ...(values.servers && { servers: parseServers(values.servers) }),
    ...(['on', 'both'].includes(values.tls) && { tls: values.tls }),
    pin: values.pin ?? false,
    // In blocks without a number, the precision determines the rounds.
    rounds: slices === null ? values.rounds : (slices.rounds ?? 1),
    warmupOperations: values.warmupOperations,
    seed,
    dataset,
    ...(sizes.length > 1 && { sizes }),
    timeoutMs: values.timeoutMs,
    addresses: values.addresses,
    ...(values.redisDb && { redisDb: values.redisDb }),
    allowTargets: values.allowTargets ?? [],
    home: structure.home,
  };
}

/**
 * @param {Structured} given
 * @param {LoadOption} option
 * @returns {boolean} whether a program fixed its amount
 */
function isFixedBy({ loads, variants }, { operations, durationMs }) {
  return (loads ?? variants) !== undefined && (operations ?? durationMs) !== undefined;
}

/**
 * @param {Structured} structure
 * @param {{ workload: WorkloadDefinition | null, values: Record<string, any>,
 *   planned: import('../lib/types.js').WorkloadPlan }} run
 * @returns {{ findMax: import('./loads.js').SearchPlan | null, options: LoadOption[], skipped:
 *   import('./loads.js').SkippedLoad[] }} options of a search
 * @throws {DragstripError} E_USAGE
 */
function chooseLoads(structure, { workload, values, planned }) {
  const usual = usualLoadsOf(workload);
  const { options = {} } = workload ?? {};
  const names = Object.keys(LOAD_OPTIONS).filter((name) => !Object.hasOwn(options, name));
  const { rounds } = /** @type {Record<string, unknown>} */ (structure);
  const asOptions = Object.fromEntries(names.map((name) => [name, values[name]]));
  const isGiven = structure.loads !== undefined || structure.findMax !== undefined;
  const excess = isGiven ? names.find((name) => values[name] !== undefined) : undefined;
  if (excess !== undefined) {
    throw new DragstripError('E_USAGE', `${excess} cannot be combined with loads or findMax`);
  }
  const isFixed = isGiven || planned.loads !== undefined || usual === null;
  const chosen = isFixed
    ? { loads: planned.loads ?? structure.loads, findMax: structure.findMax }
    : loadsOf(asOptions, usual, rounds);
  if (chosen.findMax !== undefined) {
    if (chosen.loads !== undefined) {
      throw new DragstripError('E_USAGE', 'findMax cannot be combined with loads');
    }
    const findMax = completeSearch(chosen.findMax);
    return { findMax, options: [{ kind: 'rate' }], skipped: [] };
  }
  const { loads = [{ kind: 'window' }] } = chosen;
  // A program writes out each load; lists of options may contain invalid combinations.
  const all = isFixed ? { possible: loads, skipped: [] } : splitPossible(loads);
  return { findMax: null, options: all.possible, skipped: all.skipped };
}

/**
 * @param {readonly import('../lib/result.js').Load[]} loads
 * @param {WorkloadDefinition | null} workload
 * @throws {DragstripError} E_USAGE: a lost storage could not be reopened
 */
function requireRows(loads, workload) {
  if (workload === null || loads.every(({ onOutage }) => onOutage === undefined)) return;
  if (workload.contenders === undefined && kindOf(workload.needs) === 'rows') return;
  throw new DragstripError('E_USAGE', `--on-outage continue: ${workload.name} reads no rows`, {
    hint: 'leave it out, or measure reads or a mix',
  });
}

/**
 * @param {RunOptions} run
 * @param {WorkloadDefinition | null} workload
 * @param {{ asText?: boolean }} [how]
 * @returns {ParsedOptions}
 * @throws {DragstripError} E_USAGE
 */
export function parseRunOptions(run, workload, how = {}) {
  const options = byOwnNames(run, workload);
  const parsed = structured.safeParse(options);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new DragstripError('E_USAGE', `option ${issue.path.join('.')}: ${issue.message}`);
  }
  const table = optionsOf(workload);
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(table, name) || Object.hasOwn(structured.shape, name)) continue;
    const known = workload === null ? '' : ` of the workload ${workload.name}`;
    throw new DragstripError('E_USAGE', `unknown option ${name}${known}`);
  }
  return {
    structure: /** @type {any} */ (parsed.data),
    values: takeOptions(table, /** @type {Record<string, unknown>} */ (options), {
      ...how,
      test: parsed.data.test,
      command: workload?.name,
    }),
  };
}

/**
 * A program may use the names of the command line: `warmup` for warmupOperations.
 * @param {RunOptions} run
 * @param {WorkloadDefinition | null} workload
 * @returns {RunOptions}
 */
function byOwnNames(run, workload) {
  if (typeof run !== 'object' || run === null) return run;
  const table = optionsOf(workload);
  const flags = new Map(
    Object.entries(table).flatMap(([name, { flag }]) =>
      flag === undefined ? [] : [[flag.replace(/-([a-z])/g, (_, one) => one.toUpperCase()), name]],
    ),
  );
  const isKnown = (/** @type {string} */ name) =>
    Object.hasOwn(table, name) || Object.hasOwn(structured.shape, name);
  return Object.fromEntries(
    Object.entries(run).map(([name, value]) => [
      isKnown(name) ? name : (flags.get(name) ?? name),
      value,
    ]),
  );
}

/**
 * @param {Variant[]} variants
 * @returns {import('../lib/result.js').Load[]} unique values
 */
function loadsOfAll(variants) {
  const all = variants.flatMap(({ loads }) => loads);
  return [...new Map(all.map((load) => [JSON.stringify(load), load])).values()];
}
