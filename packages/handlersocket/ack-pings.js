/**
 * Acknowledges replies while others are outstanding. The listener never sets TCP_NODELAY, so its
 * kernel holds short replies back as long as earlier ones are not acknowledged (Nagle, RFC 896),
 * and ours delays an acknowledgement by 40 ms in the hope of data to send it with (RFC 1122,
 * 4.2.3.2). A connection with two batches in flight and no further request then stands still for
 * 40 ms. A ping is such data: it is written where replies came, others are outstanding and nothing
 * else was written since.
 */

import { decodeDone } from './reply-values.js';
import { PING_LINE } from './request-lines.js';
import { RequestType } from './request-type.js';

const pingType = new RequestType(decodeDone, { promise: false });
/** Of the reply to a ping: `2 HT 1 HT cmd`. */
const REPLY_BYTES = 8;

export class AckPings {
  /** @param {import('./pipelined-connection.js').Connection} connection */
  constructor(connection) {
    this.connection = connection;
    /** pings without a reply; no caller waits for them */
    this.outstanding = 0;
    /** batches written when replies were last read */
    this.batchesAtRead = 0;
    this.scheduled = false;
    this.check = this.check.bind(this);
    this.onPong = this.onPong.bind(this);
  }

  /** Replies were read. What they release is written within this turn of the event loop. */
  onRead() {
    const { sendQueue, counters } = this.connection;
    this.batchesAtRead = counters.batches;
    if (this.scheduled || sendQueue.inFlight <= this.outstanding) return;
    this.scheduled = true;
    setImmediate(this.check);
  }

  check() {
    this.scheduled = false;
    const { sendQueue, counters, serverSocket } = this.connection;
    if (!serverSocket.ready || counters.batches !== this.batchesAtRead) return;
    const hasUnsent = sendQueue.open.count > 0 || sendQueue.waiting.size > 0;
    if (hasUnsent || sendQueue.inFlight <= this.outstanding) return;
    this.outstanding += 1;
    const { bytes, length } = sendQueue.reserve(PING_LINE.length);
    const end = length + bytes.write(PING_LINE, length, 'latin1');
    sendQueue.commit(end, pingType, this.onPong, REPLY_BYTES);
    const { alone } = this.connection;
    this.connection.flush();
    this.connection.alone = alone;
  }

  /** Also where it is lost with the connection. */
  onPong() {
    this.outstanding -= 1;
  }
}
