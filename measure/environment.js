/**
 * The machine of a run, read once before it, and warnings about conditions that reduce the accuracy
 * of results. Unknown values are null.
 */

import { readFileSync } from 'node:fs';
import os from 'node:os';
import { heapSettings } from '../lib/heap-size.js';

/** @returns {Promise<import('../lib/result.js').Environment>} */
export async function readEnvironment() {
  const { default: si } = await import('systeminformation');
  const [cpu, system, osInfo] = await Promise.all([si.cpu(), si.system(), si.osInfo()]);
  return {
    node: process.version,
    v8: process.versions.v8,
    platform: process.platform,
    arch: process.arch,
    os: `${osInfo.distro} ${osInfo.release} (kernel ${osInfo.kernel})`.trim(),
    cpu: `${cpu.manufacturer} ${cpu.brand}`.trim() || (os.cpus()[0]?.model ?? 'unknown'),
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    governor: readLine('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor'),
    virtual: system.virtual ?? null,
    ...heapSettings(),
    loadAverage: process.platform === 'win32' ? null : os.loadavg(),
  };
}

/**
 * @param {string} file
 * @returns {string | null}
 */
function readLine(file) {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}

/**
 * @param {import('../lib/result.js').Environment} environment
 * @returns {import('../lib/result.js').Warning[]} warnings, each with a hint
 */
export function environmentWarnings(environment) {
  /** @type {import('../lib/result.js').Warning[]} */
  const warnings = [];
  const warn = (/** @type {string} */ code, /** @type {string} */ message, hint = '') =>
    warnings.push({ code, message, hint: hint === '' ? null : hint, benchmark: null });
  const { cores, governor, loadAverage } = environment;
  if (cores < 4) {
    warn(
      'FEW_CORES',
      `client, server and kernel compete for ${cores} cores`,
      'use a machine with four or more cores',
    );
  }
  if (governor !== null && governor !== 'performance') {
    warn(
      'GOVERNOR',
      `the frequency governor is "${governor}": processor speed depends on the load`,
      'sudo cpupower frequency-set -g performance',
    );
  }
  if (loadAverage !== null && loadAverage[0] > cores / 2) {
    warn(
      'BUSY',
      `other programs use the processors: load average ${loadAverage[0].toFixed(1)}`,
      'stop them before measuring',
    );
  }
  return warnings;
}
