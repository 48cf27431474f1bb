/**
 * Segments in blocks with manual numbers of blocks, segment lengths and trimming, which a race
 * chooses itself. Needs running servers with the rows: `node bench/slices.js [--home FOLDER]
 * [--rounds N] [--blocks N] [--slice MS] [--loads sync,window:100] [--storages LIST] [--trim SHARE]
 * [--seed N] [--out FILE] [--quiet]`.
 */

import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { makeJobs } from '../engine/benchmarks.js';
import { createProcesses } from '../engine/contender-process.js';
import { fillEmbedded } from '../engine/fill-embedded.js';
import { placeFor } from '../engine/placement.js';
import { requestRun } from '../engine/request.js';
import { contendersInBlocks } from '../engine/roles.js';
import { playRound } from '../engine/round.js';
import { emptyResult } from '../engine/runner.js';
import { blocks } from '../engine/schedule/index.js';
import { lengthOf } from '../engine/segment.js';
import { storeBlocks } from '../engine/store.js';
import { resolveTargets } from '../engine/targets.js';
import { entriesOf } from '../lib/comparison.js';
import { findHome } from '../lib/home.js';
import { OK } from '../lib/outcome.js';
import { createRandom } from '../lib/random.js';
import { systemClock } from '../measure/clock.js';
import { standingsOf } from '../stats/standings.js';
import { isMain } from './main.js';

/** Uncounted blocks of a round, to measure the duration of an operation. */
const LEAD_BLOCKS = 3;

const { values } = parseArgs({
  options: {
    home: { type: 'string', default: findHome() },
    rounds: { type: 'string', default: '8' },
    blocks: { type: 'string', default: '20' },
    slice: { type: 'string', default: '8' },
    loads: { type: 'string', default: 'sync,window:100' },
    storages: { type: 'string' },
    trim: { type: 'string', default: '0.05' },
    seed: { type: 'string' },
    out: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
});

/** @typedef {import('../lib/comparison.js').StoredComparison} StoredComparison */
/** @typedef {import('../engine/seat.js').Seat} Seat */

async function main() {
  const run = await openRun();
  const orderSeed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
  const options = { trim: Number(values.trim) };
  const startNs = systemClock.now();
  /** @type {Seat[]} */
  const seats = [];
  try {
    for (let round = 0; round < Number(values.rounds); round += 1) {
      seats.push(...(await playRoundInBlocks(run, round, orderSeed)));
      if (values.quiet || round === 0) continue;
      const resolved = run.stored.loads.map((load) => standingsOf(entriesOf(load), options));
      const widths = resolved.map(({ resolves }) => percent(resolves)).join(', ');
      console.error(`round ${round + 1}: resolves ${widths}, load ${loadavg()[0].toFixed(1)}`);
    }
  } finally {
    await run.placement.restore();
  }
  const spentNs = systemClock.now() - startNs;
  const { loads, stored } = run;
  const standings = stored.loads.map((load) => standingsOf(entriesOf(load), options));
  for (const [i, { load }] of loads.entries()) print(load, standings[i]);
  console.log(
    `\n${values.rounds} rounds, ${(spentNs / 1e9).toFixed(0)} s; order seed ${orderSeed}`,
  );
  for (const { about, failure } of seats) {
    if (failure !== null) console.log(`failed: ${about.name}: ${failure.message}`);
  }
  checkRecording(seats);
  if (values.out !== undefined) {
    writeFileSync(values.out, JSON.stringify({ loads: stored.loads, standings, spentNs }));
  }
}

/** The available contenders, their loads, and their placement. */
async function openRun() {
  const folder = path.join(values.home, 'embedded');
  const { plan, workload } = await requestRun({
    workload: 'get',
    home: values.home,
    storages: values.storages?.split(','),
    precision: 0.03,
    loads: values.loads.split(',').map((text) => {
      const [kind, inFlight] = text.split(':');
      return {
        kind: /** @type {'sync'} */ (kind),
        ...(inFlight && { inFlight: Number(inFlight) }),
      };
    }),
  });
  const targets = await resolveTargets(plan, workload);
  for (const { definition, unavailable } of targets.storages) {
    if (unavailable) console.error(`without ${definition.name}: ${unavailable.reason}`);
  }
  const result = await emptyResult(plan, { ...targets, workload }, {});
  const all = makeJobs(plan, targets.storages, result, workload);
  const jobs = await fillEmbedded(all, { folder, dataset: plan.dataset });
  const loads = [...new Set(jobs.map(({ load }) => load))];
  const placement = await placeFor(loads, targets.servers);
  const stored = {
    loads: loads.map((one) => ({
      kind: /** @type {'sync' | 'window'} */ (one.load.kind),
      inFlight: one.load.inFlight ?? 1,
      placement: placement.of(one),
      contenders: [],
    })),
  };
  return {
    plan,
    folder,
    jobs,
    loads,
    placement,
    targets: [...new Set(jobs.map(({ target }) => target))],
    stored: /** @type {StoredComparison} */ (/** @type {unknown} */ (stored)),
  };
}

/**
 * @param {Awaited<ReturnType<typeof openRun>>} run
 * @param {number} round
 * @param {number} orderSeed
 * @returns {Promise<Seat[]>}
 */
async function playRoundInBlocks(run, round, orderSeed) {
  const { plan, folder, jobs, loads, placement, targets, stored } = run;
  const context = { plan, others: [], folder, round };
  const contenders = contendersInBlocks(targets, loads, context, { wantsOverhead: true });
  const { seats } = await playRound({
    seats: contenders,
    schedule: (seen) =>
      blocks(
        {
          seats: contenders,
          loads: loads.map((one) => ({ ...one.load, place: placement.of(one).server.join() })),
          random: createRandom(orderSeed, round),
          segmentNs: Number(values.slice) * 1e6,
          leadBlocks: LEAD_BLOCKS,
          blocks: () => Number(values.blocks),
        },
        seen,
      ),
    processes: createProcesses(),
    placement,
  });
  await storeBlocks({ round, loads, contenders, seats }, jobs, stored, undefined);
  return seats;
}

/**
 * @param {import('../lib/result.js').Load} load
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

/**
 * Accounting and Little's law, over all segments of each process.
 * @param {readonly Seat[]} seats
 */
function checkRecording(seats) {
  let worst = 0;
  for (const { about, kept, leads, segments } of seats) {
    for (const [load, segmentsOfLoad] of segments.entries()) {
      const name = `${about.name}, round ${Number(about.spec.storage.round) + 1}`;
      // Including lead segments, because the histogram contains them.
      const all = [...leads[load], ...segmentsOfLoad.flatMap((one) => one ?? [])];
      let [operations, areaNs, wallNs] = [0, 0, 0];
      for (const { outcomes, scheduled, inFlightAreaNs, wall } of all) {
        const sum = outcomes.reduce((total, n) => total + n, 0);
        if (sum !== scheduled) console.log(`${name}: ${sum} outcomes of ${scheduled}`);
        if (outcomes[OK] !== sum) console.log(`${name}: ${outcomes.join(' ')}`);
        operations += sum;
        areaNs += inFlightAreaNs;
        wallNs += lengthOf(wall);
      }
      const latency = kept[load][0]?.histograms['latency'];
      if (latency == null || wallNs === 0) continue;
      const throughput = operations / wallNs;
      const latencyNs = latency.sum / latency.count;
      worst = Math.max(worst, Math.abs(areaNs / wallNs / (throughput * latencyNs) - 1));
    }
  }
  console.log(`Little’s law holds within ${percent(worst)}`);
}

if (isMain(import.meta.filename)) await main();
