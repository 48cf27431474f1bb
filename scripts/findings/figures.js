/**
 * Figures by round of a result, in pairs for the ratio of a claim: storages, amounts, parameters of
 * a workload, CPU time of client and server, routes of redis-benchmark. Pure.
 */

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {(number | null)[]} Rounds by round */
/** @typedef {{ a: Rounds, b: Rounds }} Pair A / B is the ratio */
/** @typedef {(result: Result, beside: Result | null) => Pair} PairOf */

/**
 * @param {Result} result
 * @param {(benchmark: Benchmark) => boolean} is
 * @returns {Benchmark[]}
 */
export function having({ benchmarks }, is) {
  return benchmarks.filter((one) => one.rounds.length > 0 && is(one));
}

/**
 * @param {readonly Benchmark[]} benchmarks
 * @param {(round: any) => number | null | undefined} [valueIn] operations per second
 * @returns {Rounds} rounds of the first one
 */
export function roundsOf([one], valueIn = ({ throughput }) => throughput) {
  return (one?.rounds ?? []).map((round) =>
    round.state === 'measured' ? (valueIn(round) ?? null) : null,
  );
}

/**
 * @template T
 * @param {(of: T, result: Result) => Rounds} figuresOf
 * @returns {(a: T, b: T) => PairOf}
 */
export const pairsOf = (figuresOf) => (a, b) => (result) => ({
  a: figuresOf(a, result),
  b: figuresOf(b, result),
});

/** Storages under the same load. */
export const storages = pairsOf((/** @type {string} */ name, result) =>
  roundsOf(having(result, ({ storage }) => storage === name)),
);

/** @param {string} storage @param {number} a @param {number} b @returns {PairOf} */
export const amounts = (storage, a, b) =>
  pairsOf((/** @type {number} */ n, result) =>
    roundsOf(having(result, (one) => one.storage === storage && one.load.operations === n)),
  )(a, b);

/**
 * @param {Record<string, unknown>} a parameters
 * @param {Record<string, unknown>} b
 * @param {(round: any) => number | null | undefined} [valueIn]
 * @returns {PairOf}
 */
export const parameters = (a, b, valueIn) =>
  pairsOf((/** @type {Record<string, unknown>} */ wanted, result) =>
    roundsOf(
      having(result, ({ parameters: own = {} }) =>
        Object.entries(wanted).every(([name, value]) => own[name] === value),
      ),
      valueIn,
    ),
  )(a, b);

/** Fetches of mget, ns. */
export const fetches = pairsOf((/** @type {{ inFlight: number, keys: number }} */ of, result) =>
  roundsOf(
    having(result, ({ load }) => load.inFlight === of.inFlight),
    ({ series = [] }) =>
      series.find((/** @type {any} */ one) => one.keys === of.keys && !one.warmup)?.medianNs,
  ),
);

/** Sections per second. @param {any} round */
export const sections = ({ metrics, durationNs }) => Number(metrics?.sections) / durationNs;

/**
 * redis-benchmark's requests per second, geometric mean over the tests.
 * @param {Record<string, unknown>} wanted parameters
 * @param {Result} result
 * @returns {Rounds}
 */
function benchmarkRates(wanted, result) {
  const own = having(result, ({ parameters: one = {} }) =>
    Object.entries(wanted).every(([name, value]) => one[name] === value),
  );
  const all = own.map((one) => roundsOf([one], ({ metrics }) => metrics?.benchmarkPerSecond));
  return (all[0] ?? []).map((_, i) => {
    const values = all.map((rounds) => rounds[i]);
    if (values.some((value) => value === null)) return null;
    const logs = values.map((value) => Math.log(Number(value)));
    return Math.exp(logs.reduce((sum, one) => sum + one, 0) / logs.length);
  });
}

/**
 * @param {{ faster: 'direct' | 'proxied', keepAlive: boolean, test?: string }} how
 * @returns {PairOf} the route claimed to be faster / the other one
 */
export function routes({ faster, ...own }) {
  const other = faster === 'direct' ? 'proxied' : 'direct';
  return pairsOf(benchmarkRates)({ way: faster, ...own }, { way: other, ...own });
}

/**
 * @param {string} storage
 * @returns {PairOf} CPU time of the client / of the server
 */
export const cpuOf = (storage) => (result) => {
  const own = having(result, (one) => one.storage === storage);
  return {
    a: roundsOf(own, ({ client }) => client && client.userNs + client.systemNs),
    b: roundsOf(own, ({ server }) => server?.cpuNs),
  };
};

/**
 * @param {Result} result result of one load
 * @returns {Pair} time per key of a fetch, keys 51 to 100 / keys 2 to 50
 */
export function slopes(result) {
  const [single, fifty, hundred] = [1, 50, 100].map((keys) =>
    roundsOf(
      result.benchmarks,
      ({ series = [] }) =>
        series.find((/** @type {any} */ own) => own.keys === keys && !own.warmup)?.medianNs,
    ),
  );
  const slope = (
    /** @type {Rounds} */ from,
    /** @type {Rounds} */ to,
    /** @type {number} */ keys,
  ) =>
    to.map((ns, i) => {
      const start = from[i] ?? null;
      return ns === null || start === null || ns <= start ? null : (ns - start) / keys;
    });
  return { a: slope(fifty, hundred, 50), b: slope(single, fifty, 49) };
}

/** Rows per second of a codec. @param {any} round */
const codecRows = ({ metrics, throughput }) => throughput * metrics.rows * metrics.repeat;

/**
 * @param {string} name
 * @returns {PairOf} rows per second encoded, from a second result / decoded
 */
export const encodingToDecoding = (name) => (decoding, encoding) => {
  const of = (/** @type {Result | null} */ result) =>
    result === null
      ? []
      : roundsOf(
          having(result, ({ storage }) => storage === name),
          codecRows,
        );
  return { a: of(encoding), b: of(decoding) };
};

/** All of its rows divided by their time. @param {any} round */
export function perSecond({ metrics, durationNs }) {
  return (Number(metrics?.rows) / durationNs) * 1e9;
}
