/**
 * `dragstrip record`: records the requests of clients of a Redis-like server as a trace to replay.
 * It sends MONITOR and, at the end, STRLEN; it writes nothing to the server.
 */

import path from 'node:path';
import { Recording } from '../../data/own/recording.js';
import { resolveAddress } from '../../engine/addresses.js';
import { describeAddress } from '../../engine/targets.js';
import { readCredentials } from '../../lib/credentials.js';
import { usageError } from '../../lib/errors.js';
import { formatCount, formatElapsed } from '../../lib/format.js';
import { findHome } from '../../lib/home.js';
import { requireLoopback } from '../../lib/safety.js';
import { sealTrace } from '../../lib/trace.js';
import { systemClock } from '../../measure/clock.js';
import { addressesOf } from '../options.js';
import { inSession } from '../session.js';
import { requireFree, writeWhole } from '../storage.js';

const PROGRESS_MS = 500;
const SERVER = 'redis';

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute(context) {
  const { options, stdout, stderr } = context;
  const [out] = context.args;
  const { duration: durationMs, force = false, quiet, allowTarget = [], maxOps } = options;
  if (out === undefined) {
    throw usageError('record needs a file', 'write record trace.json --duration 30s');
  }
  if (durationMs === undefined) throw usageError('record needs a duration', 'add --duration 30s');
  const target = path.resolve(out);
  await requireFree(target, out, force, 'record');
  const flags = addressesOf(options);
  const serverAddress = await resolveAddress(SERVER, { flags, home: findHome() });
  const { address, credentialVariables } = serverAddress;
  address['main'] = await requireLoopback(address['main'], allowTarget, SERVER);
  const credentials = await readCredentials(credentialVariables);
  return inSession(context, async ({ signal, progress }) => {
    const recording = await Recording.open({ address, credentials }, { limit: maxOps });
    if (!quiet) stderr.write(`${warningFor(describeAddress(address))}\n`);
    await watch(recording, durationMs, { progress, signal });
    progress.done();
    const trace = await recording.finish(systemClock.date());
    if (trace.operations.length === 0) stderr.write(`${nothingIn(trace)}\n`);
    await writeWhole(target, `${JSON.stringify(sealTrace(trace))}\n`);
    stdout.write(summaryOf(trace, recording, out));
    return 0;
  });
}

/** @param {string} where */
function warningFor(where) {
  return (
    `record: ${where} sends all commands to this connection by MONITOR during the recording; this ` +
    'can halve the throughput of a busy server'
  );
}

/**
 * @param {Recording} recording
 * @param {number} durationMs
 * @param {{ progress: import('../progress.js').Progress, signal: AbortSignal }} how
 * @returns {Promise<void>} resolves when the time is over, the recording is full, or it is stopped
 */
async function watch(recording, durationMs, { progress, signal }) {
  const startNs = systemClock.now();
  const timer = setInterval(() => {
    const share = (systemClock.now() - startNs) / 1e6 / durationMs;
    progress.update(`${formatCount(recording.operations.length)} operations`, Math.min(1, share));
  }, PROGRESS_MS);
  const ended = new Promise((resolve) => {
    setTimeout(resolve, durationMs).unref();
    signal.addEventListener('abort', resolve, { once: true });
    if (signal.aborted) resolve(undefined);
  });
  // The connection and the timer keep the process alive.
  try {
    await Promise.race([ended, recording.ended]);
  } finally {
    clearInterval(timer);
  }
}

/** @param {import('../../lib/trace.js').Trace} trace */
function nothingIn({ leftOut }) {
  const seen = Object.values(leftOut).reduce((sum, n) => sum + n, 0);
  return seen === 0
    ? 'record: no commands received'
    : `record: no GET, SET or MGET among ${formatCount(seen)} commands`;
}

/**
 * @param {import('../../lib/trace.js').Trace} trace
 * @param {Recording} recording
 * @param {string} file
 */
function summaryOf({ operations, sizes, durationUs, leftOut }, recording, file) {
  const counts = recording.countsByKind();
  const kinds = Object.entries(counts).map(([kind, n]) => `${formatCount(n)} ${kind}`);
  const lines = [
    `${formatCount(operations.length)} operations in ${formatElapsed(durationUs / 1000)}: ` +
      kinds.join(', '),
    `${formatCount(sizes.length)} keys, stored as numbers; values as sizes`,
  ];
  const others = Object.entries(leftOut).sort(([, a], [, b]) => b - a);
  if (others.length > 0) {
    lines.push(`omitted: ${others.map(([name, n]) => `${formatCount(n)} ${name}`).join(', ')}`);
  }
  if (recording.isFull) lines.push('stopped early: --max-ops reached');
  lines.push(`trace: ${file}`);
  return `${lines.join('\n')}\n`;
}
