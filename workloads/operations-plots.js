/**
 * The plots of the tables of operations.js: the ratio to the fastest, then throughput, latency, CPU
 * time, memory and the time series; for an open loop latency by offered rate.
 */

import { formatDuration, formatThroughput, plainText } from '../lib/format.js';
import { loadName } from '../lib/load-name.js';
import { kneeOf } from '../stats/knee.js';
import { numberOf } from '../stats/metrics.js';

/** @typedef {import('../lib/report-types.js').PlotSpec} PlotSpec */
/** @typedef {import('../lib/report-types.js').Table} Table */
/** @typedef {import('../lib/report-types.js').TableRow} TableRow */

/** @param {TableRow} row @returns {any} */
const benchmarkOf = ({ benchmarks: [benchmark] }) => benchmark;
/**
 * @param {TableRow} row @returns {boolean} whether it is in a table of operations.js and has a
 *   figure
 */
const hasFigure = ({ values, benchmarks }) =>
  values['throughput'] !== undefined &&
  benchmarks.length === 1 &&
  benchmarks[0].throughput !== null;
/** @param {TableRow} row */
const isOpen = (row) => hasFigure(row) && benchmarkOf(row).source.load.kind === 'rate';
/** @param {TableRow} row */
const isClosed = (row) => hasFigure(row) && benchmarkOf(row).source.load.kind !== 'rate';
/** @param {readonly Table[]} tables @returns {any} source of the first row */
const sourceIn = ([{ rows }]) => benchmarkOf(rows[0]).source;

/** @param {any} benchmark @returns {any[]} */
const measuredRounds = ({ source }) =>
  source.rounds.filter((/** @type {any} */ { state }) => state === 'measured');

/**
 * @param {string} name
 * @param {string} title
 * @returns {{ each: 'table', has: typeof isClosed, id: (tables: readonly Table[]) => string,
 *   title: (tables: readonly Table[]) => string }}
 */
function perTable(name, title) {
  return {
    each: 'table',
    has: isClosed,
    id(tables) {
      const { workload, load, parameters } = sourceIn(tables);
      const { connections, valueSize } = load;
      const size =
        (load.kind === 'window' ? `-${load.inFlight}` : '') +
        (connections === undefined ? '' : `-over-${connections}`) +
        (valueSize === undefined ? '' : `-value-${valueSize}`);
      const core = parameters?.core === undefined ? '' : `-${parameters.core}`;
      return `${name}-${workload}${core}-${load.kind}${size}`;
    },
    title(tables) {
      const { workload, load } = sourceIn(tables);
      return `${title}, ${plainText(workload)}, ${loadName(load)}`;
    },
  };
}

/** @param {string} text @returns {string} */
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;

/** @type {PlotSpec} */
const versusFastest = {
  ...perTable('ratio', 'Speed against the fastest'),
  kind: 'dots',
  first: true,
  ratio: 'versus_fastest',
  figures: ['throughput'],
  // A single storage has no ratio.
  rowsMin: 2,
  panel: (/** @type {TableRow} */ row) =>
    benchmarkOf(row).kind === 'server' ? 'networked drivers' : 'embedded stores',
  filled: (/** @type {TableRow} */ row) => row.mark !== 'wrong',
  summary(/** @type {any[]} */ dots) {
    const panels = [...new Set(dots.map(({ panel }) => panel))];
    return panels
      .map((panel) => {
        const own = dots.filter((dot) => dot.panel === panel && dot.row.mark !== 'wrong');
        if (own.length === 0) return `${sentence(panel)}: all have wrong or missing replies.`;
        const slowest = own[own.length - 1];
        const rest = own.length > 1 ? `, slowest ${slowest.plain} at ${slowest.shown}` : '';
        return `${sentence(panel)}: fastest ${own[0].plain}${rest}.`;
      })
      .join(' ');
  },
  note: (/** @type {any[]} */ dots) =>
    'Dot: speed relative to the fastest (1.00×), right is faster. ' +
    (dots.some(({ low }) => low !== null && low !== undefined)
      ? 'Line: interval of the ratio, for all pairs at once; where it spans 1, they are not separated. '
      : '') +
    'Each axis has its own scale.',
  axis: 'speed relative to the fastest',
  head: 'storage',
};

