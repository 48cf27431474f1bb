/**
 * Options of every run for programs: by the names of the command line, or by those of results. Each
 * is described and validated by its declaration in engine/options.js.
 */

export interface SharedRunOptions {
  /** names (`ioredis`, `ioredis:tuned`, `all`) or files (`./my-driver.js`); default: all available */
  storages?: string[];
  /**
   * driver versions other than the installed one: `ioredis@5`, `ioredis@4,5`, `./my-fork`,
   * `fork.tgz`
   */
  against?: string[];
  /** gates: `throughput<0.95`, `client-cpu>1.05`, `p99>5ms`; see `result.gates` */
  failIf?: string[];
  /** baseline of ratios in failIf, as named by `against`; default: the installed driver */
  reference?: string;
  /** race each storage also under these: `node@24`, `bun`, `deno` */
  runtimes?: string[];
  /** pin client and servers to separate processors (taskset) */
  pin?: boolean;
  /** read existing keys of the server, and write nothing */
  readOnly?: boolean;
  /** readOnly: a file of keys to draw from, one per line; default: SCAN */
  keysFrom?: string;
  /** readOnly: a table to read, `shop.users(id,name)` */
  table?: string;
  /** readOnly: number of keys drawn */
  sample?: number;
  /** servers to race the same drivers on: `redis`, `valkey`, `new=redis@host:port` */
  servers?: string[];
  /** connect over TLS; `both`: race each TLS-capable driver with and without; default: `off` */
  tls?: 'off' | 'on' | 'both';
  /** repetitions, each in fresh processes; with `precision` as many as needed */
  rounds?: number;
  /** uncounted warm-up operations */
  warmupOperations?: number;
  /** same as warmupOperations */
  warmup?: number;
  /** seed of rows, keys and order */
  seed?: number;
  /** rows of the dataset */
  rows?: number;
  /**
   * characters per value; several: each in turn, in rows created for this run; or a distribution
   */
  valueSize?: number | number[] | string;
  /** milliseconds without a reply after which outstanding requests fail */
  timeoutMs?: number;
  /** same as timeoutMs */
  timeout?: number;
  /** allowed servers on other machines, `host:port` */
  allowTargets?: string[];
  /** measure until ratios are known to ± this: a share, 0.03, or `3%`; implies slices */
  precision?: number | string;
  /** milliseconds after which a run with `precision` ends at the latest */
  budget?: number;
  /** processors of client and server: `auto`, `one-cpu`, `two-cpus` or `free` */
  placement?: string;
}
