/**
 * What the columns and marks of a table of point reads mean: in short under the tables, and one by
 * one, with the sources of the formulas, behind --explain and on pages.
 */

import { formatBytes, formatCount } from '../lib/format.js';

/** @typedef {[string, string]} Explained a column or mark, and what it means */

const SLICE_LEGEND =
  'ops/s: verified operations per second, mean of the processes ± 95 % interval. vs fastest: ± is ' +
  'the interval of the ratio, narrower since both ran side by side.';
const WHOLE_LEGEND =
  'ops/s: verified operations per second, median of the rounds ± 95 % interval of the mean (n ' +
  'rounds).';
const OPEN_LEGEND =
  'Response time counts from when an operation was due, service time from when it was sent.';

/**
 * @param {readonly any[]} rows benchmarks of the tables
 * @returns {string[]} what a reader needs at hand
 */
export function shortLegend(rows) {
  if (rows.length === 0) return [];
  const isOpen = rows.some(({ source }) => source.load.kind === 'rate');
  const isClosed = rows.some(({ source }) => source.load.kind !== 'rate');
  const marks = [
    ...(rows.some(({ mark }) => mark === 'wrong') ? ['! something is wrong, see the lists.'] : []),
    ...(rows.some(({ mark }) => mark === 'unsteady') ? ['~ still warming up.'] : []),
    ...(rows.some(({ mark }) => mark === 'drift') ? ['~ its speed drifted.'] : []),
  ];
  return [
    [
      ...(isClosed ? [isSliced(rows) ? SLICE_LEGEND : WHOLE_LEGEND] : []),
      ...(isOpen ? [OPEN_LEGEND] : []),
      ...(rows.some(({ rank }) => rank !== null) ? ['rank 1–3: tied with others.'] : []),
      ...marks,
      comparedText(rows),
      'More: --explain.',
    ]
      .filter((text) => text !== '')
      .join(' '),
  ];
}

/** @param {readonly any[]} rows */
function isSliced(rows) {
  return rows.some(({ standing }) => standing !== undefined);
}

/**
 * @param {readonly any[]} rows
 * @returns {string} how much of the replies was compared with the dataset
 */
function comparedText(rows) {
  const all = rows.flatMap(({ source }) =>
    source.rounds.flatMap((/** @type {any} */ { compared }) => compared ?? []),
  );
  if (all.length === 0) return '';
  const sum = (/** @type {'replies' | 'bytes'} */ name) =>
    all.reduce((total, one) => total + one[name], 0);
  return (
    `Compared with what they must be: ${formatCount(sum('replies'))} replies, ` +
    `${formatBytes(sum('bytes'))} of them.`
  );
}

/** @type {readonly Explained[]} */
const SLICED = [
  [
    'ops/s',
    'verified operations per second: geometric mean of the processes (one per round), ± Student’s ' +
      '95 % interval over processes. A process counts with the mean of its slices on logs, block ' +
      'state removed by median polish (Tukey 1977) and 5 % trimmed at both ends.',
  ],
  [
    'rank',
    'a range such as 2–4 is a tie. Ranks compare all pairs at once (Tukey’s studentised range; Šidák ' +
      'for variances of their own), so that two rows may tie although their own ratio excludes 1.',
  ],
  [
    'vs fastest',
    'speed over that of the fastest storage with a server; of embedded stores over the fastest of ' +
      'them. ±: interval of the ratio, from rounds that both ran in (variance pooled over contenders ' +
      'that agree by Levene’s test; Kalibera and Jones, ISMM 2013).',
  ],
  [
    'of ceiling',
    'speed over that of the server without a driver, measured in the same blocks: pre-encoded ' +
      'requests on one connection, as many in flight, replies only counted.',
  ],
];

/** @type {readonly Explained[]} */
const WHOLE = [
  [
    'ops/s',
    'verified operations per second: median of the rounds, ± Student’s 95 % interval of their mean, ' +
      'n rounds.',
  ],
  ['rank', 'storages that are statistically tied share a range, such as 2–4.'],
  ['vs fastest', 'relative to the fastest storage with a server under the same load.'],
  [
    'of server ceiling, of client ceiling',
    'share of what the server gives without a driver, and of what the driver reaches against a fake ' +
      'server (--limits).',
  ],
];

