/**
 * Several load machines with a network between them: namespaces behind a bridge, an encrypted
 * coordinator with examples/fleet/coordinator.conf. Skipped with a reason if namespaces are not
 * available; fleet.test.js tests the same with processes.
 */
// Needs: coordinator, namespaces

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Histogram } from '../../../../measure/histogram.js';
import { createTokens } from '../../../../servers/coordinator.js';
import { loadServer } from '../../../../servers/registry.js';
import {
  assertFailure,
  childrenOf,
  ROOT,
  startCommand,
} from '../../../../test/helpers/command-line.js';
import {
  CHECKS,
  DATASET,
  keyOf,
  NODE_OPTIONS,
  startAgent,
  until,
} from '../../../../test/helpers/fleet.js';
import { withFolder } from '../../../../test/helpers/folder.js';
import { latencyOf } from '../../../../test/helpers/latency-by-operation.js';
import { createNetwork, missingNamespaces } from '../../../../test/helpers/network.js';
import { PACKAGES_HOME } from '../../../../test/helpers/servers.js';
import { drawKeys } from '../../../../workloads/get/index.js';

/** Maximum number of runs on three machines until one starts in time. */
const ATTEMPTS = 3;
/** Maximum time between the starts of the first and the last machine. */
const SKEW_MS_MAX = 10;
const RATE = 1500;
const DURATION_NS = 0.3e9;
/** Arrivals per second: each machine sleeps between such rare ones. */
const SLOW_RATE = 90;
const AGENTS = ['a', 'b', 'c'];
const PORT = 6390;

