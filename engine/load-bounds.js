/** Bounds and defaults of loads, separate from their schema so that `--help` does not load it. */

export const OPERATIONS_DEFAULT = 50_000;
export const OPERATIONS_MAX = 1e9;
export const IN_FLIGHT_MAX = 1e6;
/** About a kilobyte of memory per outstanding operation. */
export const BURST_MAX = 1e7;
export const RATE_MAX = 1e7;
/** More than any machine has cores. */
export const PROCESSES_MAX = 256;
/** Maximum connections of one process; servers accept slightly more by default, for all clients. */
export const CONNECTIONS_MAX = 1000;
