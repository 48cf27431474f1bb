/** docs/findings.md from claims and their results. Pure. */

import { plainText } from '../../lib/format.js';
import { medianOf } from '../../stats/metrics.js';
import { pairedRatio } from '../../stats/ratio.js';
import { WAITING_MAX } from '../../stats/standings.js';

/** @typedef {import('./claims.js').Claim} Claim */
/** @typedef {import('../../lib/result.js').Result} Result */
/**
 * @typedef {{ claim: Claim, result: Result | null, beside?: Result | null }} Found
 * @typedef {object} MeasuredRatio
 * @property {number | null} ratio null: not measured
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} n rounds
 * @property {number | null} [waiting] fraction of time that clients waited for a processor
 */

const HEAD = `# Findings: the claims of the original programs

Dragstrip succeeds five benchmark programs, the originals, which were published with figures and
conclusions. This page repeats their measurements with today's packages:

| | program | commands here |
|---|---|---|
| 000 | a distributed mutex in Redis (redis-em-mutex, Ruby) | [\`mutex\`](mutex.md) |
| 001 | rmux, a proxy for Redis, measured with redis-benchmark | [\`commands\`](commands.md) |
| 002 | reads of many keys by MGET (go-redis) | [\`mget\`](mget.md) |
| 003 | point reads on Redis, HandlerSocket and Tarantool from Node | \`async\`, \`sync\` |
| 004 | a Cassandra driver in Erlang | [\`insert\`](insert.md), [\`codec\`](codec.md) |

A claim is a ratio. **Ours** is the geometric mean of the ratios of all rounds, with the 95 %
interval and the number of rounds.

| claimed | reproduced if the whole interval | refuted if the whole interval |
|---|---|---|
| 4× | lies above 2×, the square root of the claim | lies below it |
| ≤ 4× | lies below 4× | lies above it |
| > 1× | lies above 1× | lies below it |
| 0.8× to 1.25× | lies within | lies outside |

Above the square root a ratio is closer to the claim than to 1×, on a logarithmic scale. Otherwise
the run does not decide the claim. *Machine too busy*: clients waited for a processor more than
${100 * WAITING_MAX} % of the time, so there is no verdict, whatever the interval.

\`npm run findings\` runs each command below on the available servers and writes this page from
the results; \`npm run findings -- mutex queue\` runs only these two commands, \`npm run findings
-- --from\` none. Rows without a new result stay, and a result with fewer rounds or from a busy
machine does not replace another. Each command has a time limit (\`seconds\` in
\`scripts/findings/claims.js\`, one to five minutes); complete rounds until then count. The
commands need running servers with rows:

    npx dragstrip servers start redis mariadb tarantool cassandra
    npx dragstrip seed

The claims about rmux need rmux ([commands.md](commands.md#rmux)) and a Redis without a password,
the claim about hiredis needs \`npm run build:hiredis\`.
`;

/** Text that is valid on any machine, without figures of one run. */
const WHY = [
  '- HandlerSocket: the original compared clients. node-handlersocket keeps requests in an array that',
  '  it shifts, which is quadratic in a burst; a pipelining client does not slow down with its queue.',
  '- Many at once or one after the other: the saving is the round trip, so the ratio depends on the',
  '  machine and its load; see [measuring.md](measuring.md).',
  '- Node as the bottleneck: its CPU time is that of one thread, that of a server may be spread over',
  '  several; see the bottleneck and the ceilings of [measuring.md](measuring.md).',
  '- Locks: a script takes one round trip to unlock, WATCH and EXEC take three; ten names in one script',
  '  are one command. 0.2.3 unlocked name by name, and each woke a waiter. See [mutex.md](mutex.md).',
  '- MGET: the original shuffled 50,000 keys between two fetches, so it rarely had more than one in',
  '  flight, and a fetch of one key waited as long as one of many. See [mget.md](mget.md).',
  '- rmux: the original compared a unix socket with TCP, at 1,000 requests of some 10 µs each. See',
  '  [commands.md](commands.md).',
  '- Cassandra: a batch saves requests; a second connection does not help while the server is the',
  '  bottleneck. See [insert.md](insert.md).',
  '- Codecs: a native reader calls into V8 for every value. See [codec.md](codec.md).',
];