/** @type {PlotSpec} */
const versusReference = {
  ...versusFastest,
  title: perTable('ratio', 'Speed against the reference').title,
  ratio: 'versus_reference',
  limits: (/** @type {TableRow} */ row) =>
    benchmarkOf(row).against === null ? [] : benchmarkOf(row).gateLimits,
  summary(/** @type {any[]} */ dots) {
    const texts = dots.map(({ plain, shown }) => `${plain} ${shown}`);
    return dots.length <= 3 ? `${texts.join(', ')}.` : `${texts[0]} to ${texts[texts.length - 1]}.`;
  },
  note: (/** @type {any[]} */ dots) =>
    'Dot: speed relative to the reference (1.00×), right is faster. Line: interval of the ratio.' +
    (dots.some(({ limits }) => limits.length > 0) ? ' Red line: limit of a gate.' : ''),
  axis: 'speed relative to the reference',
};

/** @type {PlotSpec} */
const throughputBars = {
  ...perTable('throughput', 'Throughput'),
  kind: 'bars',
  measures: [{ key: 'throughput' }],
  axis: 'operations per second',
  rounds: (/** @type {any} */ benchmark) =>
    measuredRounds(benchmark).map(({ throughput }) => throughput),
  marks: ceilings,
  summary(/** @type {any[]} */ entries) {
    const count = entries.length === 1 ? 'one storage' : `${entries.length} storages`;
    return `Operations per second of ${count}. ${leadText(entries)}`;
  },
  note: (/** @type {any[]} */ entries) =>
    'Bar: geometric mean of the rounds. Line with caps: its 95 % interval. Dots: the rounds.' +
    (entries.some(({ marks }) => marks.length > 0)
      ? ' Red diamond: client ceiling. Blue bar: server ceiling; a triangle at the edge: beyond ' +
        'the axis.'
      : ''),
  head: 'storage',
};

/**
 * @param {TableRow} row
 * @returns {{ role: string, name: string, value: number }[]} ceilings of its driver and its server
 */
function ceilings({ values }) {
  const own = numberOf(values['throughput']);
  return /** @type {const} */ ([
    ['driver-limit', 'client ceiling', 'of_client_ceiling'],
    ['wire-limit', 'server ceiling', 'of_server_ceiling'],
  ]).flatMap(([role, name, key]) => {
    const share = values[key] === undefined ? null : numberOf(values[key]);
    return own === null || !share ? [] : [{ role, name, value: own / share }];
  });
}

/**
 * @param {any[]} entries
 * @returns {string} the leaders among networked and among embedded storages; failed ones and wrong
 *   replies are excluded, ties are included
 */
function leadText(entries) {
  const fit = entries.filter(({ row }) => {
    const { wrong, state } = benchmarkOf(row);
    return wrong === 0 && state !== 'failed';
  });
  const sentences = [true, false].flatMap((withServer) => {
    const contenders = fit.filter(({ row }) => (benchmarkOf(row).kind === 'server') === withServer);
    if (contenders.length === 0) return [];
    const rankOf = (/** @type {any} */ { row }) => benchmarkOf(row).rank?.best ?? null;
    const best = rankOf(contenders[0]);
    const first = contenders.filter((one, i) => i === 0 || (best !== null && rankOf(one) === best));
    const isLong = first.length > 2;
    const named = first.slice(0, isLong ? 1 : 2);
    const rest = isLong ? ` and ${first.length - 1} more` : '';
    const names = `${named.map(({ plain }) => plain).join(' and ')}${rest}`;
    const figures = named.map(({ values }) => formatThroughput(values[0])).join(' and ');
    const at = isLong ? `up to ${figures}` : figures;
    const leadFigure = first.length > 1 ? `${at} ops/s, not separated` : `${at} ops/s`;
    const where = withServer ? 'With a server ' : 'Embedded, ';
    // A single storage has no leader.
    if (contenders.length === 1) return [`${where}${names}: ${leadFigure}.`];
    const verb = first.length > 1 ? 'lead' : 'leads';
    return [`${where}${names} ${verb} with ${leadFigure}.`];
  });
  return sentences.length === 0 ? 'All replies were wrong.' : sentences.join(' ');
}

