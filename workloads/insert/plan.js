/** Plan of `dragstrip insert`: a variant per strategy, batch size and window. */

import { usageError } from '../../lib/errors.js';
import { choices, count, counts } from '../../lib/options.js';
import {
  planSlices,
  requestsInFlight,
  rowsOfRequest,
  STRATEGIES,
  STRATEGY_NAMES,
} from './strategies.js';

/** @typedef {import('../../lib/types.js').ChosenStorage} ChosenStorage */
/** @typedef {import('../../lib/types.js').StorageDefinition} StorageDefinition */
/** @typedef {{ text: string, definition: StorageDefinition }} Inserting */

const IN_FLIGHT_MAX = 10_000;

/** @type {import('../../lib/options.js').OptionTable} */
export const options = Object.freeze({
  strategies: choices(STRATEGY_NAMES, STRATEGY_NAMES, {
    help: `strategies: ${STRATEGY_NAMES.join(', ')}`,
    shown: 'all',
  }),
  batch: counts(1, 10_000, [166], { help: 'rows per batch; several (50,166,500): each in turn' }),
  inFlight: counts(1, IN_FLIGHT_MAX, [5], {
    help: 'batches in flight; several (1,5,10): each in turn',
  }),
  window: count(1, IN_FLIGHT_MAX, 100, {
    help: 'async and pairs: maximum number of unacknowledged rows',
  }),
});

export const shared = Object.freeze({
  storages: { shown: 'all that insert' },
  rows: { default: 50_000, max: 10_000_000, help: 'rows inserted by each benchmark' },
  valueSize: null,
  against: null,
  rounds: 3,
  warmupOperations: {
    default: 60,
    help: 'requests before the clock starts (of single rows: fifty times as many)',
  },
});

/**
 * @param {Record<string, any>} planOptions
 * @param {import('../../lib/types.js').PlanContext} context
 * @returns {import('../../lib/types.js').WorkloadPlan}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function plan(planOptions, { storages }) {
  const isNamed = planOptions['storages'] !== undefined;
  const chosen = storages.flatMap(insertingOf(isNamed));
  const { strategies } = planOptions;
  const isAny = chosen.some(({ definition }) =>
    strategies.some((/** @type {string} */ one) => hasStrategy(definition, one)),
  );
  if (!isAny) {
    throw usageError(
      'none of these storages implements any of these strategies',
      'npx dragstrip list shows the storages, docs/insert.md their strategies',
    );
  }
  const variants = variantsOf(chosen, {
    // Without a choice each storage has all strategies it supports; a chosen one is checked for
    // each named storage.
    withLacking: isNamed && strategies.length < STRATEGY_NAMES.length,
    strategies,
    rows: planOptions['rows'],
    batches: planOptions['batch'],
    inFlight: planOptions['inFlight'],
    window: planOptions['window'],
  });
  return { variants, shared: { valueSize: 8 } }; // minimum, since these rows are not read
}

/**
 * @param {boolean} isNamed whether the user named the storages
 * @returns {(chosen: ChosenStorage) => Inserting[]}
 */
function insertingOf(isNamed) {
  return ({ text, profile, definition }) => {
    if (definition === null) {
      throw usageError(`--storages ${text}: list them individually`, 'or omit --storages');
    }
    if (isNamed) requireInsert(definition, profile);
    return definition.inserts === undefined ? [] : [{ text, definition }];
  };
}

/**
 * @param {StorageDefinition} definition
 * @param {string} profile
 */
function requireInsert({ name, inserts, profiles }, profile) {
  if (inserts === undefined) {
    throw usageError(
      `storage ${name} does not support inserts`,
      'npx dragstrip insert --help, docs/insert.md',
    );
  }
  const allowed = Object.keys(profiles).filter(
    (one) => one === 'default' || profiles[one].inserts === true,
  );
  if (allowed.includes(profile) || !Object.hasOwn(profiles, profile)) return;
  throw usageError(
    `storage ${name}: the profile ${profile} does not support inserts`,
    `profiles that do: ${allowed.join(', ')}`,
  );
}

/**
 * @param {Inserting[]} chosen
 * @param {{ strategies: readonly string[], rows: number, batches: number[], inFlight: number[],
 *   window: number, withLacking: boolean }} how withLacking: include storages without the strategy,
 *   to be skipped with a reason
 */
function variantsOf(chosen, how) {
  const { strategies, rows, batches: sizes, inFlight, window, withLacking } = how;
  return strategies.flatMap((strategy) => {
    const definitionOf = STRATEGIES[strategy];
    const having = chosen.filter(
      ({ definition }) => withLacking || hasStrategy(definition, strategy),
    );
    const isBatch = definitionOf.rows === 'batch';
    return (isBatch ? sizes : [1]).flatMap((batch) => {
      const size = rowsOfRequest(definitionOf, { rows, batch });
      const { length } = planSlices({ rows, size, workers: definitionOf.workers });
      const windows = isBatch ? inFlight : [requestsInFlight(definitionOf, { batches: 1, window })];
      /** @type {import('../../lib/types.js').Parameters} */
      const parameters = isBatch ? { strategy, batch } : { strategy };
      // An in-process call is complete when it returns, so it has no window.
      const isSync = (/** @type {Inserting} */ { definition }) =>
        definition.server === null && definitionOf.inFlight !== 'singles';
      const variant = (/** @type {Inserting[]} */ some, /** @type {number[]} */ ks) => ({
        parameters,
        loads: ks.map((k) => loadOf(k, length)),
        storages: some.map(({ text }) => text),
      });
      return [
        variant(
          having.filter((each) => !isSync(each)),
          windows,
        ),
        variant(having.filter(isSync), [1]),
      ].filter(({ storages }) => storages.length > 0);
    });
  });
}

/**
 * @param {StorageDefinition} definition
 * @param {string} strategy
 */
function hasStrategy({ inserts = {} }, strategy) {
  return Object.hasOwn(inserts, strategy);
}

/**
 * @param {number} inFlight
 * @param {number} operations
 */
function loadOf(inFlight, operations) {
  return inFlight === 1
    ? { kind: /** @type {const} */ ('sync'), operations }
    : { kind: /** @type {const} */ ('window'), inFlight, operations };
}
