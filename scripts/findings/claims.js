/**
 * Claims of the original programs as ratios, each with the command name of its result. Data only.
 */

import {
  amounts,
  cpuOf,
  encodingToDecoding,
  fetches,
  having,
  parameters,
  perSecond,
  roundsOf,
  routes,
  sections,
  slopes,
  storages,
} from './figures.js';

/**
 * @typedef {object} Run a command whose result is used by one or several claims
 * @property {string} name name of its result
 * @property {number} seconds time limit, after which it is interrupted, and its complete rounds
 *   count
 * @property {(programs: { rmux?: string, plainRedis?: string }) => string[] | null} words arguments
 *   of the command; null: a required program is not given
 * @property {string} [needs] requirements beside servers
 * @property {string} [shown] the command in the table, if it contains paths
 *
 * @typedef {object} Claim
 * @property {string} text
 * @property {string} source source of its figure
 * @property {number} claimed claimed ratio, above 1
 * @property {'at most' | 'more than' | 'within'} [is] at most this ratio; more than this ratio; at
 *   most this ratio in either direction. Absent: about this ratio
 * @property {Run} run
 * @property {Run} [beside] further run whose result `pair` needs
 * @property {import('./figures.js').PairOf} pair A / B is the ratio
 * @property {string} says meaning of A and B
 */

const words = (/** @type {string} */ text) => () => text.split(' ');

/**
 * @param {string} name
 * @param {string} tests tests, with the following options
 * @returns {Run}
 */
function throughRmux(name, tests) {
  const proxy = '-socket={socket} -tcpConnections={redis} -poolSize=50';
  const more = `-t ${tests} --rounds 3 --transport unix`;
  return {
    name,
    seconds: 240,
    needs: 'rmux and a Redis without a password: --rmux PROGRAM --plain-redis ADDRESS',
    shown:
      'commands --redis 127.0.0.1:6379,unix:/run/redis.sock --proxy-binary ' +
      `"./rmux-proxy ${proxy}" ${more}`,
    words: ({ rmux, plainRedis }) =>
      rmux === undefined || plainRedis === undefined
        ? null
        : [
            ...['commands', '--redis', plainRedis, '--proxy-binary', `${rmux} ${proxy}`],
            ...more.split(' '),
          ],
  };
}

