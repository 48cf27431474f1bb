/** Bad input at the command line: one clear line, its exit status, nothing done. */

import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { datasetIn } from '../../cli/options.js';
import { environmentWarnings } from '../../measure/environment.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure, callCommand, runCommand } from '../helpers/command-line.js';
import { notChecked } from '../helpers/not-checked.js';
import { raceResult } from '../helpers/result-builder.js';

const RUN = ['test.js', '--storages', 'memory', '--rows', '20', '--ops', '50', '--warmup', '0'];
const DRAGSTRIP = 'bin/dragstrip.js';

const { callHere, folder } = withCommands();

describe('unknown input is refused in one line with status 2', { concurrency: 2 }, () => {
  /** @type {[string, string[], RegExp][]} */
  const cases = [
    [
      'an unknown storage',
      ['test.js', '--storages', 'ioredsi'],
      /"ioredsi": did you mean "ioredis"/,
    ],
    [
      'a name like none',
      ['test.js', '--storages', 'zzzzzzz'],
      /available storages: redis, ioredis/,
    ],
    ['an unknown profile', ['test.js', '--storages', 'ioredis:tunde'], /did you mean "tuned"/],
    ['an empty name', ['test.js', '--storages', 'redis,,lmdb'], /empty item.*dragstrip list/],
    ['a file that is not there', ['test.js', '--storages', './none.js'], /none\.js: no such file/],
    [
      'a driver that no storage has, before servers are set up',
      [DRAGSTRIP, 'race', '--setup', '--against', 'iorediz@5'],
      /--against iorediz@5: no storage .* driver iorediz: did you mean "ioredis"\?/,
    ],
    [
      'a folder of a driver that is not there, likewise',
      [DRAGSTRIP, 'race', '--setup', '--storages', 'ioredis', '--against', './none'],
      /--against \.\/none: no such folder or tarball/,
    ],
    [
      'releases of a package that no storage uses, before npm is called',
      [DRAGSTRIP, 'releases', 'left-pad', '--from', '1'],
      /releases left-pad: no storage of this run uses the driver left-pad; .*--storages/,
    ],
    [
      'an unknown flag',
      ['test.js', '--opps', '5'],
      /: test\.js has no option --opps; did you mean "--ops"\? node test\.js --help lists the options$/m,
    ],
    [
      'an unknown flag of a command, near none',
      [DRAGSTRIP, 'race', '--zzzzzzzz'],
      /: race has no option --zzzzzzzz; npx dragstrip race --help lists the options$/m,
    ],
    ['a flag of another command', ['test.js', '--in-flight', '5'], /has no option --in-flight;/],
    [
      'help of an unknown command',
      [DRAGSTRIP, 'help', 'rase'],
      /unknown command rase; did you mean "race"\?/,
    ],
    ['a folder for a secret', [DRAGSTRIP, 'agents', '--token-file', 'docs'], /docs is a folder/],
    [
      'an unknown command',
      [DRAGSTRIP, 'rase'],
      /: unknown command rase; did you mean "race"\? npx dragstrip --help lists the commands$/m,
    ],
    [
      'an option before any command',
      [DRAGSTRIP, '--zzz'],
      /: dragstrip has no option --zzz; npx dragstrip --help lists the commands$/m,
    ],
    [
      'an argument too many',
      [DRAGSTRIP, 'race', 'redis'],
      /race: unexpected argument "redis"; npx dragstrip race --help lists the options$/m,
    ],
    [
      'a missing argument',
      [DRAGSTRIP, 'report'],
      /: report needs <files\.\.\.>; write for example npx dragstrip report results\/race\.json$/m,
    ],
    [
      'one of three arguments',
      [DRAGSTRIP, 'bisect', 'ioredis'],
      /: bisect needs <package> <first> <last>; write for example .* ioredis 5\.3\.0 6\.0\.0$/m,
    ],
    [
      'no test of a workload that has several',
      [DRAGSTRIP, 'mget'],
      /: mget needs <test>; write for example npx dragstrip mget concurrency$/m,
    ],
    [
      'a flag without its value',
      ['test.js', '--ops'],
      /: --ops needs a value; write for example --ops \d+$/m,
    ],
    [
      'an option of a few values without one',
      [DRAGSTRIP, 'race', '--load'],
      /: --load needs a value; available: sync, window, burst, rate$/m,
    ],
    [
      'a file that is not named',
      [DRAGSTRIP, 'race', '--json'],
      /: --json needs a value; write --json <file>$/m,
    ],
    [
      'arrivals without an open loop',
      [DRAGSTRIP, 'race', '--arrivals', 'poisson'],
      /: --arrivals needs an open loop; add --rate 1k$/m,
    ],
    ['a negative count', ['test.js', '--ops', '-5'], /--ops "-5": not a whole number from 1/],
    ['a zero', ['test.js', '--rounds', '0'], /--rounds "0": not a whole number from 1 to 1000/],
    ['a word for a count', ['test.js', '--ops', 'many'], /--ops "many".*write for example --ops/],
    ['a fraction', ['test.js', '--rows', '1.5'], /--rows "1\.5": not a whole number/],
    ['a huge count', ['test.js', '--ops', '99999999999999999999'], /--ops .* to 1000000000/],
    ['a power of ten', ['test.js', '--ops', '1e3'], /--ops "1e3": .* example --ops 1000$/m],
    ['no request in flight', ['async_test.js', '--in-flight', '0'], /example --in-flight 1$/m],
    ['no number in a list', ['async_test.js', '--ops', '5,'], /empty item.*example --ops \d+$/m],
    ['an option twice', ['test.js', '--ops', '5', '--ops', '6'], /--ops is given twice; give it/],
    [
      'an option by two names',
      [DRAGSTRIP, 'commands', '--clients', '5', '-c', '6'],
      /--in-flight and --clients are the same option; leave out --clients/,
    ],
    [
      'a Node that is too old, before it is installed',
      [DRAGSTRIP, 'race', '--runtime', 'node@24,node@9'],
      /--runtime "node@9": .*too old.* write --runtime node@18/,
    ],
    ['a precision beyond', [DRAGSTRIP, 'race', '--precision', '200%'], /not a percentage .* 100%/],
    ['a time without unit', [DRAGSTRIP, 'race', '--budget', '5'], /--budget "5": .*--budget 5s/],
    ['infinity', ['test.js', '--ops', 'Infinity'], /--ops "Infinity"/],
    ['hexadecimal', ['test.js', '--ops', '0x10'], /--ops "0x10"/],
    ['an empty count', ['test.js', '--ops', ''], /--ops ""/],
    ['too small a value', ['test.js', '--value-size', '3'], /--value-size "3": .*from 8/],
    ['too many in flight', ['async_test.js', '--in-flight', '2M'], /--in-flight "2M"/],
    [
      'a burst beyond memory',
      ['async_test.js', '--ops', '100M'],
      /the maximum is 10000000 requests.*--in-flight/,
    ],
    ['a burst with a duration', ['async_test.js', '--duration', '5s'], /add --in-flight 100/],
    [
      'an amount and a time',
      [DRAGSTRIP, 'race', '-n', '100', '-d', '5s'],
      /--ops and --duration cannot be combined; --ops fixes .* --duration the time; leave out one$/m,
    ],
    ['a negative time', ['test.js', '--duration', '-1s'], /--duration "-1s": not a time/],
    ['a time without end', ['test.js', '--timeout', '48h'], /--timeout "48h": .*24 h/],
    ['no time at all', ['test.js', '--timeout', '0'], /--timeout "0"/],
    [
      'a file of TLS without an address with TLS',
      [...RUN, '--tls-ca', 'ca.pem'],
      /--tls-ca: no address of this command uses TLS.*rediss:/,
    ],
    [
      'a client certificate for seeding without TLS',
      [DRAGSTRIP, 'seed', 'redis', '--redis', '127.0.0.1:1', '--tls-cert', 'c', '--tls-key', 'k'],
      /--tls-cert: no address of this command/,
    ],
    ['two names', ['test.js', '--json', 'a.json', '--out', 'b'], /--json and --out cannot be/],
    [
      'a file for the plots of a run, before anything is measured',
      [DRAGSTRIP, 'codec', 'decoding', '--svg', 'plot.svg'],
      /--svg plot\.svg: a run has several plots; name a folder: --svg plots$/m,
    ],
    ['a reference of no gate', [DRAGSTRIP, 'race', '--reference', 'x'], /needs --fail-if; add/],
    [
      'no address',
      ['test.js', '--redis', 'host'],
      /--redis "host": not an address; write host:port/,
    ],
    ['a port beyond', ['test.js', '--redis', '127.0.0.1:70000'], /--redis .*not an address/],
    [
      'an unknown report',
      [DRAGSTRIP, 'report', 'x', '--format', 'pdf'],
      /"pdf".*console, markdown/,
    ],
    ['an unknown action', [DRAGSTRIP, 'servers', 'strat'], /strat: unknown action; .*start/],
    [
      'an unknown server',
      [DRAGSTRIP, 'servers', 'start', 'reddis'],
      /"reddis"; available servers:/,
    ],
    ['an unknown loader', [DRAGSTRIP, 'seed', 'oracle'], /"oracle"; .*: redis, mysql/],
    ['rows beyond', ['data/redis.js', '--rows', '2000M'], /--rows "2000M"/],
  ];
  for (const [title, words, says] of cases) {
    test(title, async () => {
      const ended = await callCommand(words);
      assertFailure(ended, 2, says);
      assert.equal(ended.stdout, '');
    });
  }

  test('a file of the user that does not load, with its line, and a folder', async () => {
    const file = path.join(folder, 'wrong.mjs');
    await writeFile(file, 'export const storage = {\n  a: 1,\n  b: : 2,\n};\n');
    const wrong = /wrong\.mjs does not load: wrong\.mjs:3: Unexpected token/;
    assertFailure(await callCommand([DRAGSTRIP, 'race', '--storages', file]), 2, wrong);
    const isFolder = /it is a folder; name a file in it/;
    assertFailure(await callCommand([DRAGSTRIP, 'race', '--storages', folder]), 2, isFolder);
  });

  test('by a process like by a call', async () => {
    for (const [, words, says] of [cases[0], cases[7]]) {
      const ended = await runCommand(folder, words);
      assertFailure(ended, 2, says);
      assert.equal(ended.stdout, '');
    }
  });

  test('without a command the help is shown', async () => {
    const { status, stderr, stdout } = await callCommand([DRAGSTRIP]);
    assert.equal(status, 2);
    assert.match(stdout + stderr, /Usage: dragstrip/);
  });

  test('an address with a password is not repeated', async () => {
    const ended = await runCommand(folder, ['test.js', '--redis', 'redis://me:hunter2@localhost']);
    assertFailure(ended, 2, /--redis "\*\*\*@localhost"/);
  });
});

