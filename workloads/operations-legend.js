/**
 * What the columns and marks of a table of point reads mean: in short under the tables, and one by
 * one, with the sources of the formulas, behind --explain and on pages.
 */

import { formatBytes, formatCount } from '../lib/format.js';

/** @typedef {[string, string]} Explained a column or mark, and what it means */

const CLOSED_LEGEND =
  'ops/s: verified operations per second, geometric mean of the rounds ± 95 % interval. vs fastest: ' +
  'the interval holds for all pairs at once.';
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
    ...(rows.some(({ mark }) => mark === 'drift') ? ['~ its speed drifted.'] : []),
  ];
  return [
    [
      ...(isClosed ? [CLOSED_LEGEND] : []),
      ...(isOpen ? [OPEN_LEGEND] : []),
      ...(rows.some(({ rank }) => rank !== null) ? ['rank 1–3: not separated from others.'] : []),
      ...marks,
      comparedText(rows),
      'More: --explain.',
    ]
      .filter((text) => text !== '')
      .join(' '),
  ];
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
const FIGURES = [
  [
    'ops/s',
    'verified operations per second: geometric mean of the rounds, ± Student’s 95 % interval on ' +
      'logs, n rounds. By slices a round counts with the mean of its slices on logs, block state ' +
      'removed by median polish (Tukey 1977) and 5 % trimmed at both ends.',
  ],
  [
    'rank',
    'a range such as 2–4: not separated. Ranks compare all pairs at once: Tukey’s studentised range ' +
      'where contenders share a variance by Levene’s test, else Student’s t of the pair’s own rounds ' +
      'at Šidák’s level; of fewer than ten segments per process always the latter.',
  ],
  [
    'vs fastest',
    'speed over that of the fastest storage with a server; of embedded stores over the fastest of ' +
      'them. ±: the interval by which the rank is decided, for all pairs at once. With --against: ' +
      'over the reference, with the interval of the pair.',
  ],
  [
    'tied, not resolved',
    'tied: the interval includes 1 and lies within ± 5 %; not resolved: it is wider than that. The ' +
      'percentage is the greatest difference that the interval leaves possible.',
  ],
];

/** @type {readonly Explained[]} */
const CEILINGS_OF_SLICES = [
  [
    'of ceiling',
    'speed over that of the server without a driver, measured in the same blocks: pre-encoded ' +
      'requests on one connection, as many in flight, replies only counted.',
  ],
];

/** @type {readonly Explained[]} */
const CEILINGS = [
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
  const has = (/** @type {(row: any) => boolean} */ is) => rows.some(is);
  const sliced = has(({ isSliced }) => isSliced);
  const isClosed = has(({ source }) => source.load.kind !== 'rate');
  /** @type {[boolean, readonly Explained[]][]} */
  const parts = [
    [isClosed, FIGURES],
    [isClosed, sliced ? CEILINGS_OF_SLICES : CEILINGS],
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
      has(({ mark }) => mark === 'drift'),
      [
        [
          '~',
          'drift: the last third of its slices, or of its time, was faster or slower than the first, ' +
            'by more than 2 % with the whole interval.',
        ],
      ],
    ],
  ];
  return parts.flatMap(([applies, list]) => (applies ? [...list] : []));
}
