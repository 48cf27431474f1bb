/**
 * What the original programs' texts claim, as ratios, and how each is computed
 * from Dragstrip's results.
 * Nothing here runs anything.
 */

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {(number | null)[]} Rounds by round */

/**
 * @typedef {object} Run a command whose result one or several claims read
 * @property {string} name of its result
 * @property {(programs: { rmux?: string, plainRedis?: string }) => string[] | null} words of the
 *   command; null: a program that it needs is not given
 * @property {string} [needs] what it needs beside servers
 * @property {string} [shown] the command in the table, where it has paths
 *
 * @typedef {object} Claim
 * @property {string} text
 * @property {string} source of its figure
 * @property {number} claimed the ratio that it claims, above 1
 * @property {boolean} [atMost] it claims no more than that
 * @property {Run} run
 * @property {(result: Result) => { a: Rounds, b: Rounds }} pair A / B is the ratio
 * @property {string} says what A and B are
 */

const words = (/** @type {string} */ text) => () => text.split(' ');

/** @type {Record<string, Run>} */
const RUNS = {
  burst: {
    name: 'burst',
    words: words(
      'async --ops 10k --rounds 6 --storages ioredis,manual-hs,redis,node-handlersocket',
    ),
  },
  queue: {
    name: 'queue',
    words: words('async --ops 10k,100k --rounds 8 --storages node-handlersocket,manual-hs'),
  },
  loads: {
    name: 'loads',
    words: words('race --ops 5k --in-flight 5k --rounds 16 --storages ioredis --no-html'),
  },
  mutex: {
    name: 'mutex',
    words: words(
      'mutex --tests 1 --keys 1,10 --rounds 20 --storages ioredis --handlers script,pure',
    ),
  },
  mget: {
    name: 'mget',
    words: words(
      'mget concurrency --counts 1,100 -c 1,16 --data-size 100 --cycles 300 --rounds 6 --pool',
    ),
  },
  rmux: {
    name: 'rmux-unix',
    needs: 'rmux and a Redis without a password: --rmux PROGRAM --plain-redis ADDRESS',
    shown:
      'commands --redis 127.0.0.1:6379,unix:/run/redis.sock --proxy-binary ' +
      '"./rmux-proxy -socket={socket} -tcpConnections={redis} -poolSize=50" ' +
      '-t set,get,incr,lpush,lpop,sadd,spop,lrange_100,mset -n 2000 --rounds 3 --transport unix',
    words: ({ rmux, plainRedis }) =>
      rmux === undefined || plainRedis === undefined
        ? null
        : [
            ...['commands', '--redis', plainRedis, '--proxy-binary'],
            `${rmux} -socket={socket} -tcpConnections={redis} -poolSize=50`,
            ...'-t set,get,incr,lpush,lpop,sadd,spop,lrange_100,mset'.split(' '),
            ...'-n 2000 --rounds 3 --transport unix'.split(' '),
          ],
  },
  insert: {
    name: 'insert',
    words: words(
      'insert --storages cassandra --strategies async,batch_pure,batch_pure2 ' +
        '--rows 20000 --rounds 7',
    ),
  },
  codec: {
    name: 'codec',
    words: words(
      'codec decoding --protocols resp --fixtures sets --variants ' +
        'redis-parser,node-redis,ioredis,hiredis --budget 30s',
    ),
  },
};

/**
 * @param {Result} result
 * @param {(benchmark: Benchmark) => boolean} is
 * @returns {Benchmark[]}
 */
function having({ benchmarks }, is) {
  return benchmarks.filter((one) => one.rounds.length > 0 && is(one));
}

/**
 * @param {readonly Benchmark[]} benchmarks
 * @param {(round: any) => number | null | undefined} [valueIn] operations per second
 * @returns {Rounds} of the first one
 */
function roundsOf([one], valueIn = ({ throughput }) => throughput) {
  return (one?.rounds ?? []).map((round) =>
    round.state === 'measured' ? (valueIn(round) ?? null) : null,
  );
}

/**
 * @template T
 * @param {(of: T, result: Result) => Rounds} figuresOf
 * @returns {(a: T, b: T) => Claim['pair']}
 */
