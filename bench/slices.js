/**
 * The default race by slices, against servers that run already and hold the rows: `node
 * bench/slices.js [--home FOLDER] [--rounds N] [--blocks N] [--slice MS] [--precision P] [--budget
 * S] [--loads sync,window:100,burst:1000,burst:10000:whole] [--storages LIST] [--trim SHARE] [--out
 * FILE] [--cpu N]`. --cpu: contenders and servers share this processor.
 */

import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { planRun } from '../engine/plan.js';
import { runComparison } from '../engine/slices/comparison.js';
import { resolveTargets } from '../engine/targets.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { systemClock } from '../measure/clock.js';
import { loadWorkload } from '../workloads/index.js';
import { onCpu } from './on-cpu.js';

const { values } = parseArgs({
  options: {
    home: { type: 'string', default: findHome() },
    rounds: { type: 'string' },
    blocks: { type: 'string' },
    slice: { type: 'string', default: '8' },
    precision: { type: 'string', default: '0.03' },
    budget: { type: 'string', default: '120' },
    loads: { type: 'string', default: 'sync,window:100' },
    storages: { type: 'string' },
    trim: { type: 'string', default: '0.05' },
    seed: { type: 'string' },
    out: { type: 'string' },
    cpu: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
});

const loads = values.loads.split(',').map((text) => {
  const [kind, inFlight = '1', whole] = text.split(':');
  return {
    kind: /** @type {'sync'} */ (kind),
    inFlight: Number(inFlight),
    ...(whole && { whole: true }),
  };
});
const plan = planRun({ home: values.home, storages: values.storages?.split(',') });
const { storages } = await resolveTargets(plan, await loadWorkload(plan.workload));
const targets = storages.filter(({ unavailable }) => unavailable === null);
for (const { definition, unavailable } of storages) {
  if (unavailable) console.error(`without ${definition.name}: ${unavailable.reason}`);
}
const folder = path.join(values.home, 'embedded');
for (const { definition } of targets) {
  await definition.fill?.({ dataset: createDataset(plan.dataset), folder });
}
const number = (/** @type {string | undefined} */ text) =>
  text === undefined ? undefined : Number(text);
const orderSeed = number(values.seed) ?? Math.floor(Math.random() * 2 ** 32);
const { cpus, restore } = await onCpu(values.cpu, targets);
const result = await runComparison({
  cpus,
  ...{ plan, targets, loads, folder, orderSeed, clock: systemClock },
  precision: Number(values.precision),
  budgetNs: Number(values.budget) * 1e9,
  rounds: number(values.rounds),
  blocks: number(values.blocks),
  sliceNs: Number(values.slice) * 1e6,
  trim: Number(values.trim),
  onRound: ({ round, blocks, roundNs, spentNs, standings }) => {
    if (values.quiet) return;
    const resolved = standings.map((one) => percent(one?.resolves ?? null)).join(', ');
    console.error(
      `round ${round + 1}: ${blocks} blocks, ${(roundNs / 1e9).toFixed(1)} s, ` +
        `${(spentNs / 1e9).toFixed(0)} s in all, resolves ${resolved}, load ${loadavg()[0].toFixed(1)}`,
    );
  },
});
await restore();
for (const [i, load] of loads.entries()) {
  const standings = result.standings[i];
  if (standings !== null) print(load, standings);
}
const slices = result.rounds.flat().flatMap((one) => one.slices.flat());
const gaps = slices.flatMap((slice) => (slice && slice.gapNs > 0 ? [slice.gapNs / 1e6] : []));
gaps.sort((a, b) => a - b);
console.log(
  `\n${result.rounds.length} rounds, ${(result.spentNs / 1e9).toFixed(0)} s, ` +
    `${result.stopped}; gap between slices ${gaps[gaps.length >> 1]?.toFixed(2)} ms; ` +
    `order seed ${orderSeed}`,
);
for (const { name, failure } of result.failed) console.log(`failed: ${name}: ${failure.message}`);
checkRecording();
if (values.out !== undefined) {
  const { entrants, rounds, standings, spentNs } = result;
  const names = entrants.map(({ name }) => name);
  writeFileSync(values.out, JSON.stringify({ names, loads, rounds, standings, spentNs }));
}

/**
 * @param {(typeof loads)[number]} load
 * @param {import('../stats/standings.js').Standings} standings
 */
function print({ kind, inFlight }, { rows, again, resolves }) {
  const table = new Table({
    head: [
      'rank',
      kind,
      'ops/s',
      '±',
      'vs fastest',
      '±',
      'of ceiling',
      '±',
      'client',
      '±',
      'server',
    ],
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows) {
    const { name, nsPerOperation, rank, rankWorst, halfWidth, vsFastest, ofCeiling } = row;
    const { clientCpu, serverCpu } = row.witnesses;
    table.push([
      rank === null ? '' : rank === rankWorst ? `${rank}` : `${rank}–${rankWorst}`,
      `${name}${row.drift?.marked ? ' *' : ''}`,
      Math.round(1e9 / nsPerOperation),
      percent(halfWidth),
      vsFastest === null ? '' : vsFastest.ratio.toFixed(3),
      vsFastest === null ? '' : percent(vsFastest.halfWidth),
      ofCeiling === null ? '' : ofCeiling.ratio.toFixed(2),
      ofCeiling === null ? '' : percent(ofCeiling.halfWidth),
      clientCpu === undefined ? '' : `${(clientCpu.value / 1000).toFixed(2)} µs`,
      percent(clientCpu?.ratio?.halfWidth ?? null),
      serverCpu === undefined ? '' : `${(serverCpu.value / 1000).toFixed(2)} µs`,
    ]);
  }
  console.log(table.toString());
  const same =
    again === null ? '' : `; A/A ${again.ratio.toFixed(3)} ± ${percent(again.halfWidth)}`;
  const what = kind === 'sync' ? '1 in flight' : `${kind} of ${inFlight}`;
  console.log(`${what}: resolves differences of ${percent(resolves)}${same}`);
}

/** @param {number | null} share */
function percent(share) {
  return share === null ? '' : `${(100 * share).toFixed(1)} %`;
}

/** Accounting and Little's law, over all slices of all processes. */
function checkRecording() {
  let worst = 0;
  for (const [round, all] of result.rounds.entries()) {
    for (const [i, { series }] of all.entries()) {
      for (const one of series) {
        const sum = one.outcomes.reduce((total, n) => total + n, 0);
        const name = `${result.entrants[i].name}, round ${round + 1}`;
        if (sum !== one.scheduled) console.log(`${name}: ${sum} outcomes of ${one.scheduled}`);
        if (one.outcomes[0] !== sum) console.log(`${name}: ${one.outcomes.join(' ')}`);
        if (one.latency === null) continue;
        const throughput = one.latency.count / one.durationNs;
        const latencyNs = one.latency.sum / one.latency.count;
        worst = Math.max(worst, Math.abs(one.inFlightMean / (throughput * latencyNs) - 1));
      }
    }
  }
  console.log(`Little’s law holds within ${percent(worst)}`);
}
