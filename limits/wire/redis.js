/** Redis on the wire: GET of a row by its key. */

import { targetError } from '../../lib/errors.js';
import { garbled } from '../../protocols/framer.js';
import { authWords, encodeCommand } from '../../protocols/resp/command.js';
import { RespFramer } from '../../protocols/resp/framer.js';
import { readReply } from '../../protocols/resp/reply.js';

/** @type {import('./protocol.js').WireProtocol} the session is the prefix of the keys */
export const redis = {
  name: 'redis',
  server: 'redis',
  endpoint: 'main',
  async greet(wire, credentials, { redisPrefix }) {
    const words = authWords(credentials);
    if (words === null) return redisPrefix;
    const { value } = await wire.ask(encodeCommand(words), (bytes) => readReply(bytes, 0));
    if (value !== 'OK') {
      throw targetError(
        'Redis rejects the password',
        'set DRAGSTRIP_REDIS_PASSWORD, or name a file in DRAGSTRIP_REDIS_PASSWORD_FILE',
      );
    }
    return redisPrefix;
  },
  encode: (prefix, id) => encodeCommand(['GET', `${prefix}${id}`]),
  createFramer: (_session, { valueSize, minSize }) => new RespFramer(valueSize, minSize),
  read(_session, bytes, at, valueSize) {
    const reply = readReply(bytes, at, valueSize);
    if (reply === null) return null;
    const { end, value, error } = reply;
    if (value !== null && typeof value !== 'string') throw garbled('Redis', bytes[at]);
    return { end, id: null, value, error };
  },
};
