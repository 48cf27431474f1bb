/**
 * A server that Dragstrip does not know, for examples/line-storage.js: lines `GET key` and
 * `SET key value`, answered in order by the value, `-` for a miss, or `OK`.
 *
 *   node examples/line-server.js 7411
 */

import net from 'node:net';

/** @type {Map<string, string>} */
const values = new Map();

/** @param {string} line */
function answerTo(line) {
  const [word, key, value] = line.split(' ');
  if (word !== 'SET') return `${values.get(key) ?? '-'}\n`;
  values.set(key, value);
  return 'OK\n';
}

const server = net.createServer((socket) => {
  let rest = '';
  socket.setEncoding('latin1').on('error', () => {});
  socket.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    socket.write(lines.map(answerTo).join(''), 'latin1');
  });
});

server.listen(Number(process.argv[2] ?? 7411), '127.0.0.1', () => {
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  console.log(`127.0.0.1:${port}`);
});