/** @type {Record<string, Run>} */
const RUNS = {
  burst: {
    name: 'burst',
    seconds: 90,
    words: words(
      'async --ops 10k --rounds 6 --storages ioredis,manual-hs,redis,node-handlersocket',
    ),
  },
  queue: {
    name: 'queue',
    seconds: 150,
    words: words('async --ops 10k,100k --rounds 8 --storages node-handlersocket,manual-hs'),
  },
  loads: {
    name: 'loads',
    seconds: 150,
    words: words('race --ops 5k --in-flight 5k --rounds 16 --storages ioredis --no-html'),
  },
  mutex: {
    name: 'mutex',
    seconds: 150,
    words: words(
      'mutex --tests 1 --lock-keys 1,10 --rounds 20 --storages ioredis --handlers script,pure',
    ),
  },
  mget: {
    name: 'mget',
    seconds: 90,
    words: words(
      'mget concurrency --counts 1,100 -c 1,16 --data-size 100 --cycles 300 --rounds 6 --pool',
    ),
  },
  rmux: throughRmux('rmux-unix', 'set,get,incr,lpush,lpop,sadd,spop,lrange_100,mset -n 2000'),
  rmuxKept: throughRmux(
    'rmux-keep-alive',
    'set,get,incr,lpush,lpop,sadd,spop,lrange_600,mset -k 1 -n 6000',
  ),
  insert: {
    name: 'insert',
    seconds: 180,
    words: words(
      'insert --storages cassandra --strategies async,batch_pure,batch_pure2 ' +
        '--rows 20000 --rounds 7',
    ),
  },
  codec: {
    name: 'codec',
    seconds: 120,
    words: words(
      'codec decoding --protocols resp --fixtures sets --variants ' +
        'redis-parser,node-redis,ioredis,hiredis --budget 30s',
    ),
  },
  oneInFlight: {
    name: 'one-in-flight',
    seconds: 150,
    words: words('sync --ops 20k --rounds 6 --storages ioredis,manual-hs'),
  },
  burst50k: {
    name: 'burst-50k',
    seconds: 120,
    words: words('async --ops 50k --rounds 6 --storages ioredis,manual-hs'),
  },
  burst500k: {
    name: 'burst-500k',
    seconds: 300,
    words: words('async --ops 500k --rounds 6 --storages ioredis,manual-hs'),
  },
  sections: {
    name: 'sections',
    seconds: 240,
    words: words(
      'mutex --tests 2 --lock-keys 1,10 --duration 2s --rounds 8 --storages ioredis ' +
        '--handlers script,pure',
    ),
  },
  versions: {
    name: 'versions',
    seconds: 300,
    words: words(
      'mutex --tests 1 --lock-keys 1,10 --rounds 8 --storages ioredis ' +
        '--handlers ./examples/old-mutex.js,pure',
    ),
  },
  linear: {
    name: 'linear',
    seconds: 90,
    words: words(
      'mget concurrency --storages ioredis --counts 1,50,100 -c 1 --data-size 100 --cycles 300 ' +
        '--rounds 8',
    ),
  },
  batches: {
    name: 'batches',
    seconds: 240,
    words: words(
      'insert --storages cassandra --strategies batch_pure,unlogged_batch,logged_batch ' +
        '--rows 20000 --rounds 8',
    ),
  },
  encoders: {
    name: 'encoders',
    seconds: 120,
    words: words(
      'codec encoding --protocols resp --fixtures batch-4096 --variants ioredis,node-redis ' +
        '--budget 30s',
    ),
  },
};

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
    is: 'at most',
    run: RUNS['mget'],
    pair: fetches({ inFlight: 1, keys: 100 }, { inFlight: 1, keys: 1 }),
    says: '100 keys / 1 key, median of a fetch, one in flight',
  },
  {
    text: 'Sixteen fetches at once take hardly longer than one',
    source: '002: 100 keys, c=16 and c=1, 0.476 and 0.403 ms',
    claimed: 0.476 / 0.403,
    is: 'at most',
    run: RUNS['mget'],
    pair: fetches({ inFlight: 16, keys: 100 }, { inFlight: 1, keys: 100 }),
    says: 'c=16 / c=1, a connection each, median of a fetch of 100 keys',
  },
  {
    text: 'Without keep-alive rmux is 4.5 times as fast as direct',
    source: '001: geometric mean of its columns, which cross TCP with a unix socket',
    claimed: 4.5,
    run: RUNS['rmux'],
    pair: routes({ faster: 'proxied', keepAlive: false }),
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
  {
    text: 'HandlerSocket is slower than Redis one in flight, too',
    source: '003: ioredis 10,623 and manual-hs 5,302 ops/s',
    claimed: 10_623 / 5302,
    run: RUNS['oneInFlight'],
    pair: storages('ioredis', 'manual-hs'),
    says: 'ioredis / manual-hs, ops/s, one in flight',
  },
  {
    text: 'HandlerSocket is four times slower in a burst of 50,000',
    source: '003: ioredis 61,454 and manual-hs 16,535 ops/s',
    claimed: 61_454 / 16_535,
    run: RUNS['burst50k'],
    pair: storages('ioredis', 'manual-hs'),
    says: 'ioredis / manual-hs, ops/s in a burst of 50,000',
  },
  {
    text: 'HandlerSocket is four times slower in a burst of 500,000',
    source: '003: ioredis 64,436 and manual-hs 17,894 ops/s',
    claimed: 64_436 / 17_894,
    run: RUNS['burst500k'],
    pair: storages('ioredis', 'manual-hs'),
    says: 'ioredis / manual-hs, ops/s in a burst of 500,000',
  },
  {
    text: 'Node is the limit, not Redis',
    source: '003: “node eats a lot CPU by itself. We are not pushing storages to its limits”',
    claimed: 1,
    is: 'more than',
    run: RUNS['burst50k'],
    pair: cpuOf('ioredis'),
    says: 'CPU time of Node with ioredis / of Redis, burst of 50,000',
  },
  {
    text: 'Node is the limit, not HandlerSocket',
    source: '003: the same',
    claimed: 1,
    is: 'more than',
    run: RUNS['burst50k'],
    pair: cpuOf('manual-hs'),
    says: 'CPU time of Node with manual-hs / of MariaDB, burst of 50,000',
  },
  {
    text: 'A lock by script is faster than without in Test 2, too',
    source: '000: Test 2, keys 1/1, 4,679 and 3,086 cycles',
    claimed: 4679 / 3086,
    run: RUNS['sections'],
    pair: parameters({ handler: 'script', keys: 1 }, { handler: 'pure', keys: 1 }, sections),
    says: 'script / pure, Test 2, sections per second, keys 1/1',
  },
  {
    text: 'Many lock names are expensive in Test 2, by script',
    source: '000: Test 2, script, keys 1/1 and 10/19, 4,679 and 2,285 cycles',
    claimed: 4679 / 2285,
    run: RUNS['sections'],
    pair: parameters({ handler: 'script', keys: 1 }, { handler: 'script', keys: 10 }, sections),
    says: 'script, Test 2, keys 1/1 / 10/19, sections per second',
  },
  {
    text: 'Many lock names are expensive in Test 2, without a script',
    source: '000: Test 2, pure, keys 1/1 and 10/19, 3,086 and 1,715 cycles',
    claimed: 3086 / 1715,
    run: RUNS['sections'],
    pair: parameters({ handler: 'pure', keys: 1 }, { handler: 'pure', keys: 10 }, sections),
    says: 'pure, Test 2, keys 1/1 / 10/19, sections per second',
  },
  {
    text: 'Many lock names are expensive without a script',
    source: '000: Test 1, pure, keys 10/19 and 1/1, 2.123 and 0.870 s',
    claimed: 2.123451 / 0.869947,
    run: RUNS['mutex'],
    pair: parameters({ handler: 'pure', keys: 1 }, { handler: 'pure', keys: 10 }, sections),
    says: 'pure, Test 1, keys 1/1 / 10/19, sections per second',
  },
  {
    text: 'Unlocking ten names one by one is four times as slow',
    source: '000: Test 1, 0.2.3 and 0.1.2, keys 10/19, 8.406 and 2.121 s',
    claimed: 8.406377 / 2.120616,
    run: RUNS['versions'],
    pair: parameters({ handler: '0.1.2', keys: 10 }, { handler: '0.2.3', keys: 10 }, sections),
    says: '0.1.2 / 0.2.3, sections per second, keys 10/19',
  },
  {
    text: 'With one name the versions 0.1.2 and 0.2.3 are alike',
    source: '000: Test 1, keys 1/1, 0.987 and 0.861 s',
    claimed: 1.25,
    is: 'within',
    run: RUNS['versions'],
    pair: parameters({ handler: '0.1.2', keys: 1 }, { handler: '0.2.3', keys: 1 }, sections),
    says: '0.1.2 / 0.2.3, sections per second, keys 1/1',
  },
  {
    text: 'Version 0.3.1 without a script is as fast with ten names as 0.1.2',
    source: '000: Test 1, keys 10/19, 2.123 and 2.121 s',
    claimed: 1.25,
    is: 'within',
    run: RUNS['versions'],
    pair: parameters({ handler: 'pure', keys: 10 }, { handler: '0.1.2', keys: 10 }, sections),
    says: 'pure / 0.1.2, sections per second, keys 10/19',
  },
  {
    text: 'The time of a fetch is linear in its keys',
    source: '002: scatter, a linear fit',
    claimed: 1.5,
    is: 'within',
    run: RUNS['linear'],
    pair: slopes,
    says: 'time per key, keys 51 to 100 / keys 2 to 50, one in flight',
  },
  {
    text: 'With keep-alive direct is 2.2 times as fast as rmux',
    source: '001: geometric mean of its columns, which cross TCP with a unix socket',
    claimed: 2.2,
    run: RUNS['rmuxKept'],
    pair: routes({ faster: 'direct', keepAlive: true }),
    says: 'direct / rmux, both over a unix socket, redis-benchmark, mean of nine tests',
  },
  {
    text: 'With keep-alive MSET is faster through rmux',
    source: '001: 66,667 by unix socket and 58,824 requests/s by TCP',
    claimed: 1,
    is: 'more than',
    run: RUNS['rmuxKept'],
    pair: routes({ faster: 'proxied', keepAlive: true, test: 'MSET' }),
    says: 'rmux / direct, MSET of ten keys, both over a unix socket, redis-benchmark',
  },
  {
    text: 'With keep-alive LRANGE_600 is slower through rmux',
    source: '001: 6,849 by TCP and 2,551 requests/s by unix socket',
    claimed: 6849.31 / 2551.02,
    run: RUNS['rmuxKept'],
    pair: routes({ faster: 'direct', keepAlive: true, test: 'LRANGE_600' }),
    says: 'direct / rmux, LRANGE_600, both over a unix socket, redis-benchmark',
  },
  {
    text: 'Logged batches cost nothing',
    source: '004: unlogged_batch 0.894 and 0.796, logged_batch 0.761 and 0.987 s',
    claimed: 1.25,
    is: 'within',
    run: RUNS['batches'],
    pair: parameters({ strategy: 'unlogged_batch' }, { strategy: 'logged_batch' }, perSecond),
    says: 'unlogged_batch / logged_batch, rows per second',
  },
  {
    text: 'It makes no difference whether rows are built before the clock starts',
    source: '004: batch_pure 0.848 and 0.814, unlogged_batch 0.894 and 0.796 s',
    claimed: 1.25,
    is: 'within',
    run: RUNS['batches'],
    pair: parameters({ strategy: 'batch_pure' }, { strategy: 'unlogged_batch' }, perSecond),
    says: 'batch_pure / unlogged_batch, rows per second',
  },
  {
    text: 'Variants of one encoder differ by a factor of 2.8',
    source: '004: encoding, 3,106 and 1,091 µs',
    claimed: 3105.84 / 1090.81,
    run: RUNS['encoders'],
    pair: storages('node-redis', 'ioredis'),
    says: 'node-redis / ioredis 6, passes per second over batch-4096',
  },
  {
    text: 'Decoding is the bottleneck of a driver, not encoding',
    source: '004: decoding 631 and encoding 266 ns per row, the fastest of each',
    claimed: 631 / 266,
    run: RUNS['codec'],
    beside: RUNS['encoders'],
    pair: encodingToDecoding('node-redis'),
    says: 'node-redis, rows per second encoded (batch-4096) / decoded (sets), of two commands',
  },
]);