/** @type {PlotSpec} */
const latencyCurves = {
  ...perTable('latency', 'Latency'),
  kind: 'lines',
  histogram: (/** @type {any} */ benchmark) => benchmark.histogram(),
  names: { value: 'latency', of: 'the operations' },
  head: 'storage',
  summary: (/** @type {any[]} */ curves) => curveSummary(curves, 'Latency'),
  note: (/** @type {any[]} */ curves) =>
    'Left: the fastest half; right: the slowest, one in a hundred, one in a thousand. Lower is ' +
    'better. Service times of all rounds together, drawn while at least ten values lie above.' +
    (benchmarkOf(curves[0].rows[0]).source.load.kind === 'burst'
      ? ' All requests are issued at once, so each one waits for those before it.'
      : ''),
};

/**
 * @param {any[]} curves with their histograms
 * @param {string} what drawn quantity: `Latency`
 * @returns {string} the curves with minimum and maximum at the 99th percentile
 */
export function curveSummary(curves, what) {
  const at99 = curves
    .map(({ plain, histogram }) => ({ name: plain, ns: histogram.printablePercentile(0.99) }))
    .filter((one) => one.ns !== null)
    .sort((a, b) => Number(a.ns) - Number(b.ns));
  const [least, most] = [at99[0], at99[at99.length - 1]];
  if (at99.length === 0) return `${what} by percentile.`;
  if (at99.length === 1) {
    return `${what} by percentile. ${least.name} has ${formatDuration(least.ns)} at the 99th.`;
  }
  return (
    `${what} by percentile. At the 99th ${least.name} has the least, ` +
    `${formatDuration(least.ns)}, ${most.name} the greatest, ${formatDuration(most.ns)}.`
  );
}

/** @param {any} one @param {(round: any) => number | null} valueIn */
function perOperation(one, valueIn) {
  const known = measuredRounds(one).filter((round) => valueIn(round) !== null);
  const ok = known.reduce((sum, { outcomes }) => sum + outcomes.ok, 0);
  return ok === 0 ? null : known.reduce((sum, round) => sum + Number(valueIn(round)), 0) / ok;
}

const cpuTime = Object.freeze({ unit: 'ns', as: 'µs' });

/** @type {PlotSpec} */
const cpuBars = {
  ...perTable('cpu', 'CPU time per operation'),
  kind: 'bars',
  layout: 'stacked',
  scales: ['linear'],
  axis: 'µs per operation',
  measures: [
    {
      key: 'user',
      name: 'client, user, µs',
      role: 'cpu-user',
      ...cpuTime,
      of: (/** @type {any} */ one) => perOperation(one, ({ client }) => client?.userNs ?? null),
    },
    {
      key: 'kernel',
      name: 'client, kernel, µs',
      role: 'cpu-system',
      ...cpuTime,
      of: (/** @type {any} */ one) => perOperation(one, ({ client }) => client?.systemNs ?? null),
    },
    {
      key: 'server',
      name: 'server, µs',
      role: 'cpu-server',
      ...cpuTime,
      of: (/** @type {any} */ one) => perOperation(one, ({ server }) => server?.cpuNs ?? null),
    },
  ],
  summary(/** @type {any[]} */ entries, /** @type {(ns: number) => string} */ format) {
    const client = entries
      .map(({ plain, values: [user, kernel] }) => ({ plain, ns: (user ?? 0) + (kernel ?? 0) }))
      .sort((a, b) => a.ns - b.ns);
    const [least, most] = [client[0], client[client.length - 1]];
    if (client.length === 1) {
      return `Client and server CPU time. The client spends ${format(least.ns)} µs.`;
    }
    return (
      `Client and server CPU time. The client spends least with ${least.plain}, ` +
      `${format(least.ns)} µs, most with ${most.plain}, ${format(most.ns)} µs.`
    );
  },
  note: (/** @type {any[]} */ entries) =>
    'Whole processes over the measured phase, per verified operation. Helper threads (garbage ' +
    'collection) are included, so it may exceed elapsed time.' +
    (entries.some(({ row, values }) => benchmarkOf(row).kind === 'server' && values[2] === null)
      ? ' Servers whose processes cannot be read have no bar.'
      : ''),
  head: 'storage',
};