/**
 * @param {Pick<Claim, 'claimed' | 'is'>} claim
 * @returns {[number, number]} limits between which the claim is confirmed
 */
function boundsOf({ claimed, is }) {
  if (is === 'at most') return [0, claimed];
  if (is === 'more than') return [claimed, Number.POSITIVE_INFINITY];
  if (is === 'within') return [1 / claimed, claimed];
  return [Math.sqrt(claimed), Number.POSITIVE_INFINITY];
}

/**
 * @param {Pick<Claim, 'claimed' | 'is'>} claim
 * @param {Pick<MeasuredRatio, 'ratio' | 'low' | 'high' | 'waiting'>} measured
 * @returns {'reproduced' | 'refuted' | 'not decided' | 'not measured' | 'machine too busy'}
 */
export function verdictOf(claim, { ratio, low, high, waiting }) {
  if (ratio === null) return UNMEASURED;
  if (isBusy(waiting)) return BUSY;
  if (low === null || high === null) return 'not decided';
  const [least, most] = boundsOf(claim);
  if (low > least && high < most) return 'reproduced';
  return low > most || high < least ? 'refuted' : 'not decided';
}

const BUSY = 'machine too busy';
const UNMEASURED = 'not measured';

/** @param {number | null} [waiting] */
const isBusy = (waiting) => (waiting ?? 0) > WAITING_MAX;

/**
 * @param {readonly Found[]} results
 * @param {string} [before] current page; rows without a better result are kept
 * @returns {string}
 */
export function documentOf(results, before = '') {
  const rows = results.map((one) => {
    const measured = measuredRatioOf(one);
    const kept = rowOf(before, one.claim.text);
    const isNew = kept === null || isBetter(measured, kept);
    return { name: one.claim.run.name, isNew, text: isNew ? rowText(one.claim, measured) : kept };
  });
  const isTaken = (/** @type {string} */ name) =>
    rows.some((row) => row.name === name && row.isNew);
  const isKept = (/** @type {string} */ name) =>
    rows.some((row) => row.name === name && !row.isNew && !row.text.includes(`**${UNMEASURED}**`));
  return [
    HEAD,
    '| claim | claimed | ours | | ratio of | original figures |',
    '|---|--:|--:|---|---|---|',
    ...rows.map(({ text }) => text),
    '',
    '## Why',
    '',
    ...WHY,
    '',
    '## Commands',
    '',
    'After `servers start` and `seed` as above. Load: the highest load average while a command ran.',
    '',
    '| command | machine | load | versions |',
    '|---|---|--:|---|',
    ...commandsOf(results).map(({ name, cells, isKnown }) => {
      const kept = rowOf(before, cells[0]);
      if (kept === null || (isKnown && isTaken(name) && !isKept(name))) return lineOf(cells);
      return isKnown && isTaken(name) ? withEarlier(cells, kept) : kept;
    }),
    '',
  ].join('\n');
}

/** @param {readonly string[]} cells */
function lineOf(cells) {
  return `| ${cells.join(' | ')} |`;
}

/** Between the machine of a command's new rows and that of its other ones. */
const EARLIER = '; rows of more rounds: ';

/**
 * @param {readonly string[]} cells cells of a command, of which some rows are new
 * @param {string} kept its line in the page, where the others come from
 * @returns {string} the line with both machines; the same if made again
 */
function withEarlier([command, machine, ...more], kept) {
  const [, keptMachine, keptLoad] = kept.split(' | ');
  const [first, earlier] = keptMachine.split(EARLIER);
  const isSame = kept === lineOf([command, keptMachine, ...more]) && first === machine;
  if (isSame && earlier !== undefined) return kept;
  return lineOf([command, `${machine}${EARLIER}${first}, load ${keptLoad}`, ...more]);
}

/** @param {Claim} claim @param {MeasuredRatio} measured */
function rowText(claim, measured) {
  const { text, claimed, is, says, source } = claim;
  const [least, most] = boundsOf(claim).map(times);
  const limits = is === 'at most' ? `≤ ${most}` : is === 'more than' ? `> ${least}` : null;
  const range = is === 'within' ? `${least} to ${most}` : times(claimed);
  const verdict = verdictOf(claim, measured);
  return `| ${[text, limits ?? range, shown(measured), `**${verdict}**`, says, source].join(' | ')} |`;
}

