/**
 * Acknowledges replies while others are outstanding. The listener never sets TCP_NODELAY, so its
 * kernel delays short replies while earlier ones are not acknowledged (Nagle, RFC 896), and the
 * client's kernel delays an acknowledgement by 40 ms to combine it with data (RFC 1122, 4.2.3.2). A
 * connection with two batches in flight and no further request then stalls for 40 ms. A ping is
 * such data: it is written after replies if others are outstanding and nothing else was written
 * since.
 */

import { decodeDone } from './reply-values.js';
import { PING_LINE } from './request-lines.js';
import { RequestType } from './request-type.js';

const pingType = new RequestType(decodeDone, { promise: false });
/** Bytes of the reply to a ping: `2 HT 1 HT cmd`. */
const REPLY_BYTES = 8;

export class AckPings {
  /** @param {import('./pipelined-connection.js').Connection} connection */
  constructor(connection) {
    this.connection = connection;
    /** outstanding pings, for which no caller waits */
    this.outstanding = 0;
    /** number of written batches when replies were last read */
    this.batchesAtRead = 0;
    this.scheduled = false;
    this.check = this.check.bind(this);
    this.onPong = this.onPong.bind(this);
  }

  /** Replies were read; requests released by them are written in this turn of the event loop. */
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

  /** Also called if it is lost with the connection. */
  onPong() {
    this.outstanding -= 1;
  }
}
