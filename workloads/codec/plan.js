/** Plan of `dragstrip codec decoding` and `codec encoding`: fixtures, by variants. */

import { FIXTURES } from '../../codecs/fixtures.js';
import { PROTOCOLS } from '../../codecs/index.js';
import { usageError } from '../../lib/errors.js';
import { choices, count, duration, names } from '../../lib/options.js';

/** @typedef {import('../../codecs/definition.js').CodecContender} CodecContender */

const DIRECTIONS = Object.freeze({ decoding: 'decode', encoding: 'encode' });
const DURATION_MS = 250;

export const tests = Object.freeze({
  decoding: 'reply parsers of drivers and of Dragstrip, on recorded replies',
  encoding: 'request encoders of drivers and of Dragstrip',
});

/** @type {import('../../lib/options.js').OptionTable} */
export const options = Object.freeze({
  protocols: choices(PROTOCOLS, PROTOCOLS, {
    help: `protocols: ${PROTOCOLS.join(', ')}`,
    shown: 'all',
  }),
  fixtures: names(undefined, {
    help: 'fixtures by name, such as sets or find-16, comma-separated',
    shown: 'all but mixed, which is small',
  }),
  duration: duration(undefined, {
    help: 'duration of each benchmark',
    shown: `${DURATION_MS}ms`,
  }),
  ops: count(1, 1e9, undefined, {
    help: 'passes over a fixture (256 KiB at least) in each benchmark, instead of a time',
    shown: 'as many as the time allows',
  }),
});

export const shared = Object.freeze({
  storages: {
    flag: 'variants',
    help: 'codecs: name, ./file.js',
    shown: 'all available',
  },
  rounds: 3,
  budget: { default: 60_000, shown: '1m' },
  placement: null,
  warmupOperations: { default: 20, max: 1e6, help: 'warm-up passes, not counted' },
  timeoutMs: null,
  rows: null,
  valueSize: null,
  against: null,
  servers: null,
  tls: null,
  allowTargets: null,
});

/**
 * @param {Record<string, any>} planOptions
 * @param {import('../../lib/types.js').PlanContext} context
 * @returns {import('../../lib/types.js').WorkloadPlan}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function plan(planOptions, { test, storages }) {
  const { ops, duration: durationMs } = planOptions;
  if (ops !== undefined && durationMs !== undefined) {
    throw usageError('--ops and --duration cannot be combined', 'leave one out');
  }
  const parameters = fixturesOf(DIRECTIONS[/** @type {'decoding'} */ (test)], planOptions).map(
    ({ protocol, direction, name }) => ({ protocol, direction, fixture: name }),
  );
  if (planOptions['storages'] !== undefined) requireFixtures(storages, parameters);
  return {
    variants: parameters.map((one) => ({ parameters: one })),
    loads: [
      ops === undefined
        ? { kind: 'sync', durationMs: durationMs ?? DURATION_MS }
        : { kind: 'sync', operations: ops },
    ],
  };
}

/**
 * @param {string} direction
 * @param {Record<string, any>} given
 * @returns {import('../../codecs/fixtures.js').Fixture[]}
 */
function fixturesOf(direction, { protocols, fixtures }) {
  const matching = FIXTURES.filter(
    (one) => one.direction === direction && protocols.includes(one.protocol),
  );
  if (matching.length === 0) {
    throw usageError(`--protocols ${protocols}: no fixture to ${direction}`, 'cql is only decoded');
  }
  if (fixtures === undefined) return matching.filter(({ small }) => !small);
  const known = [...new Set(matching.map(({ name }) => name))];
  for (const name of fixtures) {
    if (known.includes(name)) continue;
    throw usageError(
      `--fixtures ${name}: no such fixture to ${direction}`,
      `available: ${known.join(', ')}`,
    );
  }
  return matching.filter(({ name }) => fixtures.includes(name));
}

/**
 * Refuses a named variant without a matching fixture, which would otherwise be omitted silently.
 * @param {readonly import('../../lib/types.js').ChosenStorage[]} variants
 * @param {import('../../lib/types.js').Parameters[]} parameters
 */
function requireFixtures(variants, parameters) {
  for (const { definition } of variants) {
    const codec = /** @type {CodecContender} */ (/** @type {unknown} */ (definition));
    if (codec === null || parameters.some((one) => codec.offers(one) !== false)) continue;
    throw usageError(
      `--variants ${codec.name}: no selected fixture applies to it`,
      `its protocol is ${codec.protocol}; it may support only one direction or other fixtures`,
    );
  }
}