const pairsOf = (figuresOf) => (a, b) => (result) => ({
  a: figuresOf(a, result),
  b: figuresOf(b, result),
});

/** Storages under the same load. */
const storages = pairsOf((/** @type {string} */ name, result) =>
  roundsOf(having(result, ({ storage }) => storage === name)),
);

/** @param {string} storage @param {number} a @param {number} b @returns {Claim['pair']} */
const amounts = (storage, a, b) =>
  pairsOf((/** @type {number} */ n, result) =>
    roundsOf(having(result, (one) => one.storage === storage && one.load.operations === n)),
  )(a, b);

/**
 * @param {Record<string, unknown>} a parameters
 * @param {Record<string, unknown>} b
 * @param {(round: any) => number | null | undefined} [valueIn]
 * @returns {Claim['pair']}
 */
const parameters = (a, b, valueIn) =>
  pairsOf((/** @type {Record<string, unknown>} */ wanted, result) =>
    roundsOf(
      having(result, ({ parameters: own = {} }) =>
        Object.entries(wanted).every(([name, value]) => own[name] === value),
      ),
      valueIn,
    ),
  )(a, b);

/** Fetches of mget, ns. */
const fetches = pairsOf((/** @type {{ inFlight: number, keys: number }} */ of, result) =>
  roundsOf(
    having(result, ({ load }) => load.inFlight === of.inFlight),
    ({ series = [] }) =>
      series.find((/** @type {any} */ one) => one.keys === of.keys && !one.warmup)?.medianNs,
  ),
);

/** Sections per second. @param {any} round */
const sections = ({ metrics, durationNs }) => Number(metrics?.sections) / durationNs;

/**
 * redis-benchmark's requests per second without keep-alive, geometric mean over the tests.
 * @param {string} way
 * @param {Result} result
 * @returns {Rounds}
 */
function benchmarkRates(way, result) {
  const own = having(
    result,
    ({ parameters: one = {} }) => one['way'] === way && one['keepAlive'] === false,
  );
  const all = own.map((one) => roundsOf([one], ({ metrics }) => metrics?.benchmarkPerSecond));
  return (all[0] ?? []).map((_, i) => {
    const values = all.map((rounds) => rounds[i]);
    if (values.some((value) => value === null)) return null;
    const logs = values.map((value) => Math.log(Number(value)));
    return Math.exp(logs.reduce((sum, one) => sum + one, 0) / logs.length);
  });
}

