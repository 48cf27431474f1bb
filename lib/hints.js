/** Hints for errors of the machine and of full servers. */

export const FULL_DISK = "free some space on the server's disk";

/** By the code of a system call, or of MariaDB. */
const HINTS = Object.freeze({
  ER_CON_COUNT_ERROR: "raise the server's max_connections, or close other clients",
  ER_TOO_MANY_USER_CONNECTIONS: "raise the server's max_user_connections, or close other clients",
  EE_WRITE: FULL_DISK,
  EE_DISK_FULL: FULL_DISK,
  ER_DISK_FULL: FULL_DISK,
  ER_ERROR_ON_WRITE: FULL_DISK,
  ER_RECORD_FILE_FULL: FULL_DISK,
  EADDRNOTAVAIL:
    'no local port is left: wait a minute until the ports of closed connections are free, use ' +
    'a unix socket, or widen net.ipv4.ip_local_port_range',
  EMFILE: 'raise the limit of open files: ulimit -n 65536',
  ENFILE: 'the machine has too many open files: stop other programs, or raise fs.file-max',
});

/**
 * @param {any} error error of Node or of a driver; an AggregateError contains the causes
 * @returns {string | null} null: no specific hint
 */
export function hintOf(error) {
  for (const one of [error, error?.cause, ...(error?.errors ?? [])]) {
    const code = /** @type {keyof typeof HINTS} */ (one?.code);
    if (Object.hasOwn(HINTS, code ?? '')) return HINTS[code];
  }
  return null;
}
