/**
 * The table of bench/fleet-loop.sh: throughput of a closed loop with one agent and with several,
 * and its bottleneck. `node bench/fleet-table.js RESULT.json…`; prints Markdown for docs/fleet.md.
 */

import { readFileSync } from 'node:fs';
import { formatDuration, formatRatio, formatThroughput } from '../lib/format.js';
import { parseResult } from '../lib/parse-result.js';
import { agentTables } from '../report/agents.js';
import { rowTexts } from '../report/text.js';

const HEAD = [
  ...['agents', 'ops/s, median (range)', 'of one', 'p50', 'p99', 'server’s busiest thread'],
  ...['client CPU of each', 'bottleneck of each', 'load average'],
];

/** @param {readonly number[]} values */
function ordered(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return { least: sorted[0], median: sorted[sorted.length >> 1], most: sorted.at(-1) ?? 0 };
}

/** @type {number | null} */
let first = null;
console.log(`| ${HEAD.join(' | ')} |\n|${HEAD.map(() => '---|').join('')}`);
for (const file of process.argv.slice(2)) {
  const result = parseResult(readFileSync(file, 'utf8'), file);
  const rounds = result.benchmarks[0].rounds.filter(({ state }) => state === 'measured');
  if (rounds.length === 0) {
    console.log(`| ${result.fleet?.agents.length} | no valid round |`);
    continue;
  }
  const { least, median, most } = ordered(rounds.map(({ throughput }) => throughput));
  first ??= median;
  const [table] = agentTables(result);
  const at = (/** @type {string} */ name) => table.columns.findIndex((one) => one.name === name);
  const each = (/** @type {string} */ name) =>
    table.rows.map((row) => rowTexts(table, row)[at(name)]).join(', ');
  const busy = rounds.flatMap(({ server, durationNs }) =>
    server?.threadNsMax ? [server.threadNsMax / durationNs] : [],
  );
  const latency = (/** @type {'p50Ns' | 'p99Ns'} */ field) =>
    formatDuration(ordered(rounds.map((round) => round.latency?.[field] ?? 0)).median);
  const cells = [
    String(result.fleet?.agents.length),
    `${formatThroughput(median)} (${formatThroughput(least)}–${formatThroughput(most)}, n ${rounds.length})`,
    formatRatio(median / first),
    ...[latency('p50Ns'), latency('p99Ns')],
    busy.length === 0 ? '–' : `${Math.round(100 * ordered(busy).median)} %`,
    ...[each('client CPU'), each('bottleneck')],
    result.environment.loadAverage?.[0]?.toFixed(1) ?? '–',
  ];
  console.log(`| ${cells.join(' | ')} |`);
}
