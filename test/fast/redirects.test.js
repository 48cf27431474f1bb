/** Servers that send a driver to another address: no driver may follow, whatever its profile. */

import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { createDataset, ROW_NAMES } from '../../lib/dataset.js';
import { loadStorage } from '../../storages/index.js';

/** @type {import('node:net').Server} */
let server;
/** @type {import('node:net').Server} */
let elsewhere;
let followed = 0;

before(async () => {
  elsewhere = createServer((socket) => {
    followed += 1;
    socket.destroy();
  });
  const other = await listen(elsewhere);
  server = createServer((socket) => {
    let pushes = false;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      // One reply per command; commands of these clients are arrays of bulk strings.
      for (const [word] of commandsIn(chunk.toString('latin1'))) {
        const name = word.toUpperCase();
        if (name === 'GET' || name === 'MGET') {
          const port = `127.0.0.1:${other}`;
          if (pushes)
            socket.write(`>4\r\n$6\r\nMOVING\r\n:1\r\n:0\r\n$${port.length}\r\n${port}\r\n`);
          socket.write(`-MOVED 1 ${port}\r\n`);
        } else if (name === 'HELLO') {
          pushes = true;
          socket.write('%2\r\n$5\r\nproto\r\n:3\r\n$4\r\nrole\r\n$6\r\nmaster\r\n');
        } else if (name === 'INFO') {
          // A primary that names its replicas.
          const replica = `slave0:ip=127.0.0.1,port=${other},state=online`;
          const text = `role:master\r\nconnected_slaves:1\r\n${replica}\r\n`;
          socket.write(`$${text.length}\r\n${text}\r\n`);
        } else socket.write('+OK\r\n');
      }
    });
  });
  await listen(server);
});

after(() => {
  server.close();
  elsewhere.close();
});

/** @param {import('node:net').Server} one @returns {Promise<number>} */
async function listen(one) {
  await new Promise((done) => one.listen(0, '127.0.0.1', () => done(undefined)));
  return /** @type {import('node:net').AddressInfo} */ (one.address()).port;
}

/** @param {string} text @returns {string[][]} */
function commandsIn(text) {
  return text
    .split(/\*\d+\r\n/)
    .filter((part) => part !== '')
    .map((part) => [...part.matchAll(/\$\d+\r\n([^\r]*)\r\n/g)].map(([, word]) => word));
}

for (const name of ['redis', 'ioredis', 'iovalkey', 'valkey-glide']) {
  test(`${name}: no profile follows a MOVED reply, a MOVING push or the address of a replica`, async (t) => {
    const definition = await loadStorage(name);
    const lacks = await definition.unavailable?.(/** @type {any} */ ('default'));
    if (lacks) return t.skip(lacks.reason);
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    for (const [profileName, profile] of Object.entries(definition.profiles)) {
      followed = 0;
      const handle = await /** @type {any} */ (definition.open).rows({
        address: { main: { host: '127.0.0.1', port } },
        credentials: {},
        profile: { name: profileName, ...profile },
        dataset: createDataset({ rows: 1 }),
        folder: '',
        names: ROW_NAMES,
      });
      const reply = new Promise((resolve, reject) => {
        const settled = handle.get(1, (/** @type {any} */ error, /** @type {any} */ value) =>
          error ? reject(error) : resolve(value),
        );
        if (profile.calls !== 'callback') settled.then(resolve, reject);
      });
      try {
        await assert.rejects(reply, /moved/i, profileName);
        await new Promise((done) => setTimeout(done, 100));
        assert.equal(followed, 0, profileName);
      } finally {
        await handle.close();
      }
    }
  });
}
