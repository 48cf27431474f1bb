/**
 * From options to loads and variants: pure. What can run here and now is decided in targets.js, how
 * each load is measured in schedule/choose.js.
 */

import { z } from 'zod';
import { kindOf } from '../lib/capabilities.js';
import { DragstripError } from '../lib/errors.js';
import { parseGate } from '../lib/gate.js';
import { takeOptions } from '../lib/options.js';
import { sizeOptions } from '../lib/value-sizes.js';
import { DEFAULT_WORKLOAD } from '../workloads/index.js';
import { LOAD_OPTIONS, loadsOf, refuseBeside, usualLoadsOf } from './load-options.js';
import {
  completeLoad,
  completeSearch,
  loadOption,
  searchOption,
  splitPossible,
  trialLoad,
  whole,
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
  /** those of the run that have it, as they are written there; absent: all */
  storages: z.array(z.string()).optional(),
});

/** What is no single value: a program gives it as it is. */
const structured = z.looseObject({
  command: z.string().optional(),
  workload: z.string().optional(),
  /** of a workload that has several */
  test: z.string().optional(),
  loads: z.array(loadOption).min(1).optional(),
  findMax: searchOption.optional(),
  variants: z.array(variantOption).min(1).optional(),
  redisDb: whole(0, 2 ** 31 - 1).optional(),
  /** load machines that share each load */
  agents: whole(1, 1000).optional(),
  addresses: z.record(z.string(), z.string()).optional(),
  home: z.string().optional(),
  /** without the installed version; what cannot be installed or opened is skipped */
  onlyAgainst: z.boolean().optional(),
});

/**
 * @typedef {{ [Name in keyof z.infer<typeof structured> as string extends Name ? never : Name]:
 *   z.infer<typeof structured>[Name] }} Structured
 * @typedef {Structured & import('../lib/run-options.js').SharedRunOptions} SharedOptions
 * @typedef {(SharedOptions & { keys?: string, mix?: string })
 *   | (SharedOptions & { workload: string, [option: string]: unknown })} RunOptions the second:
 *   with the options of that workload
 */

/**
 * @typedef {object} RunPlan options with nothing left open
 * @property {string} command
 * @property {string[] | null} storages null: all available, with their default profile
 * @property {string} workload
 * @property {string[]} [workloads] benchmarks of each, where there are several
 * @property {Record<string, unknown>} workloadOptions to its `prepare`
 * @property {import('../lib/result.js').Load[]} loads the first one where a rate is searched; of
 *   all
 *   variants
 * @property {Variant[]} [variants] of the workload, where it has several
 * @property {import('./loads.js').SearchPlan | null} findMax
 * @property {string[]} against other versions of drivers, `ioredis@5`
 * @property {string[]} [runtimes] beside this Node
 * @property {boolean} [onlyAgainst] without the installed version; what cannot be run is skipped
 * @property {import('../lib/gate.js').Gate[]} [failIf]
 * @property {string} [reference] what its ratios refer to; absent: the installed driver
 * @property {import('./server-axis.js').ListedServer[]} [servers] as an axis; absent: no axis
 * @property {'on' | 'both'} [tls] drivers over TLS; absent: as the addresses say
 * @property {boolean} pin pin client and server to separate processors
 * @property {number} rounds
 * @property {number} warmupOperations
 * @property {number} seed
 * @property {import('../lib/types.js').DatasetOptions} dataset
 * @property {number[]} [sizes] of values, where there are several: loads name theirs
 * @property {import('./schedule/choose.js').LoadPlan[]} how each load is measured, of each variant
 * @property {import('./schedule/choose.js').SlicePlan} [slices] absent: each benchmark runs whole
 * @property {string} [whole] why its workload is not measured by slices
 * @property {import('./loads.js').SkippedLoad[]} [skipped] combinations of lists that do not exist
 * @property {number} timeoutMs
 * @property {Record<string, string>} addresses by flag name: `{ redis: '127.0.0.1:6379' }`
 * @property {number} [redisDb] Redis' logical database; absent: 0
 * @property {string[]} allowTargets
 * @property {string | undefined} home
 */

/**
 * @typedef {object} Variant
 * @property {import('../lib/types.js').Parameters} parameters
 * @property {import('../lib/result.js').Load[]} loads
 * @property {string[]} [storages] those that have it; absent: all
 */

