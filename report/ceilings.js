/**
 * The ceilings of a result as tables: one per server, and one per load of the drivers. The columns
 * of a race that refer to them are part of the workload.
 */

import { formatCount, plainText } from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { describeSizes } from '../lib/value-sizes.js';
import { figureOver } from '../stats/interval.js';
import { metric } from '../stats/metrics.js';
import { groupBy } from './analysis/groups.js';
import { tableOfItems } from './model.js';

/** @typedef {import('../lib/ceilings.js').ServerCeiling} ServerCeiling */
/** @typedef {import('../lib/ceilings.js').ClientCeiling} ClientCeiling */
/** @typedef {import('../lib/report-types.js').Table} Table */
/** @typedef {import('../lib/report-types.js').Item} Item */

/** @type {import('../lib/report-types.js').Metric} */
const figure = {
  key: 'throughput',
  name: 'ops/s',
  unit: 'ops/s',
  better: 'more',
  drop: 0,
  shows: ['interval', 'n'],
  of: ({ opsPerSecond, rounds, reason }) =>
    (opsPerSecond === null ? null : figureOver(rounds)) ?? { state: 'unknown', reason },
};

const WIRE = {
  row: [
    {
      key: 'protocol',
      name: 'protocol',
      of: (/** @type {ServerCeiling} */ { protocol, server, version }) =>
        `${protocol} (${server} ${version ?? '?'})`,
    },
  ],
  metrics: [
    figure,
    metric({ key: 'depth', name: 'depth', unit: 'count', drop: 2 }, ({ depth }) => depth),
    metric(
      { key: 'connections', name: 'connections', unit: 'count', drop: 3 },
      (one) => one.connections,
    ),
    cpuOf('client', 4, ({ clientCpuNs }) => clientCpuNs),
    cpuOf('server', 1, ({ serverCpuNs }) => serverCpuNs),
    metric({ key: 'transport', name: 'transport', unit: 'text', drop: 5 }, (one) => one.transport),
  ],
};

const DRIVER = {
  row: [
    { key: 'storage', name: 'storage', of: (/** @type {ClientCeiling} */ one) => labelOf(one) },
  ],
  metrics: [
    figure,
    cpuOf('driver', 1, ({ clientCpuNs }) => clientCpuNs),
    cpuOf('fake server', 3, ({ fakeServerCpuNs }) => fakeServerCpuNs),
    metric(
      { key: 'headroom', name: 'headroom', unit: '×', better: 'more', drop: 2 },
      (one) => one.headroom,
    ),
  ],
};

/**
 * @param {string} side
 * @param {number} drop
 * @param {(limit: any) => number | null} of
 */
function cpuOf(side, drop, of) {
  const shown = {
    name: `${side} CPU µs/op`,
    head: /** @type {[string, string]} */ ([side, 'CPU µs']),
  };
  return metric(
    { key: `${side}_cpu`, unit: 'ns/op', as: 'µs', better: 'less', ...shown, drop },
    of,
  );
}

/** @param {ClientCeiling['load']} load */
function loadText({ kind, inFlight, operations }) {
  if (kind === 'burst') return `all ${formatCount(operations)} at once`;
  return `${formatCount(inFlight)} in flight`;
}

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {Table[]} empty if the result has no ceilings, or has them from another result
 */
export function limitTables({ limits, dataset }) {
  if (limits === undefined || limits.source !== null) return [];
  const byLoad = groupBy(limits.driver, ({ load }) => loadText(load));
  const rowsOf = (/** @type {(ServerCeiling | ClientCeiling)[]} */ list) =>
    [...list].sort((a, b) => (b.opsPerSecond ?? -1) - (a.opsPerSecond ?? -1));
  const size = `rows of ${describeSizes(dataset)}`;
  const wire = tableOfItems(
    `server ceiling: ${size}, best of all depths and connections`,
    WIRE,
    rowsOf(limits.wire),
  );
  const drivers = [...byLoad].map(([text, list]) =>
    tableOfItems(
      `client ceiling, ${text}: against a fake server that replies immediately`,
      DRIVER,
      rowsOf(list),
    ),
  );
  return [...(limits.wire.length > 0 ? [wire] : []), ...drivers];
}

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {Item[]} ceilings without a figure, with the reason
 */
export function missingLimits({ limits }) {
  if (limits === undefined) return [];
  const item = (/** @type {string} */ subject, /** @type {string} */ text) => ({
    subject: plainText(subject),
    text: plainText(text),
    untrusted: true,
    hint: null,
  });
  return [
    ...limits.wire.flatMap(({ protocol, reason }) =>
      reason === null ? [] : [item(`server ceiling of ${protocol}`, reason)],
    ),
    ...limits.driver.flatMap((limit) =>
      limit.reason === null
        ? []
        : [item(`client ceiling of ${labelOf(limit)}, ${loadText(limit.load)}`, limit.reason)],
    ),
  ];
}

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {string[]} meaning of the figures
 */
export function limitLegend({ limits }) {
  if (limits === undefined) return [];
  const from = limits.source === null ? '' : ` From the result ${plainText(limits.source)}.`;
  return [
    'server ceiling: requests encoded beforehand, replies framed and counted only. client ceiling: ' +
      'the driver against a fake server; headroom: how many times as fast the wire loop drives ' +
      `that fake server, at least 2 for a figure.${from}`,
  ];
}
