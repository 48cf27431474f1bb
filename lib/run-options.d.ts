/**
 * Options of every run, as a program gives them: by the names of the command line, or by those of
 * results. Each is described by the declaration in engine/options.js, which checks it.
 */

export interface SharedRunOptions {
  /** names (`ioredis`, `ioredis:tuned`, `all`) or files (`./my-driver.js`); default: all available */
  storages?: string[];
  /** drivers beside the installed one: `ioredis@5`, `ioredis@4,5`, `./my-fork`, `fork.tgz` */
  against?: string[];
  /** gates: `throughput<0.95`, `client-cpu>1.05`, `p99>5ms`; see `result.gates` */
  failIf?: string[];
  /** what ratios of failIf refer to, as `against` names it; default: the installed driver */
  reference?: string;
  /** race each storage also under these: `node@24`, `bun`, `deno` */
  runtimes?: string[];
  /** pin client and servers to separate processors (taskset) */
  pin?: boolean;
  /** read keys that are on the server already, and write nothing */
  readOnly?: boolean;
  /** readOnly: a file of keys to draw from, one per line; default: SCAN */
  keysFrom?: string;
  /** readOnly: a table to read, `shop.users(id,name)` */
  table?: string;
  /** readOnly: number of keys drawn */
  sample?: number;
  /** servers that the same drivers are raced on: `redis`, `valkey`, `new=redis@host:port` */
  servers?: string[];
  /** connect over TLS; `both`: each driver that has it with and without; default: `off` */
  tls?: 'off' | 'on' | 'both';
  /** repetitions, each in fresh processes; with `precision` as many as it takes */
  rounds?: number;
  /** warm-up operations, not counted */
  warmupOperations?: number;
  /** the same */
  warmup?: number;
  /** of rows, keys and order */
  seed?: number;
  /** rows of the dataset */
  rows?: number;
  /** characters per value; several: each in turn, in rows made for this run; or a distribution */
  valueSize?: number | number[] | string;
  /** milliseconds without a reply after which outstanding requests fail */
  timeoutMs?: number;
  /** the same */
  timeout?: number;
  /** servers on other machines that may be used, `host:port` */
  allowTargets?: string[];
  /** measure until ratios are known to ± this: a share, 0.03, or `3%`; it implies slices */
  precision?: number | string;
  /** milliseconds after which a run with `precision` ends at the latest */
  budget?: number;
  /** processors of client and server: `auto`, `one-cpu`, `two-cpus` or `free` */
  placement?: string;
}
