/**
 * What a comparison finds of known defects: races of equal contenders and of ones in which every
 * n-th operation asks twice. `node bench/injected.js [--home FOLDER] [--races N] [--rounds N]
 * [--budget S] [--precision P] [--cpu N]`, against a Redis that runs and holds the rows.
 */

import { loadavg } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { planRun } from '../engine/plan.js';
import { entriesOf, runComparison } from '../engine/slices/comparison.js';
import { resolveTargets } from '../engine/targets.js';
import { findHome } from '../lib/home.js';
import { systemClock } from '../measure/clock.js';
import { processMeans } from '../stats/blocks.js';
import { contest } from '../stats/contenders.js';
import { ratioTo } from '../stats/separation.js';
import { loadWorkload } from '../workloads/index.js';
import { onCpu } from './on-cpu.js';

const NAMES = ['plain', 'equal', 'twice-20', 'twice-10', 'twice-5', 'late-200'];
const FOLDER = fileURLToPath(new URL('./injected/', import.meta.url));
const { values } = parseArgs({
  options: {
    home: { type: 'string', default: findHome() },
    races: { type: 'string', default: '5' },
    rounds: { type: 'string' },
    budget: { type: 'string', default: '60' },
    cpu: { type: 'string' },
    precision: { type: 'string', default: '0.01' },
  },
});
const loads = /** @type {const} */ ([
  { kind: 'sync', inFlight: 1 },
  { kind: 'window', inFlight: 100 },
]);
const plan = planRun({
  home: values.home,
  storages: NAMES.map((name) => path.join(FOLDER, `${name}.js`)),
});
const { storages: targets } = await resolveTargets(plan, await loadWorkload(plan.workload));
/** @type {Map<string, Record<string, number>>} */
const counts = new Map();

const { cpus, restore } = await onCpu(values.cpu, targets);
for (let race = 0; race < Number(values.races); race += 1) {
  const { entrants, rounds, spentNs } = await runComparison({
    ...{ plan, targets, loads, folder: '', clock: systemClock },
    cpus,
    orderSeed: Math.floor(Math.random() * 2 ** 32),
    ...{ precision: Number(values.precision), budgetNs: Number(values.budget) * 1e9 },
    ...(values.rounds !== undefined && { rounds: Number(values.rounds) }),
  });
  console.log(
    `race ${race + 1}: ${rounds.length} rounds, ${(spentNs / 1e9).toFixed(0)} s, ` +
      `load ${loadavg()[0].toFixed(1)}`,
  );
  for (const trim of [0.05, 0.2]) {
    for (const [load, { kind }] of loads.entries()) {
      const entries = entriesOf(entrants, rounds, load).filter(
        ({ group }) => group === 'networked',
      );
      const own = contest(
        processMeans(
          entries.map(({ time }) => time),
          { trim },
        ),
      );
      const shown = entries.slice(1).map(({ name }, i) => {
        const { ratio, halfWidth, answer } = ratioTo(own, i + 1, 0);
        const key = `${kind}, trim ${trim}, ${name}`;
        const count = counts.get(key) ?? { faster: 0, slower: 0, 'cannot tell': 0 };
        count[answer] += 1;
        counts.set(key, count);
        return `${name} ${ratio.toFixed(3)} ± ${(100 * halfWidth).toFixed(1)} %`;
      });
      console.log(`  ${kind}, trim ${trim}: ${shown.join('; ')}`);
    }
  }
}
await restore();
for (const [key, count] of counts) console.log(`${key}: ${JSON.stringify(count)}`);
