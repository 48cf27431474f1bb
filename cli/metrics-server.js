/**
 * `--prometheus PORT`: serves live figures of a run to Prometheus at /metrics. It listens on
 * loopback unless a host is given, and only replies if the Host header is its own address or name,
 * against DNS rebinding from a browser.
 */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { Counter, Gauge, Registry } from 'prom-client';
import { isLoopback, parseEndpoint } from '../lib/address.js';
import { targetError, usageError } from '../lib/errors.js';
import { OK, OUTCOMES } from '../lib/outcome.js';
import { version } from '../lib/version.js';
import { highestAt } from '../measure/histogram.js';

/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../engine/recorded.js').LiveFigures} LiveFigures */

/** Upper bounds in seconds: 10 µs to 50 s, in steps of 1, 2 and 5. */
const BUCKETS = Object.freeze(
  [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10].flatMap((base) => [base, 2 * base, 5 * base]),
);
const LABELS = Object.freeze(['benchmark', 'storage', 'profile', 'workload', 'load']);

/** Totals of a benchmark: of its finished rounds, and of the current round. */
class Series {
  /** @param {Record<string, string>} labels */
  constructor(labels) {
    this.labels = labels;
    this.outcomes = OUTCOMES.map(() => 0);
    this.buckets = BUCKETS.map(() => 0);
    this.sumNs = 0;
    this.rate = 0;
    this.isRunning = false;
    /** @type {readonly LiveFigures[]} */
    this.live = [];
  }

  /** @param {LiveFigures} figures figures of a finished round */
  add({ outcomes, latency }) {
    for (const [code, n] of outcomes.entries()) this.outcomes[code] += n;
    for (const [i, n] of bucketsOf(latency).entries()) this.buckets[i] += n;
    this.sumNs += latency?.sum ?? 0;
  }

  /** @returns {Series} totals including the current round */
  whole() {
    const all = new Series(this.labels);
    all.add({ outcomes: this.outcomes, latency: null });
    all.buckets = [...this.buckets];
    all.sumNs = this.sumNs;
    for (const one of this.live) {
      all.add(one);
      all.outcomes[OK] += one.latency?.count ?? 0; // counted at the end of the load
    }
    return all;
  }
}

/**
 * @param {LiveFigures['latency']} latency
 * @returns {number[]} number of values up to each bound
 */
function bucketsOf(latency) {
  const counts = BUCKETS.map(() => 0);
  const sparse = latency?.sparse ?? [];
  for (let i = 0; i < sparse.length; i += 2) {
    const seconds = highestAt(sparse[i]) / 1e9;
    for (const [at, bound] of BUCKETS.entries()) if (seconds <= bound) counts[at] += sparse[i + 1];
  }
  return counts;
}

export class Metrics {
  constructor() {
    /** @type {Map<string, Series>} by id of the benchmark */
    this.series = new Map();
    this.registry = new Registry();
    const labelNames = [...LABELS];
    const registers = [this.registry];
    const each = (/** @type {(one: Series) => void} */ take) => this.series.forEach(take);
    const run = { name: 'dragstrip_info', help: 'version of Dragstrip', labelNames: ['version'] };
    new Gauge({ ...run, registers }).set({ version }, 1);
    new Counter({
      name: 'dragstrip_operations_total',
      help: 'operations by outcome; only ok is verified',
      registers,
      labelNames: [...labelNames, 'outcome'],
      collect() {
        this.reset();
        each((one) => {
          const { labels, outcomes } = one.whole();
          for (const [code, n] of outcomes.entries()) {
            this.inc({ ...labels, outcome: OUTCOMES[code] }, n);
          }
        });
      },
    });
    new Gauge({
      name: 'dragstrip_operations_per_second',
      help: 'operations completed in the last half second',
      registers,
      labelNames,
      collect() {
        each(({ labels, rate }) => this.set(labels, rate));
      },
    });
    new Gauge({
      name: 'dragstrip_benchmark_running',
      help: '1 while the benchmark is executed',
      registers,
      labelNames,
      collect() {
        each(({ labels, isRunning }) => this.set(labels, isRunning ? 1 : 0));
      },
    });
    this.registry.registerMetric(/** @type {any} */ (latencyMetric(each)));
  }

  /** @param {Benchmark} benchmark */
  start(benchmark) {
    this.of(benchmark).isRunning = true;
  }

