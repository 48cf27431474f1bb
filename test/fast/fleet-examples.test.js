/** The examples of docs/fleet.md by their own schemas: Kubernetes, systemd, the coordinator's rules. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { Service } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { AGENT_OPTIONS } from '../../cli/fleet-options.js';
import { RULES } from '../../servers/coordinator.js';
import { ROOT } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

const read = (/** @type {string} */ name) =>
  readFileSync(path.join(ROOT, 'examples/fleet', name), 'utf8');
const KINDS = { Service, Deployment, Job };

/** @param {readonly string[]} words words of a command line */
function assertKnownFlags(words) {
  const known = AGENT_OPTIONS.map(({ flags }) => flags.split(' ')[0]);
  const flags = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0]);
  assert.ok(flags.length >= 4);
  assert.deepEqual(
    flags.filter((flag) => !known.includes(flag)),
    [],
  );
}

function manifests() {
  return parseAllDocuments(read('kubernetes.yaml')).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS();
  });
}

test('the manifest is valid by the schemas of Kubernetes', () => {
  const all = manifests();
  assert.deepEqual(
    all.map(({ kind }) => kind),
    ['Service', 'Deployment', 'Job'],
  );
  for (const one of all) new KINDS[/** @type {keyof typeof KINDS} */ (one.kind)](one).validate();
  const wrong = { ...all[2], spec: { ...all[2].spec, completions: 'three' } };
  assert.throws(() => new Job(wrong).validate(), /completions must be integer/);
});

test('its job has one agent per index, on separate nodes, and starts an existing command', () => {
  const { spec } = manifests()[2];
  assert.equal(spec.completionMode, 'Indexed');
  assert.equal(spec.completions, spec.parallelism);
  const pod = spec.template.spec;
  assert.equal(pod.topologySpreadConstraints[0].topologyKey, 'kubernetes.io/hostname');
  const [{ command, args, volumeMounts }] = pod.containers;
  assert.deepEqual(command.slice(1), ['/app/bin/dragstrip.js', 'agent']);
  assertKnownFlags(args);
  const volumes = pod.volumes.map((/** @type {any} */ { name }) => name);
  for (const { name } of volumeMounts) assert.ok(volumes.includes(name), name);
});

test('the unit is valid by systemd itself', (t) => {
  const unit = read('dragstrip-agent.service');
  const [, command] = /^ExecStart=((?:.*\\\n)*.*)/m.exec(unit) ?? [];
  assertKnownFlags(command.replaceAll('\\\n', ' ').split(/\s+/));
  const folder = withFolder(t);
  const file = path.join(folder, 'dragstrip-agent.service');
  // The program of a machine that has none there is no fault of the unit.
  writeFileSync(file, unit.replace('/usr/bin/node', process.execPath));
  const { error, status, stderr } = spawnSync('systemd-analyze', ['verify', file], {
    encoding: 'utf8',
    env: { ...process.env, SYSTEMD_LOG_COLOR: '0' },
  });
  if (error !== undefined) return t.skip('systemd-analyze is not installed');
  assert.doesNotMatch(stderr, /dragstrip-agent\.service:\d+|Unknown|Failed to parse/, stderr);
  assert.equal(status, 0, stderr);
  writeFileSync(file, unit.replace('Restart=always', 'Restart=perhaps'));
  const wrong = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  assert.match(wrong.stderr, /dragstrip-agent\.service:\d+/);
});

test('a coordinator on another machine has the ACL rules of servers start', () => {
  const [, rules] = /user default on #%s (.*)\\n'/.exec(read('coordinator.conf')) ?? [];
  assert.equal(rules, RULES);
});
