/** docs/findings.md from claims and their results. Pure. */

import { plainText } from '../../lib/format.js';
import { pairedRatio } from '../../stats/ratio.js';

/** @typedef {import('./claims.js').Claim} Claim */
/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {{ claim: Claim, result: Result | null }} Found */

const HEAD = `# Findings: the claims of the original programs

Made by \`npm run findings\`, which runs each command below on the servers that are there and
writes this page from their results. \`npm run findings -- mutex queue\` runs two of them, \`-- --from\`
none: rows without a new result stay as they are. A command is interrupted after 85 s; its complete
rounds count. The numbers 000 to 004 are the programs: distributed mutex, rmux, MGET, storage race,
Cassandra driver.

The commands need running servers, and rows in them:

    npx dragstrip servers start redis mariadb tarantool cassandra
    npx dragstrip seed

The claim about rmux needs rmux ([commands.md](commands.md#rmux)) and a Redis without a password,
that about hiredis needs \`npm run build:hiredis\`.

A claim is a ratio. **Ours** is the geometric mean of pairs of one round, with the 95 % interval and
the number of rounds. A claim is *reproduced* if the whole interval lies above the square root of
the claimed ratio, which is half of it on a logarithmic scale; *refuted* if it lies below; otherwise
this run does not decide it. A claim of *at most* (≤) is reproduced if the interval lies below the
claimed ratio, and refuted if it lies above.
`;

/** What the figures of any machine have in common; no figure of one run. */
const WHY = [
  '- HandlerSocket: the original compared clients. node-handlersocket keeps requests in an array that',
  '  it shifts, which is quadratic in a burst; a pipelining client does not slow down with its queue.',
  '- At once against one after the other: the round trip is what is saved, so the ratio depends on the',
  '  machine and its load; see [race.md](race.md).',
  '- Locks: a script takes one round trip to unlock, WATCH and EXEC take three; ten names in one script',
  '  are one command. See [mutex.md](mutex.md).',
  '- MGET: the original shuffled 50,000 keys between two fetches, so it rarely had more than one in',
  '  flight, and a fetch of one key waited as long as one of many. See [mget.md](mget.md).',
  '- rmux: the original compared a unix socket with TCP. See [commands.md](commands.md).',
  '- Cassandra: a batch saves requests; a second connection does not help while the server is the',
  '  bottleneck. See [insert.md](insert.md).',
  '- Codecs: a native reader calls into V8 for every value. See [codec.md](codec.md).',
];

/**
 * @param {{ claimed: number, atMost?: boolean }} claim
 * @param {{ ratio: number | null, low: number | null, high: number | null }} ours
 * @returns {'reproduced' | 'refuted' | 'not decided' | 'not measured'}
 */
export function verdictOf({ claimed, atMost = false }, { ratio, low, high }) {
  if (ratio === null) return 'not measured';
  if (low === null || high === null) return 'not decided';
  const limit = atMost ? claimed : Math.sqrt(claimed);
  if (low > limit) return atMost ? 'refuted' : 'reproduced';
  if (high < limit) return atMost ? 'reproduced' : 'refuted';
  return 'not decided';
}

/**
 * @param {readonly Found[]} found
 * @param {string} [before] the page as it is: rows without a result stay
 * @returns {string}
 */
export function documentOf(found, before = '') {
  const rows = found.map(({ claim, result }) => {
    const kept = rowOf(before, claim.text);
    if (kept !== null && !isMeasured(claim, result)) return kept;
    const { text, claimed, atMost = false, says, source } = claim;
    const ours = oursOf(claim, result);
    const verdict = verdictOf(claim, ours);
    const cells = [
      text,
      `${atMost ? '≤ ' : ''}${times(claimed)}`,
      shown(ours),
      `**${verdict}**`,
      says,
      source,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    HEAD,
    '| claim | claimed | ours | | ratio of | original figures |',
    '|---|--:|--:|---|---|---|',
    ...rows,
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
    ...commandsOf(found).map(
      ({ cells, isKnown }) =>
        (isKnown ? null : rowOf(before, cells[0])) ?? `| ${cells.join(' | ')} |`,
    ),
    '',
  ].join('\n');
}

/**
 * @param {string} page
 * @param {string} cell the first of a row
 * @returns {string | null}
 */
function rowOf(page, cell) {
  return page.split('\n').find((line) => line.startsWith(`| ${cell} | `)) ?? null;
}

/**
 * @param {Claim} claim
 * @param {Result | null} result
 * @returns {boolean}
 */
export function isMeasured(claim, result) {
  return oursOf(claim, result).ratio !== null;
}

/**
 * @param {Claim} claim
 * @param {Result | null} result
 */
function oursOf({ pair }, result) {
  const none = { ratio: null, low: null, high: null, n: 0 };
  if (result === null) return none;
  const { a, b } = pair(result);
  // The last round of a run that was ended may have one of them only.
  const n = Math.min(a.length, b.length);
  return n === 0 ? none : (pairedRatio(a.slice(0, n), b.slice(0, n)) ?? none);
}

/** @param {{ ratio: number | null, low: number | null, high: number | null, n: number }} ours */
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
 * @param {readonly Found[]} found
 * @returns {{ cells: string[], isKnown: boolean }[]} each command once
 */
function commandsOf(found) {
  const byName = new Map(found.map((one) => [one.claim.run.name, one]));
  return [...byName.values()].map(({ claim: { run }, result }) => {
    const words = `npx dragstrip ${run.shown ?? run.words({})?.join(' ') ?? run.name}`;
    if (result === null) {
      return { cells: [`\`${words}\``, run.needs ?? 'not run', '–', '–'], isKnown: false };
    }
    const { cpu, cores, virtual, node } = result.environment;
    const machine = `${cpu}, ${cores} cores${virtual ? ', virtual' : ''}`;
    const servers = result.servers.map(({ name, version }) => `${name} ${version ?? 'unknown'}`);
    const cells = [machine, loadOf(result), [`Node ${node}`, ...servers].join(', ')];
    return { cells: [`\`${words}\``, ...cells].map(plainText), isKnown: true };
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
