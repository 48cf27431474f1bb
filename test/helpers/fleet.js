/**
 * Several load machines for a test: agents as processes, a fake server that reports its requests.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { fleetContender } from '../../bench/fleet-contender.js';
import { createDataset, ROW_NAMES } from '../../lib/dataset.js';
import { createRedis } from '../../limits/fake/redis.js';
import { WriteBuffer } from '../../limits/fake/write-buffer.js';
import { runnerOf } from '../../packages/fleet/fleet-rounds.js';
import { ROOT, startCommand } from './command-line.js';

export const DATASET = Object.freeze({ rows: 500, valueSize: 64, seed: 3 });
/** Rows read by each process before its warm-up. */
export const CHECKS = 1 + 64;
const PRELOAD = pathToFileURL(path.join(ROOT, 'test/helpers/latency-by-operation.js')).href;
export const NODE_OPTIONS = `--import=${PRELOAD}`;
/** A process of Node starts in 0.2 s, on a busy machine in some seconds. */
const READY_MS = 30_000;

/**
 * @typedef {object} AgentProcess
 * @property {string} name
 * @property {import('node:child_process').ChildProcess} child
 * @property {() => string} stdout
 * @property {(text: RegExp, ms?: number) => Promise<void>} says
 * @property {() => Promise<void>} stop
 */

/**
 * @param {string} name
 * @param {{ address: string, token: string, args?: string[], env?: Record<string, string>, prefix?:
 *   string[] }} options token: file of the token; prefix: program that starts it
 * @returns {Promise<AgentProcess>} resolves when it waits for leases
 */
export async function startAgent(name, { address, token, args = [], env = {}, prefix }) {
  const folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-agent-'));
  const words = ['bin/dragstrip.js', 'agent', '--name', name, '--coordinator', address];
  const { child, ended, stdout } = startCommand(
    folder,
    [...words, '--token-file', token, ...args],
    {
      env: { NODE_OPTIONS, ...env },
      prefix,
    },
  );
  /** @type {AgentProcess} */
  const agent = {
    name,
    child,
    stdout,
    async says(text, ms = READY_MS) {
      const found = await until(() => text.test(stdout()) || child.exitCode !== null, ms);
      if (found && text.test(stdout())) return;
      const { stderr = '' } = child.exitCode === null ? {} : await ended;
      throw new Error(`agent ${name} does not say ${text}: ${stdout()}${stderr}`);
    },
    async stop() {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
  await agent.says(/waiting at/);
  return agent;
}

/**
 * @param {() => boolean | Promise<boolean>} isDone
 * @param {number} [ms]
 * @returns {Promise<boolean>} false: timeout
 */
export async function until(isDone, ms = READY_MS) {
  const end = Date.now() + ms;
  while (!(await isDone())) {
    if (Date.now() > end) return false;
    await sleep(20);
  }
  return true;
}

/**
 * @typedef {object} Asked a fake server
 * @property {number} port
 * @property {string[][]} keys keys of GET by connection, since the last `forget`
 * @property {() => number} count
 * @property {() => void} forget
 * @property {() => Promise<void>} close
 */

/**
 * @param {string} [host]
 * @returns {Promise<Asked>} a fake RESP server, which records the keys of all GETs
 */
export async function listenAndKeep(host = '127.0.0.1') {
  const fake = createRedis(createDataset(DATASET));
  /** @type {string[][]} */
  const keys = [];
  /** @type {Set<net.Socket>} */
  const sockets = new Set();
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    const conversation = fake.converse();
    const out = new WriteBuffer(socket);
    /** @type {string[]} */
    const keysOfSocket = [];
    keys.push(keysOfSocket);
    let rest = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      const bytes = Buffer.concat([rest, chunk]);
      let end = 0;
      try {
        end = conversation.consume(bytes, out);
      } catch {
        socket.destroy(); // another protocol
        return;
      }
      for (const [, key] of bytes.toString('latin1', 0, end).matchAll(/GET\r\n\$\d+\r\n(.+)\r/gi)) {
        keysOfSocket.push(key);
      }
      rest = bytes.subarray(end);
      out.flush();
    });
  });
  await new Promise((resolve) => server.listen(0, host, () => resolve(null)));
  return {
    port: /** @type {net.AddressInfo} */ (server.address()).port,
    keys,
    count: () => keys.reduce((sum, own) => sum + own.length, 0),
    forget: () => void keys.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** @type {typeof fleetContender} contender with the rows of these tests */
export const contenderOf = (port, load, fields = {}, more = {}) =>
  fleetContender(port, load, { dataset: DATASET, ...fields }, more);

/**
 * @param {import('../../packages/fleet/controller.js').Fleet} fleet
 * @param {import('../../engine/roles.js').Contender} contender contender with one load, without
 *   blocks
 */
export async function measure(fleet, contender) {
  const [task] = contender.spec.tasks;
  const { operations = null, durationNs = null } = task?.load ?? {};
  const how = { onProgress() {} };
  const seat = await runnerOf(fleet).playWhole(contender, { operations, durationNs }, how);
  return { segment: seat.merged([0]), failure: seat.failure };
}

/**
 * @param {import('../../engine/segment.js').Segment} segment
 * @returns {number[]} operations per second
 */
export function secondsOf({ histograms }) {
  const seconds = Object.entries(histograms).filter(([name]) => name.startsWith('second '));
  return seconds.map(([, latency]) => latency?.count ?? 0);
}

/** @param {number} id @returns {string} key of a row */
export function keyOf(id) {
  return `${ROW_NAMES.redisPrefix}${id}`;
}

/**
 * A link that can be interrupted without closing it: bytes of both directions are then held.
 * @param {number} port
 * @returns {Promise<{ port: number, cut: () => void, close: () => Promise<void> }>}
 */
export async function listenAsLink(port) {
  let isUp = true;
  /** @type {Set<net.Socket>} */
  const sockets = new Set();
  const server = net.createServer((socket) => {
    const far = net.connect(port, '127.0.0.1');
    for (const [from, to] of [
      [socket, far],
      [far, socket],
    ]) {
      sockets.add(from);
      from.on('data', (chunk) => isUp && to.write(chunk));
      from.on('error', () => {});
      from.on('close', () => isUp && to.destroy());
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  return {
    port: /** @type {net.AddressInfo} */ (server.address()).port,
    cut: () => {
      isUp = false;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** @typedef {import('./command-line.js').Ended} Ended */

/**
 * Repeats, since an agent without a processor starts late and its round is correctly invalid.
 * @param {() => Promise<Ended>} race
 * @returns {Promise<Ended>} the first one without such a round, or the last of four
 */
export async function inTime(race) {
  for (let attempt = 1; ; attempt += 1) {
    const ended = await race();
    const codes = [...ended.stdout.matchAll(/failed: (E_\w+)/g)].map(([, code]) => code);
    const late = codes.length > 0 && codes.every((code) => code === 'E_AGENT_LATE');
    if (!late || attempt === 4) return ended;
  }
}