/** @type {readonly Explained[]} */
const OPEN = [
  [
    'response, service',
    'response time is measured from the scheduled start of an operation, independent of earlier ' +
      'replies; service time from when it was sent.',
  ],
  ['late', 'share of operations sent more than 1 ms after they were due.'],
  ['dropped', 'share of operations not sent, because too many were in flight.'],
  ['client CPU', 'not shown in an open loop: waiting for the next arrival takes a processor.'],
];

/** @type {readonly Explained[]} */
const CLOSED = [
  [
    'bottleneck',
    'driver: the client’s thread is busy 90 % of the time or more (by slices, 95 % of the time in ' +
      'which it had a processor; two names from 80 %); server: its busiest thread or all cores are; ' +
      'latency: neither, the round trip dominates; –: unknown.',
  ],
  [
    'client CPU, server CPU',
    'user and system time of the Node process and of the server per verified operation, µs. Where ' +
      'time cannot separate two drivers, client CPU often can.',
  ],
  ['memory', 'peak resident size of the client. per pending: of each request of a burst.'],
];

/** @type {readonly Explained[]} */
const ALWAYS = [
  [
    'p50, p99, p99.9',
    'of all rounds together (HdrHistogram, three digits), from issue to completion; – where fewer ' +
      'than ten values lie above. With many in flight this includes waiting for the others.',
  ],
];

/** @type {readonly Explained[]} */
const OF_SLICES = [
  [
    'resolves',
    'median half-width of vs fastest over storages with a server: what the run can tell.',
  ],
  ['cannot tell below', 'the greatest difference that the interval of a tie leaves possible.'],
  ['A/A', 'the same storage twice in the run. Its interval should contain 1; else trust less.'],
  [
    'throughput × latency',
    'must be the number in flight, which is counted apart (Little’s law, 1961); medians over drivers ' +
      'and rounds. A slice begins and ends with fewer in flight; its steady part is without those.',
  ],
  [
    'compared',
    'of every reply the length and the tag of its key, and every 31st in full: a byte that is wrong ' +
      'in all replies is found within 31.',
  ],
];

/**
 * @param {readonly any[]} rows benchmarks of the tables
 * @returns {Explained[]}
 */
export function explainOperations(rows) {
  if (rows.length === 0) return [];
  const sliced = isSliced(rows);
  const has = (/** @type {(row: any) => boolean} */ is) => rows.some(is);
  const isClosed = has(({ source }) => source.load.kind !== 'rate');
  /** @type {[boolean, readonly Explained[]][]} */
  const parts = [
    [isClosed, sliced ? SLICED : WHOLE],
    [has(({ source }) => source.load.kind === 'rate'), OPEN],
    [true, ALWAYS],
    [
      has(({ source }) => source.rounds.some((/** @type {any} */ one) => one.poolWait)),
      [
        [
          'pool wait',
          'from the request until the driver’s pool gave it a connection: a part of the latency, ' +
            'before anything is on the wire. Median of the rounds.',
        ],
      ],
    ],
    [isClosed, CLOSED],
    [sliced, OF_SLICES],
    [
      has(({ kind }) => kind === 'embedded'),
      [['(embedded)', 'runs in the benchmark’s process, without server or network.']],
    ],
    [
      has(({ kind }) => kind === 'overhead'),
      [['(overhead)', 'the cost of the harness itself, on an array in the process.']],
    ],
    [
      has(({ mark }) => mark === 'wrong'),
      [['!', 'wrong or missing replies, failures, or counters that contradict each other.']],
    ],
    [
      has(({ mark }) => mark === 'unsteady'),
      [['~', 'no steady state: the last windows of the warm-up varied by more than 2 %.']],
    ],
    [
      has(({ mark }) => mark === 'drift'),
      [
        [
          '~',
          'drift: the last third of its slices was faster or slower than the first, by more than 2 % ' +
            'with the whole interval.',
        ],
      ],
    ],
  ];
  return parts.flatMap(([applies, list]) => (applies ? [...list] : []));
}
