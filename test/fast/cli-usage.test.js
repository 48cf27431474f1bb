/** Bad input at the command line: one clear line, its exit status, nothing done. */

import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { datasetIn } from '../../cli/options.js';
import { assertFailure, callCommand, runCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { raceResult } from '../helpers/result-builder.js';

const RUN = ['test.js', '--storages', 'memory', '--rows', '20', '--ops', '50', '--warmup', '0'];
const DRAGSTRIP = 'bin/dragstrip.js';

const folder = withFolder();

describe('what is not understood is refused in one line with status 2', { concurrency: 2 }, () => {
  /** @type {[string, string[], RegExp][]} */
  const cases = [
    [
      'an unknown storage',
      ['test.js', '--storages', 'ioredsi'],
      /"ioredsi": did you mean "ioredis"/,
    ],
    ['a name like none', ['test.js', '--storages', 'zzzzzzz'], /the storages: redis, ioredis/],
    ['an unknown profile', ['test.js', '--storages', 'ioredis:tunde'], /did you mean "tuned"/],
    ['an empty name', ['test.js', '--storages', 'redis,,lmdb'], /empty name.*dragstrip list/],
    ['a file that is not there', ['test.js', '--storage', './none.js'], /none\.js: no such file/],
    [
      'a driver that no storage has, before servers are set up',
      [DRAGSTRIP, 'race', '--setup', '--against', 'iorediz@5'],
      /--against iorediz@5: no storage .* driver iorediz: did you mean "ioredis"\?/,
    ],
    [
      'a folder of a driver that is not there, likewise',
      [DRAGSTRIP, 'race', '--setup', '--storages', 'ioredis', '--against', './none'],
      /--against \.\/none: there is no such folder or tarball/,
    ],
    [
      'releases of what no storage uses, before npm is asked',
      [DRAGSTRIP, 'releases', 'left-pad', '--from', '1'],
      /releases left-pad: no storage of this run uses the driver left-pad; .*--storages/,
    ],
    ['an unknown flag', ['test.js', '--opps', '5'], /'--opps'.*--ops.*test\.js --help/],
    ['a flag of another command', ['test.js', '--in-flight', '5'], /'--in-flight'/],
    ['an unknown command', [DRAGSTRIP, 'rase'], /'rase'.*race.*--help/],
    ['an argument too many', [DRAGSTRIP, 'race', 'redis'], /too many arguments/],
    ['a missing argument', [DRAGSTRIP, 'report'], /missing required argument 'files'/],
    ['a flag without its value', ['test.js', '--ops'], /'--ops <n>' argument missing/],
    ['a negative count', ['test.js', '--ops', '-5'], /--ops "-5": not a whole number from 1/],
    ['a zero', ['test.js', '--rounds', '0'], /--rounds "0": not a whole number from 1 to 1000/],
    ['a word for a count', ['test.js', '--ops', 'many'], /--ops "many".*write for example --ops/],
    ['a fraction', ['test.js', '--rows', '1.5'], /--rows "1\.5": not a whole number/],
    ['a huge count', ['test.js', '--ops', '99999999999999999999'], /--ops .* to 1000000000/],
    ['infinity', ['test.js', '--ops', 'Infinity'], /--ops "Infinity"/],
    ['hexadecimal', ['test.js', '--ops', '0x10'], /--ops "0x10"/],
    ['an empty count', ['test.js', '--ops', ''], /--ops ""/],
    ['too small a value', ['test.js', '--value-size', '3'], /--value-size "3": .*from 8/],
    ['too many in flight', ['async_test.js', '--in-flight', '2M'], /--in-flight "2M"/],
    [
      'a burst beyond memory',
      ['async_test.js', '--ops', '100M'],
      /at most 10000000 requests.*--in-flight/,
    ],
    ['a burst with a duration', ['async_test.js', '--duration', '5s'], /add --in-flight 100/],
    ['a negative time', ['test.js', '--duration', '-1s'], /--duration "-1s": not a time/],
    ['a time without end', ['test.js', '--timeout', '48h'], /--timeout "48h": .*24 h/],
    ['no time at all', ['test.js', '--timeout', '0'], /--timeout "0"/],
    [
      'a file of TLS without an address with TLS',
      [...RUN, '--tls-ca', 'ca.pem'],
      /--tls-ca: no server of this command has an address with TLS.*rediss:/,
    ],
    [
      'a client certificate for seeding without TLS',
      [DRAGSTRIP, 'seed', 'redis', '--redis', '127.0.0.1:1', '--tls-cert', 'c', '--tls-key', 'k'],
      /--tls-cert: no server of this command/,
    ],
    ['two names', ['test.js', '--json', 'a.json', '--out', 'b'], /--json and --out: one of them/],
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
    ['an unknown action', [DRAGSTRIP, 'servers', 'strat'], /strat: no such action; .*start/],
    ['an unknown server', [DRAGSTRIP, 'servers', 'start', 'reddis'], /"reddis"; the servers are/],
    ['an unknown loader', [DRAGSTRIP, 'seed', 'oracle'], /"oracle"; there are redis, mysql/],
    ['rows beyond', ['data/redis.js', '--rows', '2000M'], /--rows "2000M"/],
  ];
  for (const [title, words, says] of cases) {
    test(title, async () => {
      const ended = await callCommand(words);
      assertFailure(ended, 2, says);
      assert.equal(ended.stdout, '');
    });
  }

  test('by a process, as by a call', async () => {
    for (const [, words, says] of [cases[0], cases[5], cases[7], cases[11]]) {
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

describe('every help ends well', { concurrency: 2 }, () => {
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

  test('--version names the version of package.json', async () => {
    const { version } = JSON.parse(
      await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    const { status, stdout } = await runCommand(folder, [DRAGSTRIP, '--version']);
    assert.deepEqual({ status, stdout }, { status: 0, stdout: `${version}\n` });
  });

  test('list and doctor end well without any server', async () => {
    const list = await runCommand(folder, [DRAGSTRIP, 'list']);
    assert.equal(list.status, 0, list.stderr);
    for (const name of ['ioredis:tuned', 'manual-hs', 'lmdb'])
      assert.ok(list.stdout.includes(name));
    assert.match(
      list.stdout,
      /│ ioredis .*│ get, mget, set, add, del, hash, expire, insert, lock, command +│/,
    );
    const doctor = await runCommand(folder, [DRAGSTRIP, 'doctor']);
    assert.equal(doctor.status, 0, doctor.stderr);
    assert.match(doctor.stdout, /missing {2}Redis at 127\.0\.0\.1:1: connection refused/);
    assert.match(doctor.stdout, /→ start one with/);
  });
});

describe('the place of the result is judged before anything is measured', () => {
  test('a file that exists is refused and left as it is', async () => {
    const file = path.join(folder, 'mine.json');
    await writeFile(file, 'precious');
    assertFailure(
      await runCommand(folder, [...RUN, '--json', 'mine.json']),
      2,
      /exists; .*--force/,
    );
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

  test('a folder that takes no files is refused', async (t) => {
    assertFailure(await callCommand([...RUN, '--out', '/proc/here']), 2, /\/proc\/here cannot/);
    if (process.getuid?.() === 0) return t.diagnostic('permissions do not bind root');
    const closed = await mkdtemp(path.join(folder, 'closed-'));
    await chmod(closed, 0o555);
    assertFailure(await callCommand([...RUN, '--out', closed]), 2, /cannot be written/);
    await chmod(closed, 0o755);
    assert.deepEqual(await readdir(closed), []);
  });
});

describe('report takes stored results only', () => {
  const whole = JSON.stringify(raceResult());
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
      const text = damage(whole);
      await writeFile(file, text);
      const ended = await callCommand([DRAGSTRIP, 'report', file]);
      assertFailure(ended, 2, says);
      assert.equal(ended.stdout, '');
      assert.equal(await readFile(file, 'utf8'), text);
    });
  }

  test('a missing file, a folder, and one wrong file among good ones', async () => {
    assertFailure(await callCommand([DRAGSTRIP, 'report', 'no.json']), 2, /no\.json: cannot/);
    assertFailure(await callCommand([DRAGSTRIP, 'report', folder]), 2, /EISDIR/);
    const good = path.join(folder, 'good.json');
    await writeFile(good, whole);
    const ended = await callCommand([DRAGSTRIP, 'report', good, 'no.json']);
    assertFailure(ended, 2, /no\.json/);
    assert.equal(ended.stdout, '');
    const shown = await callCommand([DRAGSTRIP, 'report', good, '--format', 'csv']);
    assert.equal(shown.status, 0, shown.stderr);
  });
});

describe('an unusable target is reported in one line', { concurrency: 2 }, () => {
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

  test('a named storage whose server is not there', async () => {
    for (const name of ['ioredis', 'manual-hs']) {
      const ended = await runCommand(folder, ['test.js', '--storages', `memory,${name}`]);
      assertFailure(ended, 4, new RegExp(`storage ${name}: .*refused.*dragstrip servers start`));
    }
  });

  test('a server that is not there cannot be filled', async () => {
    for (const name of ['redis', 'mysql', 'tarantool']) {
      const ended = await runCommand(folder, [`data/${name}.js`, '--rows', '5']);
      assertFailure(ended, 4, /127\.0\.0\.1:1.*(servers start|--)/);
    }
  });

  test('another protocol answers', async () => {
    const web = http.createServer((_request, response) => response.end('hello'));
    const address = await listen(web);
    /** @type {[string, string, string][]} */
    const cases = [
      ['redis', '--redis', 'redis'],
      ['mysql2', '--mysql', 'mysql'],
      ['tarantool', '--tarantool', 'tarantool'],
    ];
    const each = cases.map(async ([storage, flag, loader]) => {
      const ended = await runCommand(folder, ['test.js', '--storages', storage, flag, address]);
      assertFailure(ended, 4, /an HTTP server answers there/);
      const seed = await runCommand(folder, [`data/${loader}.js`, flag, address]);
      assertFailure(seed, 4, new RegExp(address));
    });
    await Promise.all(each);
  });

  test('somebody listens and says nothing', async () => {
    /** @type {Set<net.Socket>} */
    const sockets = new Set();
    const address = await listen(net.createServer((socket) => sockets.add(socket)));
    const words = ['test.js', '--storages', 'ioredis', '--redis', address];
    assertFailure(await runCommand(folder, words), 4, /listens there but does not answer/);
    for (const socket of sockets) socket.destroy();
  });

  test('a server elsewhere is not used unless it is allowed by name', async () => {
    const elsewhere = '192.0.2.1:6379'; // TEST-NET-1, RFC 5737
    const says = /192\.0\.2\.1:6379 is not on this machine.*--allow-target 192\.0\.2\.1:6379/;
    const words = ['test.js', '--storages', 'redis', '--redis', elsewhere];
    assertFailure(await runCommand(folder, words), 3, says);
    assertFailure(await runCommand(folder, ['data/redis.js', '--redis', elsewhere]), 3, says);
  });

  test('what --allow-target names reaches the commands that have a dataset', () => {
    const given = { rows: 5, redis: 'h:1', allowTarget: ['h:1'] };
    const { allowTargets, addresses } = datasetIn(given);
    assert.deepEqual(
      { allowTargets, addresses },
      { allowTargets: ['h:1'], addresses: { redis: 'h:1' } },
    );
  });

  test('a password is in no output, also where a server repeats it', async () => {
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

  test('a file of a password that cannot be read', async () => {
    const env = { DRAGSTRIP_REDIS_PASSWORD_FILE: '/nonexistent/secret' };
    const ended = await runCommand(folder, ['test.js', '--storages', 'redis'], { env });
    assertFailure(ended, 2, /DRAGSTRIP_REDIS_PASSWORD_FILE: .*cannot be read/);
  });
});
