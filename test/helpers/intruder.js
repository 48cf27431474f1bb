/**
 * A different user of the machine with all addresses and paths: `node intruder.js TARGETS`, as
 * JSON. Tries to read the files and to use the servers; prints the successful attempts, as JSON.
 */

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

/** @typedef {{ files: string[], pids: number[], ports: Record<string, number> }} Targets */

/** @type {Targets} */
const { files, pids, ports } = JSON.parse(process.argv[2]);
/** @type {string[]} */
const succeeded = [];

for (const file of [...files, ...pids.map((pid) => `/proc/${pid}/environ`)]) {
  try {
    readFileSync(file);
    succeeded.push(`read ${file}`);
  } catch {
    // The expected case.
  }
}

for (const words of ['GET x', 'AUTH default', 'CONFIG GET *', 'HELLO 3 AUTH default default']) {
  const reply = await ask(ports['redis'], `${words}\r\n`);
  if (!/^-(NOAUTH|WRONGPASS|ERR)/.test(reply)) succeeded.push(`redis ${words}: ${reply}`);
}
const { createConnection } = await import('mysql2/promise');
for (const user of ['root', 'dragstrip', '', 'mariadb.sys', 'mysql']) {
  try {
    const sql = await createConnection({ host: '127.0.0.1', port: ports['sql'], user });
    await sql.query('SET GLOBAL general_log_file = "/tmp/somewhere"');
    succeeded.push(`sql as ${user}`);
  } catch (error) {
    if (/** @type {any} */ (error).code !== 'ER_ACCESS_DENIED_ERROR') {
      succeeded.push(`sql as ${user}: ${/** @type {any} */ (error).message}`);
    }
  }
}
const insert = 'P\t0\ths_test\tintruded\tPRIMARY\tid\n0\t+\t1\t7\n';
for (const name of ['read', 'write']) {
  const replies = await ask(ports[name], insert);
  if (!/^(3\t1\tunauth\n)+$/.test(replies)) succeeded.push(`handlersocket ${name}: ${replies}`);
  // A request that a web page can make a browser send.
  const post = `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${insert.length}\r\n\r\n`;
  const executed = await ask(ports[name], post + insert);
  if (/^0\t/m.test(executed)) succeeded.push(`handlersocket ${name} by HTTP: ${executed}`);
}
// @ts-expect-error the driver has no types
const { default: Tarantool } = await import('tarantool-driver');
for (const username of [null, 'dragstrip', 'admin']) {
  const client = new Tarantool({
    host: '127.0.0.1',
    port: ports['tarantool'],
    lazyConnect: true,
    timeout: 2000,
    username,
    password: username === null ? null : '',
    retryStrategy: null,
  });
  client.on('error', () => {});
  for (const work of [
    () => client.call('dragstrip_settings'),
    () => client.select('dragstrip_rows', 0, 1, 0, 'eq', [1]),
    () => client.eval('return 1'),
  ]) {
    try {
      await client.connect().catch(() => {});
      succeeded.push(`tarantool as ${username}: ${JSON.stringify(await work())}`);
    } catch {
      // The expected case.
    }
  }
  client.disconnect();
}
process.stdout.write(JSON.stringify(succeeded));
process.exit(0);

/**
 * @param {number} port
 * @param {string} text
 * @returns {Promise<string>} bytes received within a moment
 */
function ask(port, text) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let reply = '';
    socket.on('data', (chunk) => {
      reply += chunk.toString('latin1');
    });
    const end = () => {
      socket.destroy();
      resolve(reply);
    };
    socket.on('error', end);
    socket.on('end', end);
    setTimeout(end, 250);
  });
}