/**
 * @param {RunOptions} options
 * @param {WorkloadDefinition | null} [workload] whose options are known, too
 * @param {readonly import('../lib/types.js').ChosenStorage[]} [storages] those that it may plan for
 * @param {{ asText?: boolean }} [how] asText: values are texts of the command line
 * @returns {RunPlan}
 * @throws {DragstripError} E_USAGE for an option that is not known or out of range
 */
export function planRun(options, workload = null, storages = [], how = {}) {
  return planTaken(takeGiven(options, workload, how), workload, storages);
}

/**
 * @typedef {object} TakenOptions
 * @property {Structured} structure
 * @property {Record<string, any>} values with their defaults
 */

/**
 * @param {TakenOptions} options
 * @param {WorkloadDefinition | null} workload
 * @param {readonly import('../lib/types.js').ChosenStorage[]} storages
 * @returns {RunPlan}
 * @throws {DragstripError} E_USAGE
 */
export function planTaken({ structure: given, values: taken }, workload, storages) {
  const { test, loads: asked, addresses = {}, redisDb } = given;
  const isPreset = workload?.preset !== undefined;
  const isNamed = given.workload !== undefined && !isPreset;
  const context = { test, storages, addresses, loads: asked, isNamed };
  const own = workload?.plan?.(taken, context) ?? {};
  /** @type {Record<string, any>} */
  const values = { redisDb, addresses, ...taken, ...own.shared };
  const { findMax, options, skipped } = chooseLoads(given, { workload, values, own });
  const sizes = [values.valueSize].flat();
  if (sizes.length > 1) {
    const others = { '--find-max': findMax !== null, '--agents': given.agents };
    refuseBeside('several --value-size', others);
  }
  const lists = given.variants ?? own.variants;
  /** @type {{ parameters?: import('../lib/types.js').Parameters, loads?: LoadOption[] }[]} */
  const owners = lists ?? [{}];
  const wanted = owners.flatMap(({ parameters, loads: list }, variant) =>
    (list ?? withSizes(options, sizes)).map((option) => ({
      variant,
      parameters,
      load: findMax === null ? completeLoad(option) : trialLoad(findMax, findMax.start),
      whole: option.whole,
      isFixed:
        (own.loads === undefined || given.variants !== undefined) && isFixedBy(given, option),
    })),
  );
  const { how, slices } = planSchedules(wanted, {
    values,
    given,
    workload,
    isOther: (own.workload?.workload ?? workload?.name) !== workload?.name,
    isSearch: findMax !== null,
  });
  const variants = lists?.map((one, i) => ({
    ...one,
    loads: how.flatMap(({ load }, j) => (wanted[j].variant === i ? [load] : [])),
  }));
  const loads = variants === undefined ? how.map(({ load }) => load) : loadsOfAll(variants);
  requireRows(loads, workload);
  const { seed } = values;
  const readOnly = isReadOnly({ workloadOptions: own.workload?.workloadOptions ?? {} });
  if (readOnly) refuseBesideReadOnly(given, loads);
  if (values.servers) {
    refuseBeside('--servers', {
      '--against': values.against?.length > 0,
      '--runtime': values.runtimes,
      '--agents': given.agents,
      '--read-only': readOnly,
    });
  }
  const isGiven = /** @type {Record<string, unknown>} */ (given)['rows'] !== undefined;
  const rows =
    sizes.length > 1 ? rowsForSizes(sizes, isGiven ? values.rows : undefined) : values.rows;
  const dataset = { rows, ...sizeOptions(sizes[0]), seed };
  return {
    command: given.command ?? 'run',
    storages: values.storages ?? null,
    workload: (isPreset ? undefined : given.workload) ?? workload?.name ?? DEFAULT_WORKLOAD,
    workloadOptions: {},
    ...own.workload,
    how,
    ...(slices && { slices }),
    ...(slices === null && wanted[0]?.whole && { whole: wanted[0].whole }),
    ...(skipped.length > 0 && { skipped }),
    loads,
    ...(variants && { variants }),
    findMax,
    against: values.against ?? [],
    ...(values.runtimes && { runtimes: values.runtimes }),
    ...(given.onlyAgainst && { onlyAgainst: true }),
    ...(values.failIf && {
      failIf: values.failIf.map((/** @type {string} */ one) => parseGate(one)),
    }),
    ...(values.reference && { reference: values.reference }),
    ...(values.servers && { servers: parseServers(values.servers) }),
    ...(['on', 'both'].includes(values.tls) && { tls: values.tls }),
    pin: values.pin ?? false,
    // In blocks without a number: as many rounds as the precision requires.
    rounds: slices === null ? values.rounds : (slices.rounds ?? 1),
    warmupOperations: values.warmupOperations,
    seed,
    dataset,
    ...(sizes.length > 1 && { sizes }),
    timeoutMs: values.timeoutMs,
    addresses: values.addresses,
    ...(values.redisDb && { redisDb: values.redisDb }),
    allowTargets: values.allowTargets ?? [],
    home: given.home,
  };
}

