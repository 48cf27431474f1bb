/**
 * Explanations of the columns and marks of a table of point reads: a summary under the tables, and
 * each one with the sources of its formulas with --explain and on pages.
 */

import { formatBytes, formatCount } from '../lib/format.js';

/** @typedef {[string, string]} Explained a column or mark, and its meaning */

const CLOSED_LEGEND =
  'ops/s: verified operations per second, geometric mean of the rounds ± 95 % interval. vs fastest: ' +
  'the interval holds for all pairs at once.';
const OPEN_LEGEND =
  'Response time counts from when an operation was due, service time from when it was sent.';

/**
 * @param {readonly any[]} rows benchmarks of the tables
 * @returns {string[]} the explanations for these rows
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
 * @returns {string} number of verified replies, and bytes compared in full
 */
function comparedText(rows) {
  const all = rows.flatMap(({ source }) =>
    source.rounds.flatMap((/** @type {any} */ { compared }) => compared ?? []),
  );
  if (all.length === 0) return '';
  const sum = (/** @type {'replies' | 'bytes'} */ name) =>
    all.reduce((total, one) => total + one[name], 0);
  return (
    `${formatCount(sum('replies'))} replies verified, ` +
    `${formatBytes(sum('bytes'))} byte by byte.`
  );
}

/** @type {readonly Explained[]} */
const FIGURES = [
  [
    'ops/s',
    'verified operations per second: geometric mean of the rounds, ± Student’s 95 % interval on ' +
      'logs, n rounds. In blocks a round is all time of its segments over all operations.',
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
      'over the reference, with the interval of the pair. In blocks it is of the typical speed, the ' +
      'mean of the logs of the fastest three quarters of the segments of a process.',
  ],
  [
    'tied, not resolved, split',
    'tied: the interval includes 1 and lies within ± 5 %; not resolved: it is wider than that. The ' +
      'percentage is the greatest difference that the interval leaves possible. split: typically ' +
      'faster, and slower with all pauses and late operations, or the reverse; neither wins.',
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
    'driver: the client’s thread is busy 90 % of the time or more (in blocks, 95 % of the time in ' +
      'which it had a processor; two names from 80 %); server: its busiest thread or all cores are; ' +
      'latency: neither, the round trip dominates; machine: neither, but the client waited for a ' +
      'processor that other programs had for a quarter of the time; –: unknown.',
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
    'median half-width of vs fastest over storages with a server: the resolution of the run.',
  ],
  [
    'A/A',
    'the same storage twice in the run. Its interval should contain 1; otherwise the ratios are ' +
      'less reliable.',
  ],
  [
    'ratios are of',
    'shown if they are of the 5 % trimmed mean of logs instead of the typical speed: the garbage ' +
      'of a contender is unknown (Bun, Deno, a collection in every segment), and the typical ' +
      'speed does not see it.',
  ],
  [
    'time in segments that count',
    'share of the time of all rounds, by load; the rest is starting processes, opening, warming up, ' +
      'segments that set the length of the others, and the gaps between segments.',
  ],
  [
    'throughput × latency',
    'must be the number in flight, which is counted apart (Little’s law, 1961); medians over drivers ' +
      'and rounds. A segment begins and ends with fewer in flight; its steady part is without those.',
  ],
  [
    'compared',
    'of every reply the length and the tag of its key; in full each third, each 31st of embedded ' +
      'stores, of more than 4 KB and of several keys, and all after the first one that is wrong.',
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
    [
      has(({ source }) =>
        source.rounds.some((/** @type {any} */ { client }) => typeof client?.writes === 'number'),
      ),
      [
        [
          'reads, writes, bytes read, bytes written',
          'in CSV and JSON: system calls read(2), write(2) and their like of the client’s process ' +
            'per verified operation, and their bytes (/proc/PID/io, proc(5)). 100 in flight, 1.00 ' +
            'writes: the driver does not batch; 0.01: it does. None where the replies come by other ' +
            'calls.',
        ],
      ],
    ],
    [
      has(({ source }) =>
        source.rounds.some((/** @type {any} */ { client }) => client?.allocatedBytes > 0),
      ),
      [
        [
          'bytes allocated, GC runs, GC time',
          'in CSV, JSON and the rounds of the page: what an operation allocates on the heap of the ' +
            'client (the median of segments without a collection); collections that began in its ' +
            'segments; their time, charged to all segments of a process by the bytes allocated.',
        ],
      ],
    ],
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
          'drift: the last third of its segments, or of its time, was faster or slower than the first, ' +
            'by more than 2 % with the whole interval.',
        ],
      ],
    ],
  ];
  return parts.flatMap(([applies, list]) => (applies ? [...list] : []));
}