  /**
   * @param {string} id
   * @param {{ phase: string, live?: readonly LiveFigures[] }} progress live: figures of each
   *   process
   * @param {number} rate
   */
  progress(id, { phase, live = [] }, rate) {
    const one = this.series.get(id);
    if (one === undefined) return;
    one.rate = phase === 'measure' ? rate : 0;
    if (phase === 'measure') one.live = live;
  }

  /**
   * @param {Benchmark} benchmark
   * @param {LiveFigures} figures figures of its round
   */
  end(benchmark, figures) {
    const one = this.of(benchmark);
    Object.assign(one, { live: [], rate: 0, isRunning: false });
    one.add(figures);
  }

  /** @param {Benchmark} benchmark @returns {Series} */
  of({ id, storage, profile, workload, load }) {
    const found = this.series.get(id);
    if (found !== undefined) return found;
    const labels = { benchmark: id, storage, profile, workload, load: load.kind };
    const made = new Series(labels);
    this.series.set(id, made);
    return made;
  }
}

/**
 * prom-client's histogram accepts single values only; these are already counted.
 * @param {(take: (series: Series) => void) => void} each
 */
function latencyMetric(each) {
  const name = 'dragstrip_operation_duration_seconds';
  const help = 'latency of verified operations; in an open loop from when they were due';
  return {
    name,
    async get() {
      /** @type {{ metricName: string, labels: Record<string, string>, value: number }[]} */
      const values = [];
      each((one) => {
        const { labels, buckets, outcomes, sumNs } = one.whole();
        const bucket = `${name}_bucket`;
        for (const [i, value] of buckets.entries()) {
          const le = String(Number(BUCKETS[i].toPrecision(3)));
          values.push({ metricName: bucket, labels: { ...labels, le }, value });
        }
        const count = outcomes[OK];
        values.push({ metricName: bucket, labels: { ...labels, le: '+Inf' }, value: count });
        values.push({ metricName: `${name}_sum`, labels, value: sumNs / 1e9 });
        values.push({ metricName: `${name}_count`, labels, value: count });
      });
      return { name, help, type: 'histogram', values, aggregator: 'sum' };
    },
  };
}

/**
 * @param {string} text `9464`, or `HOST:9464`
 * @returns {{ host: string, port: number }}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function parseMetrics(text) {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) {
    return { host: '127.0.0.1', port: Number(text) };
  }
  const endpoint = /:\d{1,5}$/.test(text) ? parseEndpoint(text) : {};
  const { host, port } = /** @type {{ host?: string, port?: number }} */ (endpoint);
  if (host !== undefined && port !== undefined) return { host, port };
  throw usageError(`--prometheus ${JSON.stringify(text)}: not a port`, 'write for example 9464');
}

/**
 * @param {string | undefined} header Host header of a request
 * @param {readonly string[]} own names and addresses of this server
 * @returns {boolean}
 */
function isOwnHost(header, own) {
  const [, v6, other = ''] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+))(?::\d+)?$/.exec(header ?? '') ?? [];
  const host = (v6 ?? other).toLowerCase();
  return isLoopback({ host, port: 1 }) || own.some((one) => one.toLowerCase() === host);
}

/**
 * @param {{ host: string, port: number }} where
 * @param {Metrics} metrics
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: it cannot listen
 */
export async function serveMetrics({ host, port }, { registry }) {
  const server = createServer(async ({ method, url, headers, socket }, response) => {
    if (!isOwnHost(headers.host, [host, String(socket.localAddress).replace(/^::ffff:/, '')])) {
      const hint = 'write the name of this host before the port of --prometheus';
      response.writeHead(403, { 'content-type': 'text/plain' }).end(`unknown Host; ${hint}\n`);
      return;
    }
    const isMetrics = /^\/metrics(\?|$)/.test(url ?? '') && method === 'GET';
    if (!isMetrics) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('GET /metrics\n');
      return;
    }
    const text = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  });
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const hint = 'choose another port';
    throw targetError(
      `--prometheus: cannot listen at ${host}:${port} (${error.code})`,
      hint,
      error,
    );
  }
  const bound = /** @type {import('node:net').AddressInfo} */ (server.address());
  const shown = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return {
    url: `http://${shown}:${bound.port}/metrics`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