/**
 * @param {MeasuredRatio} measured
 * @param {string} kept row of the page
 * @returns {boolean} whether it has at least as many rounds, and no verdict is lost by a busy
 *   machine
 */
function isBetter({ ratio, n, waiting }, kept) {
  const rounds = Number(/, n (\d+) \|/.exec(kept)?.[1] ?? 0);
  const hasVerdict = rounds > 0 && !kept.includes(`**${BUSY}**`);
  return ratio !== null && (hasVerdict ? n >= rounds && !isBusy(waiting) : true);
}

/**
 * @param {string} page
 * @param {string} cell the first of a row
 * @returns {string | null}
 */
function rowOf(page, cell) {
  return page.split('\n').find((line) => line.startsWith(`| ${cell} | `)) ?? null;
}

/** @param {Found} found @returns {boolean} */
export function isMeasured(found) {
  return measuredRatioOf(found).ratio !== null;
}

/** @param {Found} found @returns {MeasuredRatio} */
function measuredRatioOf({ claim: { pair }, result, beside = null }) {
  const none = { ratio: null, low: null, high: null, n: 0 };
  if (result === null) return none;
  const { a, b } = pair(result, beside);
  // The last round of an interrupted run may have only one of them.
  const n = Math.min(a.length, b.length);
  const ratio = n === 0 ? null : pairedRatio(a.slice(0, n), b.slice(0, n));
  return ratio === null ? none : { ...ratio, waiting: medianOf(waitsOf(result)) };
}

/** @param {Result} result @returns {number[]} by contender and round */
function waitsOf({ benchmarks, comparison }) {
  const stored = comparison?.loads.flatMap(({ contenders }) => contenders) ?? [];
  const inBlocks = stored.filter(({ group }) => ['networked', 'embedded'].includes(group));
  return [...benchmarks, ...inBlocks].flatMap((/** @type {any} */ { rounds }) =>
    rounds.flatMap((/** @type {any} */ { occupancy }) => occupancy?.waiting ?? []),
  );
}

/** @param {MeasuredRatio} measured */
function shown({ ratio, low, high, n }) {
  if (ratio === null) return '–';
  const interval = low === null || high === null ? '' : ` (${times(low)} to ${times(high)})`;
  return `${times(ratio)}${interval}, n ${n}`;
}

/** @param {number} ratio @returns {string} three significant digits */
function times(ratio) {
  return `${Number(ratio.toPrecision(3))}×`;
}

/**
 * @param {readonly Found[]} results
 * @returns {{ name: string, cells: string[], isKnown: boolean }[]} each command once
 */
function commandsOf(results) {
  const byName = new Map(results.map((one) => [one.claim.run.name, one]));
  return [...byName.values()].map(({ claim: { run }, result }) => {
    const words = `npx dragstrip ${run.shown ?? run.words({})?.join(' ') ?? run.name}`;
    if (result === null) {
      const cells = [`\`${words}\``, run.needs ?? 'not run', '–', '–'];
      return { name: run.name, cells, isKnown: false };
    }
    const { cpu, cores, virtual, node } = result.environment;
    const machine = `${cpu}, ${cores} cores${virtual ? ', virtual' : ''}`;
    const servers = result.servers.map(({ name, version }) => `${name} ${version ?? 'unknown'}`);
    const cells = [machine, loadOf(result), [`Node ${node}`, ...servers].join(', ')];
    return { name: run.name, cells: [`\`${words}\``, ...cells].map(plainText), isKnown: true };
  });
}

/** @param {Result} result */
function loadOf({ benchmarks, environment }) {
  const loads = benchmarks.flatMap(({ rounds }) =>
    rounds.flatMap(({ conditions }) => conditions?.loadAverage ?? []),
  );
  const all = [...loads, ...(environment.loadAverage?.slice(0, 1) ?? [])];
  return all.length === 0 ? '–' : Math.max(...all).toFixed(1);
}