/** @type {readonly Claim[]} */
export const CLAIMS = Object.freeze([
  {
    text: 'HandlerSocket is four times slower than Redis',
    source: '003: burst of 50,000, ioredis 61,454 and manual-hs 16,535 ops/s',
    claimed: 61_454 / 16_535,
    run: RUNS['burst'],
    pair: storages('ioredis', 'manual-hs'),
    says: 'ioredis / manual-hs, ops/s in a burst of 10,000',
  },
  {
    text: 'The same, with the client of npm',
    source: '003: burst of 50,000, redis 40,429 and node-handlersocket 9,832 ops/s',
    claimed: 40_429 / 9832,
    run: RUNS['burst'],
    pair: storages('redis', 'node-handlersocket'),
    says: 'redis / node-handlersocket, ops/s in a burst of 10,000',
  },
  {
    text: 'node-handlersocket collapses with ten times the requests',
    source: '003: burst of 50,000 and of 500,000, 9,832 and 3,118 ops/s',
    claimed: 9832 / 3118,
    run: RUNS['queue'],
    pair: amounts('node-handlersocket', 10_000, 100_000),
    says: 'burst of 10,000 / burst of 100,000, ops/s',
  },
  {
    text: 'So it is with any HandlerSocket client (manual-hs did not in the original)',
    source: 'the same, as a cross-check with our client',
    claimed: 9832 / 3118,
    run: RUNS['queue'],
    pair: amounts('manual-hs', 10_000, 100_000),
    says: 'burst of 10,000 / burst of 100,000, ops/s',
  },
  {
    text: 'Many requests at once are several times as fast as one after the other',
    source: '003: ioredis, 64,436 at once and 10,623 ops/s one in flight',
    claimed: 64_436 / 10_623,
    run: RUNS['loads'],
    pair: (result) => ({
      a: roundsOf(having(result, ({ load }) => load.kind !== 'sync')),
      b: roundsOf(having(result, ({ load }) => load.kind === 'sync')),
    }),
    says: 'ioredis, all at once / one in flight, ops/s',
  },
  {
    text: 'A lock by script is faster than without',
    source: '000: Test 1, keys 1/1, 0.870 and 0.530 s',
    claimed: 0.869947 / 0.530289,
    run: RUNS['mutex'],
    pair: parameters({ handler: 'script', keys: 1 }, { handler: 'pure', keys: 1 }, sections),
    says: 'script / pure, sections per second, keys 1/1',
  },
  {
    text: 'Many lock names are expensive',
    source: '000: Test 1, script, keys 10/19 and 1/1, 1.768 and 0.530 s',
    claimed: 1.767735 / 0.530289,
    run: RUNS['mutex'],
    pair: parameters({ handler: 'script', keys: 1 }, { handler: 'script', keys: 10 }, sections),
    says: 'script, keys 1/1 / 10/19, sections per second',
  },
  {
    text: 'A hundred keys cost less than twice one key',
    source: '002: c=1, 0.403 and 0.236 ms',
    claimed: 0.403 / 0.236,
    atMost: true,
    run: RUNS['mget'],
    pair: fetches({ inFlight: 1, keys: 100 }, { inFlight: 1, keys: 1 }),
    says: '100 keys / 1 key, median of a fetch, one in flight',
  },
  {
    text: 'Sixteen fetches at once take hardly longer than one',
    source: '002: 100 keys, c=16 and c=1, 0.476 and 0.403 ms',
    claimed: 0.476 / 0.403,
    atMost: true,
    run: RUNS['mget'],
    pair: fetches({ inFlight: 16, keys: 100 }, { inFlight: 1, keys: 100 }),
    says: 'c=16 / c=1, a connection each, median of a fetch of 100 keys',
  },
  {
    text: 'Without keep-alive rmux is 4.5 times as fast as direct',
    source: '001: geometric mean of its columns, which cross TCP with a unix socket',
    claimed: 4.5,
    run: RUNS['rmux'],
    pair: pairsOf(benchmarkRates)('proxied', 'direct'),
    says: 'rmux / direct, both over a unix socket, redis-benchmark, mean of nine tests',
  },
  {
    text: 'Batches pay on Cassandra',
    source: '004: async and batch_pure, 1.519 and 0.831 s',
    claimed: 1.519 / 0.831,
    run: RUNS['insert'],
    pair: parameters({ strategy: 'batch_pure' }, { strategy: 'async' }, perSecond),
    says: 'batch_pure / async, rows per second',
  },
  {
    text: 'Two workers are faster than one',
    source: '004: batch_pure and batch_pure2, 0.831 and 0.656 s',
    claimed: 0.831 / 0.6555,
    run: RUNS['insert'],
    pair: parameters({ strategy: 'batch_pure2' }, { strategy: 'batch_pure' }, perSecond),
    says: 'batch_pure2 / batch_pure, rows per second',
  },
  {
    text: 'A decoder in C is six times the best of the language itself',
    source: '004: decoding, 11,737 and 1,940',
    claimed: 11_737 / 1940,
    run: RUNS['codec'],
    pair: storages('hiredis', 'redis-parser'),
    says: 'hiredis (C++) / redis-parser, passes per second over sets',
  },
  {
    text: 'Variants of one decoder differ by a factor of three',
    source: '004: decoding, 37,914 and 11,737',
    claimed: 37_914 / 11_737,
    run: RUNS['codec'],
    pair: storages('redis-parser', 'ioredis'),
    says: 'redis-parser / ioredis 6, passes per second over sets',
  },
]);

/** All of its rows, over the time that they took. @param {any} round */
function perSecond({ metrics, durationNs }) {
  return (Number(metrics?.rows) / durationNs) * 1e9;
}