describe('every help exits with status 0', () => {
  const commands = ['race', 'async', 'sync', 'seed', 'servers', 'report', 'list', 'doctor'];
  const scripts = [
    'async_test.js',
    'test.js',
    'data/redis.js',
    'data/mysql.js',
    'data/tarantool.js',
  ];
  const all = [[DRAGSTRIP], ...scripts.map((script) => [script])];
  for (const command of commands) {
    test(`dragstrip ${command} --help`, async () => {
      const { status, stderr, stdout } = await callCommand([DRAGSTRIP, command, '--help']);
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
      assert.match(stdout, /^Usage: dragstrip /);
    });
  }
  for (const words of all) {
    test(`${words.join(' ')} --help`, async () => {
      const { status, stderr, stdout } = await runCommand(folder, [...words, '--help']);
      assert.equal(status, 0, stderr);
      assert.equal(stderr, '');
      assert.match(stdout, /^Usage: /);
    });
  }

  test('the title of run is that of a workload only if one is named', async () => {
    const bare = await callCommand([DRAGSTRIP, 'run', '--help']);
    assert.match(bare.stdout, /^run a workload by name or from a file/m);
    const named = await callCommand([DRAGSTRIP, 'run', '--workload', 'mix', '--help']);
    assert.doesNotMatch(named.stdout, /^run a workload by name/m);
  });

  test('a placeholder is a noun', async () => {
    const options = await readFile(new URL('../../docs/options.md', import.meta.url), 'utf8');
    assert.deepEqual(options.match(/<(one|what|which|who|where)>/g), null);
    const { stdout } = await callCommand([DRAGSTRIP, 'run', '--help-all']);
    assert.match(stdout, /--workload <workload>/);
  });

  test('neither help nor a wrong option loads the engine or a report', async () => {
    const hooks = `export async function resolve(name, context, next) {
      if (/(engine.runner|report.index|servers.index)\\.js$/.test(name)) {
        throw new Error('imported ' + name);
      }
      return next(name, context);
    }`;
    const script = (/** @type {string} */ text) =>
      `data:text/javascript,${encodeURIComponent(text)}`;
    const preload = script(`import { register } from 'node:module';
      register(${JSON.stringify(script(hooks))});`);
    const env = { NODE_OPTIONS: `--disable-warning=DEP0205 --import=${preload}` };
    for (const [words, expected] of /** @type {[string[], RegExp][]} */ ([
      [['race', '--help'], /^Usage: /],
      [['run', '--workload', 'mix', '--help'], /^Usage: /],
      [['race', '--lod', 'sync'], /race has no option --lod/],
      [['race', '--load', 'rate'], /--load rate needs --rate/],
      [['insert', '--storages', 'none'], /unknown storage "none"/],
    ])) {
      const { stdout, stderr } = await runCommand(folder, [DRAGSTRIP, ...words], { env });
      assert.match(`${stdout}${stderr}`, expected);
    }
  });

  test('-h at the end is help, even if it is an option', async () => {
    const { status, stdout } = await callCommand([DRAGSTRIP, 'mget', '-h']);
    assert.equal(status, 0);
    assert.match(stdout, /^Usage: dragstrip mget /);
  });

  test('--version names the version of package.json', async () => {
    const { version } = JSON.parse(
      await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    const { status, stdout } = await runCommand(folder, [DRAGSTRIP, '--version']);
    assert.deepEqual({ status, stdout }, { status: 0, stdout: `${version}\n` });
  });

  test('a busy machine is described equally before a run and without one', async () => {
    const quiet = { cores: 4, governor: null, loadAverage: [9, 9, 9] };
    const [{ code, message, hint }] = environmentWarnings(/** @type {any} */ (quiet));
    assert.equal(code, 'BUSY');
    assert.equal(message, 'other programs use the processors: load average 9.0');
    assert.equal(hint, 'stop them before measuring');
  });

  test('list and doctor succeed without any server', async () => {
    const list = await callHere('list');
    assert.equal(list.status, 0, list.stderr);
    for (const name of ['ioredis:tuned', 'manual-hs', 'lmdb'])
      assert.ok(list.stdout.includes(name));
    const offers = 'get, mget, set, add, del, hash, expire, insert, lock, command';
    assert.match(list.stdout, new RegExp(`^  ioredis: ioredis \\S+, redis; ${offers}$`, 'm'));
    assert.ok(Math.max(...list.stdout.split('\n').map((line) => line.length)) <= 100);
    const doctor = await callHere('doctor');
    assert.doesNotMatch(doctor.stdout, /missing {2}(client, server|other programs)/);
    assert.equal(doctor.status, 0, doctor.stderr);
    assert.match(doctor.stdout, /missing {2}Redis at 127\.0\.0\.1:1: connection refused/);
    assert.match(doctor.stdout, /→ start one with/);
  });
});

describe('the destination of the result is checked before anything is measured', () => {
  test('a file that exists is refused and left as it is', async () => {
    const file = path.join(folder, 'mine.json');
    await writeFile(file, 'precious');
    assertFailure(await callCommand([...RUN, '--json', file]), 2, /exists; .*--force/);
    assert.equal(await readFile(file, 'utf8'), 'precious');
  });

  test('a folder, a device and a path below a file are refused', async () => {
    assertFailure(await callCommand([...RUN, '--json', folder]), 2, /it is a folder.*--out/);
    const device = [...RUN, '--json', '/dev/null', '--force'];
    assertFailure(await callCommand(device), 2, /not a regular file/);
    await writeFile(path.join(folder, 'plain'), '');
    for (const place of [
      ['--json', 'plain/x.json'],
      ['--out', 'plain/results'],
      ['--out', 'plain'],
    ]) {
      assertFailure(
        await callCommand([...RUN, place[0], path.join(folder, place[1])]),
        2,
        /plain.* cannot be written/,
      );
    }
  });

  test('--markdown and --csv of a run', async () => {
    const files = ['--markdown', path.join(folder, 'r.md'), '--csv', path.join(folder, 'r.csv')];
    const short = ['test.js', '--storages', 'memory', '--rows', '20', '--warmup', '0', '-n', '50'];
    const { status, stderr } = await callCommand([...short, ...files]);
    assert.equal(status, 0, stderr);
    assert.match(await readFile(path.join(folder, 'r.md'), 'utf8'), /^\|.*storage/m);
    assert.match(await readFile(path.join(folder, 'r.csv'), 'utf8'), /memory/);
    assertFailure(await callCommand([...RUN, ...files]), 2, /--markdown .*exists; .*--force/);
  });

  test('a read-only folder is refused', async (t) => {
    assertFailure(await callCommand([...RUN, '--out', '/proc/here']), 2, /\/proc\/here cannot/);
    if (process.getuid?.() === 0) return notChecked(t, 'permissions do not bind root');
    const closed = await mkdtemp(path.join(folder, 'closed-'));
    await chmod(closed, 0o555);
    assertFailure(await callCommand([...RUN, '--out', closed]), 2, /cannot be written/);
    await chmod(closed, 0o755);
    assert.deepEqual(await readdir(closed), []);
  });
});

describe('report accepts stored results only', () => {
  const intact = JSON.stringify(raceResult());
  /** @type {[string, (text: string) => string, RegExp][]} */
  const damaged = [
    ['cut off', (text) => text.slice(0, text.length / 2), /cut off\.json: not JSON/],
    ['empty', () => '', /empty\.json: not JSON/],
    ['another document', () => '{"a":1}', /not a result at schema/],
    ['a list', () => '[]', /not a result/],
    ['null', () => 'null', /not a result/],
    [
      'of a later version',
      (text) => text.replace('"schemaVersion":2', '"schemaVersion":9'),
      /9.*reads 2/,
    ],
    [
      'of an earlier version',
      (text) => text.replace('"schemaVersion":2', '"schemaVersion":1'),
      /schema version 1, this Dragstrip reads 2; read it with the version/,
    ],
    [
      'a wrong field',
      (text) => text.replace('"rounds":[', '"rounds":[3,'),
      /benchmarks\.0\.rounds\.0/,
    ],
    [
      'a damaged histogram',
      (text) => text.replace(/"histogram":"[^"]{9}/, '"histogram":"AAAAAAAAA'),
      /histogram/,
    ],
  ];
  for (const [title, damage, says] of damaged) {
    test(title, async () => {
      const file = path.join(folder, `${title}.json`);
      const text = damage(intact);
      await writeFile(file, text);
      const ended = await callCommand([DRAGSTRIP, 'report', file]);
      assertFailure(ended, 2, says);
      assert.equal(ended.stdout, '');
      assert.equal(await readFile(file, 'utf8'), text);
    });
  }

  test('ceilings of other rows, before a server is looked for', async () => {
    const file = path.join(folder, 'ceilings.json');
    const limits = { source: null, wire: [], driver: [] };
    await writeFile(file, JSON.stringify({ ...raceResult(), limits }));
    const race = ['race', '--storages', 'ioredis', '--value-size', '64', '--limits', file];
    assertFailure(await callHere(...race), 2, /--limits .*: measured with a different value size/);
  });

  test('a missing file, a folder, and one wrong file among good ones', async () => {
    assertFailure(await callCommand([DRAGSTRIP, 'report', 'no.json']), 2, /no\.json: cannot/);
    assertFailure(await callCommand([DRAGSTRIP, 'report', folder]), 2, /it is a folder/);
    const good = path.join(folder, 'good.json');
    await writeFile(good, intact);
    const ended = await callCommand([DRAGSTRIP, 'report', good, 'no.json']);
    assertFailure(ended, 2, /no\.json/);
    assert.equal(ended.stdout, '');
    const shown = await callCommand([DRAGSTRIP, 'report', good, '--format', 'csv']);
    assert.equal(shown.status, 0, shown.stderr);
  });
});