/**
 * @param {Structured} given
 * @param {LoadOption} option
 * @returns {boolean} a program fixed its amount
 */
function isFixedBy({ loads, variants }, { operations, durationMs }) {
  return (loads ?? variants) !== undefined && (operations ?? durationMs) !== undefined;
}

/**
 * @param {Structured} given
 * @param {{ workload: WorkloadDefinition | null, values: Record<string, any>,
 *   own: import('../lib/types.js').WorkloadPlan }} run
 * @returns {{ findMax: import('./loads.js').SearchPlan | null, options: LoadOption[],
 *   skipped: import('./loads.js').SkippedLoad[] }} options: one of a search
 * @throws {DragstripError} E_USAGE
 */
function chooseLoads(given, { workload, values, own }) {
  const usual = usualLoadsOf(workload);
  const { options = {} } = workload ?? {};
  const names = Object.keys(LOAD_OPTIONS).filter((name) => !Object.hasOwn(options, name));
  const { rounds } = /** @type {Record<string, unknown>} */ (given);
  const asOptions = Object.fromEntries(names.map((name) => [name, values[name]]));
  const isGiven = given.loads !== undefined || given.findMax !== undefined;
  const excess = isGiven ? names.find((name) => values[name] !== undefined) : undefined;
  if (excess !== undefined) {
    throw new DragstripError('E_USAGE', `${excess} beside loads or findMax: one of them`);
  }
  const isFixed = isGiven || own.loads !== undefined || usual === null;
  const chosen = isFixed
    ? { loads: own.loads ?? given.loads, findMax: given.findMax }
    : loadsOf(asOptions, usual, rounds);
  if (chosen.findMax !== undefined) {
    if (chosen.loads !== undefined) {
      throw new DragstripError('E_USAGE', 'findMax chooses the rates itself: leave out loads');
    }
    const findMax = completeSearch(chosen.findMax);
    return { findMax, options: [{ kind: 'rate' }], skipped: [] };
  }
  const { loads = [{ kind: 'window' }] } = chosen;
  // A program writes each load out; of lists of options only some combinations may exist.
  const all = isFixed ? { possible: loads, skipped: [] } : splitPossible(loads);
  return { findMax: null, options: all.possible, skipped: all.skipped };
}

/**
 * @param {readonly import('../lib/result.js').Load[]} loads
 * @param {WorkloadDefinition | null} workload
 * @throws {DragstripError} E_USAGE where a lost storage cannot be opened again
 */
function requireRows(loads, workload) {
  if (workload === null || loads.every(({ onOutage }) => onOutage === undefined)) return;
  if (workload.contenders === undefined && kindOf(workload.needs) === 'rows') return;
  throw new DragstripError('E_USAGE', `--on-outage continue: ${workload.name} reads no rows`, {
    hint: 'leave it out, or measure reads or a mix',
  });
}

/**
 * @param {RunOptions} given
 * @param {WorkloadDefinition | null} workload
 * @param {{ asText?: boolean }} [how]
 * @returns {TakenOptions}
 * @throws {DragstripError} E_USAGE
 */
export function takeGiven(given, workload, how = {}) {
  const options = byOwnNames(given, workload);
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
 * @param {RunOptions} given
 * @param {WorkloadDefinition | null} workload
 * @returns {RunOptions}
 */
function byOwnNames(given, workload) {
  if (typeof given !== 'object' || given === null) return given;
  const table = optionsOf(workload);
  const flags = new Map(
    Object.entries(table).flatMap(([name, { flag }]) =>
      flag === undefined ? [] : [[flag.replace(/-([a-z])/g, (_, one) => one.toUpperCase()), name]],
    ),
  );
  const isKnown = (/** @type {string} */ name) =>
    Object.hasOwn(table, name) || Object.hasOwn(structured.shape, name);
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      isKnown(name) ? name : (flags.get(name) ?? name),
      value,
    ]),
  );
}

/**
 * @param {Variant[]} variants
 * @returns {import('../lib/result.js').Load[]} each once
 */
function loadsOfAll(variants) {
  const all = variants.flatMap(({ loads }) => loads);
  return [...new Map(all.map((load) => [JSON.stringify(load), load])).values()];
}
