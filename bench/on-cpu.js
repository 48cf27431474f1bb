/**
 * Contenders and their servers on one processor, for the time of a bench.
 *
 * With one request in flight client and server never run at the same time. Where the scheduler puts
 * them decides the figure: on a virtual machine of four processors the median round trip of a
 * driver was 17 µs on one processor and 70 to 80 µs on two, because waking a sleeping virtual
 * processor costs that, and each process keeps its luck for a while. On one processor the standard
 * deviation between processes fell from 28 % to 5 % (one in flight) and from 10 % to 5.5 % (100 in
 * flight), at a load average of 16.
 */

import { execa } from 'execa';

/**
 * @param {string | undefined} cpu number of a processor; absent: nothing is changed
 * @param {readonly { server: { pids: number[] } | null }[]} targets
 * @returns {Promise<{ cpus: number[] | undefined, restore: () => Promise<void> }>}
 */
export async function onCpu(cpu, targets) {
  if (cpu === undefined) return { cpus: undefined, restore: async () => {} };
  const pids = [...new Set(targets.flatMap(({ server }) => server?.pids ?? []))];
  /** @type {Map<number, string>} */
  const before = new Map();
  for (const pid of pids) {
    const { stdout } = await execa('taskset', ['--cpu-list', '--pid', String(pid)]);
    before.set(pid, stdout.slice(stdout.lastIndexOf(':') + 1).trim());
    await pin(pid, cpu);
  }
  const restore = async () => {
    for (const [pid, list] of before) await pin(pid, list);
  };
  return { cpus: [Number(cpu)], restore };
}

/** @param {number} pid @param {string} list */
function pin(pid, list) {
  return execa('taskset', ['--all-tasks', '--cpu-list', '--pid', list, String(pid)]);
}