describe('a network of load machines', { skip: missingNamespaces() ?? false }, () => {
  const folder = withFolder();
  const file = (/** @type {string} */ name) => path.join(folder, name);
  /** @type {import('../../../../test/helpers/network.js').Network} */
  let network;
  /** @type {import('node:child_process').ChildProcess[]} */
  const children = [];
  /** @type {import('../../../../test/helpers/fleet.js').AgentProcess[]} */
  let agents = [];
  /** @type {(order: string) => Promise<any>} */
  let askServer;
  let serverPort = 0;

  const hub = () => network.address('hub');
  const token = file('token');
  const ca = file('ca.crt');

  function writeSecrets() {
    const { password, controller } = createTokens();
    writeFileSync(token, `${password}\n`, { mode: 0o600 });
    writeFileSync(file('controller-token'), `${controller}\n`, { mode: 0o600 });
    const conf = readFileSync(path.join(ROOT, 'examples/fleet/coordinator.conf'), 'utf8');
    const [, rules] = /user default on #%s (.*)\\n'/.exec(conf) ?? [];
    const hash = createHash('sha256').update(password).digest('hex');
    writeFileSync(file('users.acl'), `user default on #${hash} ${rules}\n`);
    const local = conf.replaceAll('/run/coordinator/', `${folder}/`);
    writeFileSync(file('coordinator.conf'), `${local}\nbind ${hub()}\ndir ${folder}\n`);
    const openssl = (/** @type {string} */ line) =>
      execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'ignore' });
    const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2';
    openssl(`req -x509 ${key} -keyout ca.key -out ca.crt -subj /CN=authority`);
    openssl(`req ${key} -keyout tls.key -out tls.csr -subj /CN=coordinator`);
    writeFileSync(file('names'), `subjectAltName=IP:${hub()}\n`);
    const sign = '-CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names';
    openssl(`x509 -req -in tls.csr ${sign} -out tls.crt`);
    openssl(`req -x509 ${key} -keyout other.key -out other.crt -subj /CN=other`);
  }

  async function startCoordinator() {
    const found = await (await loadServer('coordinator')).find(PACKAGES_HOME);
    assert.ok(found, 'no redis-server: npx dragstrip servers fetch redis');
    const [program, ...words] = [
      ...network.inside('hub'),
      found.programs['redis-server'],
      file('coordinator.conf'),
    ];
    const env = { ...process.env, ...found.env };
    children.push(spawn(program, words, { env, stdio: 'ignore' }));
  }

  async function startServer() {
    const script = path.join(ROOT, 'test/helpers/listen-as-redis.js');
    const [program, ...words] = [...network.inside('hub'), process.execPath, script, hub()];
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value);
    serverPort = (await next()).port;
    askServer = (order) => {
      child.stdin.write(`${order}\n`);
      return next();
    };
  }

  before(async () => {
    network = createNetwork(['hub', 'control', ...AGENTS]);
    writeSecrets();
    await startCoordinator();
    await startServer();
    writeFileSync(file('targets'), `# what is measured here\n${hub()}:${serverPort}\n`);
    agents = await Promise.all(AGENTS.map((name) => startOne(name)));
  });

  after(async () => {
    await Promise.all(agents.map((agent) => agent.stop()));
    for (const child of children) child.kill('SIGKILL');
    network?.remove();
  });

  /** @param {string} name */
  const startOne = (name) =>
    startAgent(name, {
      address: `${hub()}:${PORT}`,
      token,
      prefix: network.inside(name),
      args: ['--coordinator-ca', ca, '--targets-file', file('targets')],
      env: { LATENCY_BY_OPERATION: '1' },
    });

  /**
   * @param {Partial<import('../../../../test/helpers/run-fleet.js').Controlled>} how
   */
  function startControl(how) {
    const all = {
      coordinator: `${hub()}:${PORT}`,
      token: file('controller-token'),
      ca,
      agents: 3,
      server: `${hub()}:${serverPort}`,
      loads: [],
      ...how,
    };
    return startCommand(folder, ['test/helpers/run-fleet.js', JSON.stringify(all)], {
      env: { NODE_OPTIONS },
      prefix: network.inside('control'),
    });
  }

  /** @param {Parameters<typeof startControl>[0]} how */
  async function control(how) {
    const { stdout, stderr, status } = await startControl(how).ended;
    assert.equal(status, 0, stderr);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  test('one and three machines: the same operations, and byte-equal histograms', async (t) => {
    const loads = /** @type {const} */ (['constant', 'poisson']).map((arrivals) => ({
      kind: /** @type {const} */ ('rate'),
      rate: RATE,
      durationNs: DURATION_NS,
      arrivals,
    }));
    await askServer('forget');
    const single = await control({ loads, agents: 1 });
    const before = await askServer('forget');
    const three = await control({ loads });
    const later = await askServer('forget');
    /** @param {{ keys: string[][] }} asked */
    const seen = ({ keys }) =>
      keys.flatMap((/** @type {string[]} */ own) => own.slice(CHECKS)).sort();
    const plan = drawKeys(DATASET.rows, 7, Math.ceil((RATE * DURATION_NS) / 1e9), {
      spread: DATASET.seed,
    });
    /** @type {string[]} */
    const planned = [];
    for (const [i, { segment }] of single.entries()) {
      const expected = new Histogram();
      for (let k = 0; k < segment.scheduled; k += 1) {
        expected.record(latencyOf(k));
        planned.push(keyOf(plan[k % plan.length]));
      }
      assert.deepEqual(segment.histograms.latency, expected.toMessage());
      assert.deepEqual(three[i].segment.histograms.latency, segment.histograms.latency);
    }
    assert.deepEqual(seen(before), planned.sort());
    assert.deepEqual(seen(later), planned);
    const skewsOf = (/** @type {typeof three} */ results) =>
      results.map(({ segment }) => {
        const late = segment.agents.map((/** @type {any} */ { lateNs }) => lateNs);
        return (Math.max(...late) - Math.min(...late)) / 1e6;
      });
    const skews = skewsOf(three);
    for (let i = 1; i < ATTEMPTS && Math.min(...skews) > SKEW_MS_MAX; i += 1) {
      skews.push(...skewsOf(await control({ loads })));
    }
    t.diagnostic(`start skew ms: ${skews.map((ms) => ms.toFixed(2))}`);
    assert.ok(Math.min(...skews) <= SKEW_MS_MAX, `${skews}`);
    const [{ targets }] = three;
    for (const name of AGENTS) assert.ok(Object.values(targets[name])[0] > 0, 'network measured');
  });

  test('an agent refuses a server that is not on its list', async () => {
    const loads = [{ kind: /** @type {const} */ ('rate'), rate: 10, durationNs: 1e8 }];
    const { status, stderr } = await startControl({ loads, server: `${hub()}:6379` }).ended;
    assert.notEqual(status, 0);
    assert.match(stderr, /agent \w: the server at 10\.77\.0\.1:6379 is not among the targets/);
  });

  test('off loopback only TLS with a known certificate authority is used', async () => {
    const words = ['bin/dragstrip.js', 'agents', '--coordinator', `${hub()}:${PORT}`];
    const plain = [...words.slice(0, -1), `${hub()}:${serverPort}`];
    const tries = [
      { all: words, says: /no encrypted connection .* --coordinator-ca/ },
      { all: [...words, '--coordinator-ca', file('other.crt')], says: /no encrypted connection/ },
      { all: plain, says: /no encrypted connection/ },
    ].map(async ({ all, says }) => {
      const prefix = network.inside('control');
      const started = startCommand(folder, [...all, '--token-file', token], { prefix });
      assertFailure(await started.ended, 4, says);
    });
    await Promise.all(tries);
  });

  test('a machine whose link is down is lost, and stops by itself', async () => {
    const loads = [{ kind: /** @type {const} */ ('rate'), rate: SLOW_RATE, durationNs: 60e9 }];
    await askServer('forget');
    const running = startControl({ loads });
    const counted = async () => (await askServer('count')).keys.flat().length;
    while ((await counted()) < 300) {
      assert.equal(running.child.exitCode, null);
      await sleep(50);
    }
    network.link('c', 'down');
    const { stdout, stderr } = await running.ended;
    const { lost, failure } = JSON.parse(stdout.trim() || '{}');
    assert.equal(lost?.agent, 'c', stderr);
    assert.equal(failure.code, 'E_AGENT_LOST');
    const planned = (SLOW_RATE * 60e9) / 1e9;
    assert.ok((await counted()) < planned / 2, 'the run ended early');
    await agents[2].says(/ended early: no reply from the coordinator/, 15_000);
    network.link('c', 'up');
    const isIdle = () => agents.every(({ child }) => childrenOf(Number(child.pid)).length === 0);
    assert.ok(await until(isIdle), 'nobody loads the server any more');
  });
});
