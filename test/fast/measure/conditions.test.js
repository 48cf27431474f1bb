/** Conditions of the machine: steal, idle, throttling of cgroups, and the canary loop. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock, systemClock } from '../../../measure/clock.js';
import {
  canaryNs,
  conditionsBetween,
  parseProcStat,
  readConditions,
  readThrottling,
} from '../../../measure/conditions.js';

/** @param {Record<string, string>} files */
const reader = (files) => (/** @type {string} */ file) => files[file] ?? null;

const NONE = { throttledCount: null, throttledNs: null };

test('steal, idle and total ticks are those of the first line, guest time not counted twice', () => {
  const text = 'cpu  100 1 20 300 7 0 5 40 90 9\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n';
  assert.deepEqual(parseProcStat(text), { stealTicks: 40, idleTicks: 307, totalTicks: 473 });
});

test('values missing in /proc/stat are unknown, not zero', () => {
  const unknown = { stealTicks: null, idleTicks: null, totalTicks: null };
  for (const text of [null, '', 'cpu  1 2 3\n', 'cpu  a b c d e f g h\n', 'cpu0 1 1 1 1 1 1 1 1']) {
    assert.deepEqual(parseProcStat(text), unknown);
  }
});

test('throttling of version 2 is summed over this group and its parents', () => {
  const read = reader({
    '/proc/self/cgroup': '0::/user/box\n',
    '/sys/fs/cgroup/user/box/cpu.stat':
      'usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 250\n',
    '/sys/fs/cgroup/user/cpu.stat': 'usage_usec 5\nnr_throttled 1\nthrottled_usec 50\n',
    '/sys/fs/cgroup/cpu.stat': 'usage_usec 99\n',
  });
  assert.deepEqual(readThrottling(read), { throttledCount: 4, throttledNs: 300_000 });
});

test('throttling of version 1 is in nanoseconds, also with the path of the host', () => {
  const read = reader({
    '/proc/self/cgroup': '3:cpuset:/\n4:cpu,cpuacct:/docker/abc\n0::/\n',
    '/sys/fs/cgroup/cpu,cpuacct/cpu.stat': 'nr_periods 9\nnr_throttled 2\nthrottled_time 700\n',
    '/sys/fs/cgroup/cpu/cpu.stat': 'nr_periods 9\nnr_throttled 2\nthrottled_time 700\n',
  });
  assert.deepEqual(readThrottling(read), { throttledCount: 2, throttledNs: 700 });
});

test('without a control group, or without a limit in it, throttling is unknown', () => {
  assert.deepEqual(readThrottling(reader({})), NONE);
  const files = { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.stat': 'usage_usec 1\n' };
  assert.deepEqual(readThrottling(reader(files)), NONE);
});

test('shares are of the time of all processors; one unknown reading makes them unknown', () => {
  const before = {
    stealTicks: 10,
    idleTicks: 100,
    totalTicks: 1000,
    throttledCount: 1,
    throttledNs: 500,
    loadAverage: 0.1,
  };
  const after = {
    stealTicks: 15,
    idleTicks: 125,
    totalTicks: 1100,
    throttledCount: 4,
    throttledNs: 900,
    loadAverage: 0.7,
  };
  assert.deepEqual(conditionsBetween(before, after), {
    stealShare: 0.05,
    busyShare: 0.75,
    throttledCount: 3,
    throttledNs: 400,
    loadAverage: 0.7,
  });
  const blind = conditionsBetween({ ...before, totalTicks: null, throttledNs: null }, after);
  assert.equal(blind.stealShare, null);
  assert.equal(blind.busyShare, null);
  assert.equal(blind.throttledNs, null);
  assert.equal(conditionsBetween(before, before).stealShare, null, 'no tick has passed');
});

test('the canary is the median pass by its clock: the step of a fake clock', () => {
  assert.equal(canaryNs(createFakeClock({ stepNs: 250 })), 250);
  assert.ok(canaryNs(systemClock) > 10_000, 'half a million dependent steps take time');
});

test('this machine is readable, and its unknown values are null', () => {
  for (const value of Object.values(readConditions())) {
    assert.ok(value === null || (Number.isFinite(value) && value >= 0));
  }
});
