/** Types of servers and loaders; a part of lib/types.d.ts. */

import type { ConnectionContext, Namespace } from './namespace-types.js';
import type { Address, Credentials, Dataset, DatasetOptions, Endpoint } from './types.js';

/**
 * Sources of an endpoint: option, then environment, then Dragstrip's own server, then the default.
 */
export interface EndpointDefinition {
  /** the original program's default port, `127.0.0.1:6379` */
  default: string;
  /** environment variable, `DRAGSTRIP_REDIS` */
  env: string;
  /** long option without dashes, `redis` */
  flag: string;
  /** description for the help */
  summary: string;
  /** schemes of URLs that name it, `redis`, `rediss`; absent: none */
  schemes?: readonly string[];
}

/** A server started by `dragstrip servers start`, as recorded in `.dragstrip/servers/NAME.json`. */
export interface RunningServer {
  name: string;
  pid: number;
  /**
   * start time of the process in clock ticks since boot (/proc/PID/stat, field 22), since pids are
   * reused
   */
  startTicks: number;
  version: string;
  /** in a cluster: every process, in the order of its addresses; `pid` is the first of them */
  nodes?: { pid: number; startTicks: number }[];
  folder: string;
  /** endpoint name to `host:port` or `unix:/path` */
  address: Record<string, string>;
  /** field of Credentials to the private file that holds it; absent in records of older versions */
  credentials?: Record<string, string>;
  /** files for its encrypted endpoint, `tls` of its address */
  tls?: import('./types.js').TlsFiles;
}

export interface ServerDefinition {
  name: string;
  summary: string;
  endpoints: Record<string, EndpointDefinition>;
  /** environment variables for credentials, by field of Credentials (also NAME_FILE) */
  credentials: Partial<Record<keyof Credentials, string>>;
  /** Debian packages that contain it, for messages and for fetch */
  packages: readonly string[];
  /** required programs, by plain names */
  programs?: readonly string[];
  /** it supports TLS */
  tls?: boolean;
  /** servers that it forwards to; they are started first */
  behind?: readonly string[];
  /** the binaries, from PATH or from fetched packages; null if there are none */
  find(home: string): Promise<Binaries | null>;
  /** without packages: installs it into the existing folder `root`, and returns a description */
  fetch?(context: {
    root: string;
    signal?: AbortSignal;
    onEvent?(text: string): void;
  }): Promise<string>;
  /** starts it on free loopback ports in a private folder; resolves when it responds */
  start(context: StartContext): Promise<RunningServer>;
  /**
   * commands that start it by hand in `folder`, the last one runs it; absent: not possible in one
   * line
   */
  byHand?(binaries: Binaries, folder: string): CommandByHand[];
  /** probes a server at an address in its own protocol; rejects with E_TARGET if none responds */
  probe(address: Address, credentials: Credentials): Promise<ProbeReport>;
  /**
   * in a cluster: every announced node, the primaries first. Drivers connect to these, so each
   * passes the target guard before the driver is opened
   */
  nodes?(address: Address, credentials: Credentials): Promise<Endpoint[]>;
}

export interface CommandByHand {
  program: string;
  args: string[];
  /** additional to the folder of the binaries */
  env?: Record<string, string>;
}

export interface Binaries {
  /** path of each program by its plain name */
  programs: Record<string, string>;
  /** LD_LIBRARY_PATH and similar variables, for the child only */
  env: Record<string, string>;
  /** `path`: found on PATH; `fetched`: installed by Dragstrip */
  source: 'path' | 'fetched';
  /** folder of the fetched binaries */
  root?: string;
}

/**
 * Access to the Redis of one run without a login: some commands on keys with a prefix. Proxies do
 * not always forward a login, and redis-benchmark accepts a password only as an argument.
 */
export interface Guest {
  prefix: string;
  commands: readonly string[];
}

export interface StartContext {
  home: string;
  binaries: Binaries;
  /** true: dies with this process, however that ends; false: runs until `servers stop` */
  owned: boolean;
  /**
   * enable TLS in addition to plain connections, with its own certificates; see `tls` of the server
   */
  tls?: boolean;
  /** for Redis, in addition to its owner, who then has a name and a password */
  guest?: Guest;
  /** user other than this process's, which is then root */
  user?: { uid: number; gid: number };
  /** addresses of the servers of `behind`, by name; absent: their known addresses */
  behind?: Record<string, Address>;
  /** their credentials, by name */
  behindCredentials?: Record<string, Credentials>;
  signal?: AbortSignal;
}

export interface ProbeReport {
  version: string;
  /** settings that determine speed or durability, for the result */
  settings: Record<string, string>;
  /** pids of the server, if it is on this machine and known */
  pid: number | null;
}

export interface SeedContext extends ConnectionContext {
  dataset: Dataset;
  /** rows written so far; called at most ten times per second */
  onProgress?(rowsDone: number): void;
  /** `host:port` of servers off loopback that the user allows to be filled */
  allowTargets?: readonly string[];
  /** target; absent: ROWS_NAMESPACE of lib/dataset.js */
  namespace?: Namespace;
}

export interface SeedReport {
  rows: number;
  /** false: the same dataset already existed, was verified, and is unchanged */
  written: boolean;
  /** rows compared in full after the load */
  sampled: number;
  /** in a cluster: rows on each primary, by its address, as counted by the node */
  nodes?: Record<string, number>;
}

export interface LoaderDefinition {
  name: string;
  server: string;
  summary: string;
  /**
   * The dataset on the server; null if it holds no complete one, also if the namespace is occupied
   * (then `notOurs` names the data).
   */
  inspect(context: ConnectionContext & { namespace?: Namespace }): Promise<{
    dataset: DatasetOptions | null;
    notOurs: string | null;
  }>;
  /** counts and samples; writes nothing. null if rows have to be written, or E_REFUSED */
  verify(context: SeedContext): Promise<SeedReport | null>;
  /** fills, counts and samples; E_REFUSED if the data are not Dragstrip's */
  seed(context: SeedContext): Promise<SeedReport>;
}
