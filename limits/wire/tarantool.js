/** Tarantool on the wire: select of one tuple by its key. */

import { targetError } from '../../lib/errors.js';
import { IprotoFramer } from '../../protocols/iproto/framer.js';
import { encodeAuth, readGreeting } from '../../protocols/iproto/greeting.js';
import { encodeSelect, readPacket, replyOf, VSPACE } from '../../protocols/iproto/packet.js';

/** @type {import('./protocol.js').WireProtocol} the session is the id of the space */
export const tarantool = {
  name: 'tarantool',
  server: 'tarantool',
  endpoint: 'main',
  async greet(wire, { user, password }, { space: name }) {
    const { salt } = await wire.ask(null, readGreeting);
    const ask = async (/** @type {Buffer} */ request) =>
      replyOf(await wire.ask(request, (bytes) => readPacket(bytes, 0)));
    if (user !== undefined) {
      const { message } = await ask(encodeAuth(0, { user, password }, salt));
      if (message !== null) {
        const hint = 'check the user and the password in the environment';
        throw targetError(`Tarantool: ${message}`, hint);
      }
    }
    const { id: space, byName: index } = VSPACE;
    const { data } = await ask(encodeSelect(0, { space, index, key: [name] }));
    if (data.length > 0) return data[0][0];
    throw targetError(
      `Tarantool: no space ${name}, or the user may not read it`,
      'fill it with "npx dragstrip seed tarantool"',
    );
  },
  // Replies may arrive out of order: the request number of each identifies its row.
  encode: (space, id) => encodeSelect(id, { space, key: [id] }),
  createFramer: (_session, { valueSize, minSize }) => new IprotoFramer(valueSize, minSize),
  read(_session, bytes, at, valueSize) {
    const packet = readPacket(bytes, at, valueSize);
    if (packet === null) return null;
    const { sync, data, message } = replyOf(packet);
    return { end: packet.end, id: sync, value: data[0]?.[1] ?? null, error: message };
  },
};
