/** What a server is, and what fills it with rows; a part of lib/types.d.ts. */

import type { ConnectionContext, Namespace } from './namespace-types.js';
import type { Address, Credentials, Dataset, DatasetOptions, Endpoint } from './types.js';

/** How an endpoint is found: flag, then environment, then our own server, then the default. */
export interface EndpointDefinition {
  /** the original program's default port, `127.0.0.1:6379` */
  default: string;
  /** environment variable, `DRAGSTRIP_REDIS` */
  env: string;
  /** long flag without dashes, `redis` */
  flag: string;
  /** what it is, for the help */
  summary: string;
  /** of URLs that name it, `redis`, `rediss`; absent: none */
  schemes?: readonly string[];
}

/** A server that `dragstrip servers start` made, as recorded in `.dragstrip/servers/NAME.json`. */
export interface RunningServer {
  name: string;
  pid: number;
  /** start time of the process in clock ticks since boot (/proc/PID/stat, field 22): pids recur */
  startTicks: number;
  version: string;
  /** of a cluster: every process, in the order of its addresses; `pid` is the first of them */
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
  /** Debian packages that bring it, for messages and for fetch */
  packages: readonly string[];
  /** the programs without which it cannot start, by plain names */
  programs?: readonly string[];
  /** it can be started with TLS */
  tls?: boolean;
  /** servers that it goes on to: they are started before it */
  behind?: readonly string[];
  /** the binaries, from PATH or from what fetch unpacked; null where there are none */
  find(home: string): Promise<Binaries | null>;
  /** where no packages bring it: puts it into `root`, a folder that is there, and says what came */
  fetch?(context: {
    root: string;
    signal?: AbortSignal;
    onEvent?(text: string): void;
  }): Promise<string>;
  /** starts it on free loopback ports in a private folder; resolves when it answers */
  start(context: StartContext): Promise<RunningServer>;
  /** asks a server at an address in its own protocol; rejects E_TARGET where none answers */
  probe(address: Address, credentials: Credentials): Promise<ProbeReport>;
  /**
   * of a cluster: every node that it announces, the primaries first. A driver connects to these, so
   * each passes the target guard before the driver is opened
   */
  nodes?(address: Address, credentials: Credentials): Promise<Endpoint[]>;
}

export interface Binaries {
  /** path of each program by its plain name */
  programs: Record<string, string>;
  /** LD_LIBRARY_PATH and the like, for the child only */
  env: Record<string, string>;
  /** `path`: found on PATH; `fetched`: ours */
  source: 'path' | 'fetched';
}

export interface StartContext {
  home: string;
  binaries: Binaries;
  /** true: dies with this process, however that ends; false: stays until `servers stop` */
  owned: boolean;
  /** with TLS beside plain connections, and certificates of its own; see `tls` of the server */
  tls?: boolean;
  /** another than this process's, which is root then */
  user?: { uid: number; gid: number };
  /** where the servers of `behind` are, by name; absent: where they are known to be */
  behind?: Record<string, Address>;
  /** their credentials, by name */
  behindCredentials?: Record<string, Credentials>;
  signal?: AbortSignal;
}

export interface ProbeReport {
  version: string;
  /** settings that decide speed or durability, for the result */
  settings: Record<string, string>;
  /** of the server process where it is on this machine and known */
  pid: number | null;
}

export interface SeedContext extends ConnectionContext {
  dataset: Dataset;
  /** rows written so far; called at most ten times a second */
  onProgress?(rowsDone: number): void;
  /** `host:port` of servers off loopback that the user allows to be filled */
  allowTargets?: readonly string[];
  /** where to; absent: ROWS_NAMESPACE of lib/dataset.js */
  namespace?: Namespace;
}

export interface SeedReport {
  rows: number;
  /** false: the same dataset was there already, verified, and left as it was */
  written: boolean;
  /** rows compared in full after the load */
  sampled: number;
  /** of a cluster: rows on each primary, by its address, as it counts them */
  nodes?: Record<string, number>;
}

export interface LoaderDefinition {
  name: string;
  server: string;
  summary: string;
  /**
   * The dataset that the server holds; null where it holds none that is complete, also where the
   * namespace is taken (then `notOurs` says by what).
   */
  inspect(context: ConnectionContext & { namespace?: Namespace }): Promise<{
    dataset: DatasetOptions | null;
    notOurs: string | null;
  }>;
  /** fills, counts and samples; E_REFUSED where the place is not ours */
  seed(context: SeedContext): Promise<SeedReport>;
}