describe('an unusable target is reported in one line', () => {
  /** @type {net.Server[]} */
  const listeners = [];
  /** @param {net.Server} server */
  async function listen(server) {
    listeners.push(server);
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
    return `127.0.0.1:${/** @type {net.AddressInfo} */ (server.address()).port}`;
  }
  after(() => {
    for (const server of listeners) server.close();
  });

  test('a named storage without its server', async () => {
    for (const name of ['ioredis', 'manual-hs']) {
      const ended = await callHere('sync', '--storages', `memory,${name}`);
      assertFailure(ended, 4, new RegExp(`storage ${name}: .*refused.*dragstrip servers start`));
    }
  });

  test('a missing server cannot be filled', async () => {
    for (const name of ['redis', 'mysql', 'tarantool']) {
      const ended = await callHere('seed', name, '--rows', '5');
      assertFailure(ended, 4, /127\.0\.0\.1:1.*(servers start|--)/);
    }
  });

  test('a server of another protocol', async () => {
    const web = http.createServer((_request, response) => response.end('hello'));
    const address = await listen(web);
    /** @type {[string, string, string][]} */
    const cases = [
      ['redis', '--redis', 'redis'],
      ['mysql2', '--mysql', 'mysql'],
      ['tarantool', '--tarantool', 'tarantool'],
    ];
    for (const [storage, flag, loader] of cases) {
      const ended = await callHere('sync', '--storages', storage, flag, address);
      assertFailure(ended, 4, /an HTTP server is listening there/);
      assertFailure(await callHere('seed', loader, flag, address), 4, new RegExp(address));
    }
  });

  test('a port that accepts TLS only', async () => {
    const closing = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end());
    });
    const address = await listen(closing);
    const says = new RegExp(`; if the port accepts TLS only, write rediss://${address}$`, 'm');
    assertFailure(await callHere('sync', '--storages', 'ioredis', '--redis', address), 4, says);
    assertFailure(await callHere('seed', 'redis', '--redis', address), 4, says);
  });

  test('a missing coordinator, and an agent without a token', async () => {
    const refused = /: coordinator at 127\.0\.0\.1:1: connection refused, .*; start one with `npx/;
    assertFailure(await callHere('agents', '--coordinator', '127.0.0.1:1'), 4, refused);
    const needs = /: agent needs the token of a coordinator; add --token-file FILE, or start a/;
    assertFailure(await callHere('agent', '--coordinator', '127.0.0.1:1'), 2, needs);
  });

  test('a server that accepts connections and stays silent', async () => {
    /** @type {Set<net.Socket>} */
    const sockets = new Set();
    const address = await listen(net.createServer((socket) => sockets.add(socket)));
    const words = ['sync', '--storages', 'ioredis', '--redis', address];
    assertFailure(await callHere(...words), 4, /accepts connections but does not reply/);
    for (const socket of sockets) socket.destroy();
  });

  test('a server on another machine is not used unless allowed by name', async () => {
    const elsewhere = '192.0.2.1:6379'; // TEST-NET-1, RFC 5737
    const says = /192\.0\.2\.1:6379 is not on this machine.*--allow-target 192\.0\.2\.1:6379/;
    const words = ['sync', '--storages', 'redis', '--redis', elsewhere];
    assertFailure(await callHere(...words), 3, says);
    assertFailure(await callHere('seed', 'redis', '--redis', elsewhere), 3, says);
  });

  test('--allow-target applies to the commands that have a dataset', () => {
    const given = { rows: 5, redis: 'h:1', allowTarget: ['h:1'] };
    const { allowTargets, addresses } = datasetIn(given);
    assert.deepEqual(
      { allowTargets, addresses },
      { allowTargets: ['h:1'], addresses: { redis: 'h:1' } },
    );
  });

  test('a password is never printed, even if a server repeats it', async () => {
    const secret = 'hunter2-of-the-test';
    /** @type {string[]} */
    const received = [];
    const address = await listen(
      net.createServer((socket) => {
        socket.on('error', () => {});
        socket.on('data', (data) => {
          received.push(String(data));
          const login = String(data).includes(secret);
          socket.write(
            login ? `-WRONGPASS of ${secret}\r\n` : '-NOAUTH Authentication required.\r\n',
          );
        });
      }),
    );
    const options = { env: { DRAGSTRIP_REDIS: address, DRAGSTRIP_REDIS_PASSWORD: secret } };
    for (const words of [
      ['test.js', '--storages', 'ioredis'],
      ['data/redis.js'],
      [DRAGSTRIP, 'doctor'],
    ]) {
      const { stdout, stderr, status } = await runCommand(folder, words, options);
      assert.ok(!`${stdout}${stderr}`.includes(secret), `${words}: ${stdout}${stderr}`);
      assert.equal(status, words[0] === DRAGSTRIP ? 0 : 4);
    }
    assert.ok(
      received.some((text) => text.includes(secret)),
      'it was sent to the server',
    );
  });

  test('an unreadable password file', async () => {
    const env = { DRAGSTRIP_REDIS_PASSWORD_FILE: '/nonexistent/secret' };
    const ended = await runCommand(folder, ['test.js', '--storages', 'redis'], { env });
    assertFailure(ended, 2, /DRAGSTRIP_REDIS_PASSWORD_FILE: .*cannot be read/);
  });
});