/** @type {PlotSpec} */
const memoryBars = {
  ...perTable('memory', 'Memory per outstanding request'),
  kind: 'bars',
  measures: [{ key: 'pending' }],
  more: ['client_rss_max'],
  order: 'ascending',
  scales: ['linear'],
  axis: 'per outstanding request',
  head: 'storage',
  summary(/** @type {any[]} */ entries, /** @type {(bytes: number) => string} */ format) {
    const [least, most] = [entries[0], entries[entries.length - 1]];
    return (
      'Client heap per request once all requests are issued: ' +
      `${least.name} takes least, ${format(least.values[0])}, ${most.name} most, ` +
      `${format(most.values[0])}.`
    );
  },
  note: 'Growth of the heap from before the first request to after the last, median of the rounds.',
};

/** @type {PlotSpec} */
const overTime = {
  ...perTable('timeline', 'Throughput over time'),
  kind: 'timeline',
  rounds: measuredRounds,
  thing: 'storage',
  head: 'storage',
  note:
    'Shaded: warm-up, under its own load. 0: start of measurement. Each small plot has its own ' +
    'axes.',
  noteOfCollections: 'At the bottom: garbage collections, as wide as they were long.',
};

/**
 * @param {(x: number) => string} upTo
 * @param {(knee: { x: number, y: number }) => string} at
 * @returns {(curves: readonly any[]) => string} the knee of each curve, if any
 */
export function kneeSummary(upTo, at) {
  const textOf = (/** @type {any} */ { plain, points }) => {
    const knee = points.find((/** @type {any} */ { marked }) => marked);
    return `${plain}: ${knee ? at(knee) : `no knee up to ${upTo(points.at(-1).x)}`}.`;
  };
  return (curves) => curves.map(textOf).join(' ');
}

const KNEE_METRICS = ['offered', 'throughput', 'dropped_share', 'latency_p99'];

/** @param {readonly TableRow[]} rows rows of one storage @returns {number | null} */
const kneeIn = (rows) =>
  kneeOf(
    rows.flatMap((row) => {
      const [offered, achieved, dropped, p99Ns] = KNEE_METRICS.map((key) =>
        numberOf(row.values[key]),
      );
      if (offered === null) return [];
      return [{ offered, achieved: achieved ?? 0, dropped: dropped ?? 0, p99Ns }];
    }),
  );

/** @param {TableRow} row @returns {readonly [number, number] | null} p99 of its rounds */
function roundsRange(row) {
  const found = measuredRounds(benchmarkOf(row)).flatMap(({ latency }) => latency?.p99Ns ?? []);
  return found.length < 2 ? null : [Math.min(...found), Math.max(...found)];
}

/** @type {PlotSpec} */
const openLoop = {
  kind: 'lines',
  each: 'table',
  first: true,
  has: isOpen,
  metric: 'latency_p99',
  id: (/** @type {readonly Table[]} */ tables) => `ramp-${sourceIn(tables).workload}`,
  title: (/** @type {readonly Table[]} */ tables) =>
    `Response time by offered rate, ${plainText(sourceIn(tables).workload)}`,
  x: (/** @type {TableRow} */ row) => Number(numberOf(row.values['offered'])),
  xName: 'offered operations per second',
  thing: 'operation/s',
  head: 'storage',
  xText: formatThroughput,
  yName: 'p99 of the response time',
  scales: ['log', 'linear'],
  range: { note: 'Line: from the lowest to the highest round.', of: roundsRange },
  knee: kneeIn,
  summary: kneeSummary(
    (x) => `${formatThroughput(x)} ops/s`,
    ({ x, y }) => `keeps up to ${formatThroughput(x)} ops/s, p99 ${formatDuration(y)}`,
  ),
  note:
    'p99 of the response time, measured from when an operation was due, all rounds together. ' +
    'Ring: the knee, the greatest rate before one that was not achieved within 1 %, of which some ' +
    'was dropped, or whose p99 is more than five times that of the lowest rate.',
};

/** @type {readonly PlotSpec[]} */
export const operationsPlots = Object.freeze([
  ...[
    versusFastest,
    versusReference,
    openLoop,
    throughputBars,
    latencyCurves,
    cpuBars,
    memoryBars,
    overTime,
  ],
]);
