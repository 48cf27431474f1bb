/**
 * The contracts between the layers: storages, servers, loaders, workloads and reports, and the data
 * exchanged between them. lib/result.js has the schema of result documents.
 */

import type { NamespaceNames } from './namespace-types.js';

/** Figures reported by another program. */
export interface ProgramFigures {
  operations: number;
  perSecond: number;
  p50Ns: number | null;
}

/** Another program that takes part in a race. */
export interface BoundProgram {
  /**
   * runs once, with this many operations, or its own number; null: it failed, and is not run again
   */
  run(requests?: number): Promise<ProgramFigures | null>;
  /** metrics of all its runs, for the rounds of the storages that it is compared with */
  metrics(): WorkloadMetrics;
}

/** Parameters of the rows; see lib/dataset.js for bounds. */
export interface DatasetOptions {
  rows: number;
  /** characters (ASCII, so also bytes) per value; with valueSizes the maximum */
  valueSize: number;
  /** a distribution of sizes, lib/value-sizes.js; absent: all values have valueSize */
  valueSizes?: string;
  /** 0 to 2^32 - 1 */
  seed: number;
}

export interface Dataset extends Readonly<DatasetOptions> {
  /** sizes of the values, if drawn */
  readonly minSize: number;
  readonly meanSize: number;
  /** characters of the value of row `id` */
  sizeOf(id: number): number;
  /** The complete value of row `id` (1 to rows), as a flat string. */
  value(id: number): string;
  /** Writes the value of row `id` at `offset`; returns the offset after it. No allocation. */
  write(id: number, target: Uint8Array, offset?: number): number;
  /**
   * Whether `text` has the length and the tag of row `id`; takes nanoseconds, and does not check
   * the whole value.
   */
  belongs(id: number, text: string): boolean;
  /** Whether `text` is the complete value of row `id`, or one written by a mix with its version. */
  matches(id: number, text: string): boolean;
}

/**
 * Address of a server: TCP, or a unix socket. Written `host:port`, `unix:/path` or a URL. `db`:
 * Redis' logical database, 0 if absent; `tls`: every connection is encrypted.
 */
export type Endpoint =
  | { host: string; port: number; path?: undefined; db?: number; tls?: TlsFiles }
  | { path: string; host?: undefined; port?: undefined; db?: number; tls?: undefined };

/** Paths of PEM files, read by each process separately; lib/tls.js. */
export interface TlsFiles {
  /** certificates of authorities; absent: Node's defaults */
  ca?: string;
  /** certificate of the client, and its private key */
  cert?: string;
  key?: string;
  /** expected name in the certificate; absent: the host */
  serverName?: string;
}

/** The endpoints of one server by name: `main` for most; `sql`, `read` and `write` for MariaDB. */
export type Address = Record<string, Endpoint>;

/** From the environment or a file, never from argv; not part of any output. */
export interface Credentials {
  user?: string;
  password?: string;
  /** HandlerSocket's plain secret, for the read and the write port */
  secret?: string;
  writeSecret?: string;
  /** the controller's token of a coordinator, which can give orders */
  controller?: string;
}

/**
 * Operations on rows. `add` inserts a new row, `del` removes one, `scan` reads adjacent ones,
 * `hash` writes and reads one as a hash of fields, `expire` inserts one with a time to live.
 */
export type RowOperation = 'get' | 'mget' | 'set' | 'add' | 'del' | 'scan' | 'hash' | 'expire';

/** Methods of a rows handle that send a request. */
export type RowMethod =
  | ('get' | 'mget' | 'set' | 'add' | 'del' | 'scan')
  | ('hset' | 'hget' | 'addFor');

/** Handles that a storage opens: the keys of `open` of its definition. */
export type HandleKind = 'rows' | 'insert' | 'lock' | 'command';

/** Needs of a workload; lib/capabilities.js derives the capabilities of a storage. */
export type Capability = RowOperation | Exclude<HandleKind, 'rows'>;

/**
 * How a driver delivers replies. `promise`: get(id) returns a promise. `callback`: get(id, done)
 * calls done(error, reply) once. `sync`: get(id) returns the reply itself (embedded stores).
 */
export type CallStyle = 'promise' | 'callback' | 'sync';

export interface Profile {
  /** one line for `dragstrip list` */
  summary: string;
  /** every driver option that differs from the driver's own default; stored in each result */
  options: Record<string, unknown>;
  /** default: promise */
  calls?: CallStyle;
  /** it also changes how rows are inserted; absent: a profile for reads only, except `default` */
  inserts?: boolean;
  /** uses the encrypted endpoint of the server; derived, see lib/tls-profile.js */
  tls?: boolean;
}

/** Argument of each function of `open`. */
export interface OpenContext {
  /** by endpoint name; empty for an embedded store */
  address: Address;
  credentials: Credentials;
  /** by endpoint name: endpoints of another server, such as a proxy */
  logins?: Readonly<Record<string, Credentials>>;
  profile: { name: string } & Profile;
  dataset: Dataset;
  /** a private folder for the file of an embedded store */
  folder: string;
  /** whether the workload calls set; a storage that opens read-only by default checks it */
  writes?: boolean;
  /** names of the workload's namespace: the only ones that a storage may use on a server */
  names: NamespaceNames;
  /** parameters of the variant */
  parameters?: Parameters;
  /** --timeout, for a driver whose own limit per request would be shorter */
  timeoutMs?: number;
}

export interface InsertContext extends OpenContext {
  /** number of connections; workers are numbered from 0 to connections - 1 */
  connections: number;
  /** pure: the number b of the row with key a */
  numberOf(a: number): number;
}

/** Parameters of a variant: part of the benchmark's id, passed to `prepare`. */
export type Parameters = Readonly<Record<string, string | number | boolean>>;

/** Findings of a workload in addition to its operations; stored with the round. */
export type WorkloadMetrics = Record<string, string | number | boolean | null | number[]>;

/** Result of any `open`: connected and ready. */
export interface Handle {
  /** closes the connection; requests in flight settle (resolve or reject), none stays pending */
  close(): Promise<void>;
}

/** Rows of the dataset: get, mget and set as listed in `rows` of the definition. */
export interface RowsHandle extends Handle {
  /** see CallStyle; a miss is undefined (after value()) */
  get(id: number, done?: (error: any, reply?: any) => void): any;
  /**
   * pure: the reply of get as a string, or undefined for a miss; absent: the reply is the value.
   * Called up to 64 replies later, so a reply must keep its data.
   */
  value?(reply: any): string | undefined;
  /** the values of `ids` (at least one, all different) in one request; same style as get */
  mget?(ids: readonly number[], done?: (error: any, reply?: any) => void): any;
  /**
   * pure: the reply of mget as values in the order of `ids`, null or undefined for a miss; absent:
   * the reply has that form
   */
  values?(reply: any, ids: readonly number[]): readonly (string | null | undefined)[];
  /** the style of mget, if it differs from get */
  mgetCalls?: CallStyle;
  /** overwrites the existing row `id` of the dataset; same style as get */
  set?(id: number, value: string, done?: (error: any, reply?: any) => void): any;
  /** pure: whether the reply of set confirms the write; absent: every reply does */
  stored?(reply: any): boolean;
  /** `add`: inserts the new row `id`; same style as get, like all that follow */
  add?(id: number, value: string, done?: (error: any, reply?: any) => void): any;
  /** pure: whether the reply of add or addFor confirms the insertion; absent: every reply does */
  added?(reply: any): boolean;
  /** `expire`: the same for `ttlMs` milliseconds, after which the row expires */
  addFor?(id: number, value: string, ttlMs: number, done?: (error: any, reply?: any) => void): any;
  /** `del` */
  del?(id: number, done?: (error: any, reply?: any) => void): any;
  /** pure: whether the reply of del confirms that the row existed; absent: every reply does */
  deleted?(reply: any): boolean;
  /** `scan`: rows `first` to `first` + `count` - 1, in order, in one request */
  scan?(first: number, count: number, done?: (error: any, reply?: any) => void): any;
  /** pure: the reply of scan as ids and values; absent: the reply has that form */
  scanned?(reply: any): readonly (readonly [number, string])[];
  /** `hash`: writes `fields` as f0, f1, … of the hash `id` */
  hset?(id: number, fields: readonly string[], done?: (error: any, reply?: any) => void): any;
  /** pure: whether the reply of hset confirms the write; absent: every reply does */
  hashed?(reply: any): boolean;
  /** `hash`: reads all fields */
  hget?(id: number, done?: (error: any, reply?: any) => void): any;
  /** pure: the reply of hget as fields by name, none for a miss; absent: the reply has that form */
  fields?(reply: any): Readonly<Record<string, unknown>>;
  /**
   * for a cluster client: redirections and retry errors of the cluster that it handled itself, by
   * kind, since it was opened; absent: the driver does not report them
   */
  redirects?(): Record<string, number>;
  /**
   * for a pool: how long requests waited for a connection since the last call; absent: no pool, or
   * the driver does not report it
   */
  poolWait?(): HistogramCounts;
  /** A timer would keep each request in memory for seconds after its reply. */
  holdsRequests?: boolean;
}

/** Histogram of times in ns, as encoded in messages between processes. */
export interface HistogramCounts {
  sparse: readonly number[];
  count: number;
  min: number;
  max: number;
  sum: number;
}

/** Inserts rows `(a, b)` of two numbers; b is `numberOf(a)` of the context. */
export interface Inserter extends Handle {
  /** removes every row; called before the clock starts */
  clear(): Promise<void>;
  /** every stored row, in any order; called after the clock stops */
  read(see: (a: number, b: number) => void): Promise<void>;
  /** number of rows written so far by the store's own count; null: it has none */
  writes?(): Promise<number | null>;
  /** the settings that determine when a row is durable, as reported by the store */
  durability(): Promise<string>;
  /**
   * by name of a strategy, or of shared operations of strategies: single, batch, atomic, rows, bulk
   */
  ways: Readonly<Record<string, InsertWay>>;
}

export interface InsertWay {
  /** pure: argument of send for the rows of keys `from` to `to` - 1 */
  build(from: number, to: number): any;
  /** sends one request over the connection of that worker; the style is `calls` */
  send(request: any, worker: number): any;
  /** pure: rows that the reply acknowledges; negative: number of rows refused because they exist */
  stored(reply: any): number;
  /** default: promise */
  calls?: CallStyle;
}

/** Locks of the kind that `parameters.handler` of the context names. */
export interface Locks extends Handle {
  /** locks one name or several, all or none; each call creates a new owner */
  mutex(
    names: readonly string[],
    options: { owner?: string; expireMs: number; blockMs: number },
  ): DistributedLock;
  /** a number on the same server, modified by separate commands */
  number: {
    set(name: string, value: number): Promise<unknown>;
    /** resolves to the new value */
    increment(name: string): Promise<number>;
    get(name: string): Promise<number | undefined>;
    remove(name: string): Promise<unknown>;
  };
}

/** See packages/mutex/mutex.js; other kinds of lock offer a subset. */
export interface DistributedLock {
  /** rejects with MUTEX_TIMEOUT after blockMs */
  lock(): Promise<void>;
  tryLock(): Promise<boolean>;
  /** whether it was still locked */
  unlock(): Promise<boolean>;
  refresh(): Promise<boolean>;
  owned(): Promise<boolean>;
}

/** A kind of lock on a storage. */
export interface LockHandler {
  summary: string;
  /** whether several names are locked all or none; otherwise the reason */
  several: true | string;
  /** every option that differs from its default, and the default that determines how it waits */
  options: Record<string, unknown>;
}

/** Connections for commands of any name. */
export interface CommandHandle extends Handle {
  /**
   * another connection to an endpoint of the address by its name; the caller closes it. login:
   * instead of the storage's
   */
  connect(endpoint: string, login?: Credentials): Promise<CommandConnection>;
}

/** A connection for commands of any name. */
export interface CommandConnection {
  /** replies as text, numbers, arrays and null; rejects error replies */
  send(words: readonly string[]): Promise<any>;
  /** form `inline`: a command as typed at a terminal, without lengths; replies as send */
  inline?(line: string): Promise<any>;
  /** resolves when it is closed on this side */
  close(): Promise<void>;
}

export interface Unavailable {
  reason: string;
  hint: string;
}

/** A contender of a run: a storage, or an entry of the workload's `contenders`. */
export interface Contender {
  name: string;
  summary: string;
  /** npm name of the driver; null if it is built into Node or into Dragstrip */
  package: string | null;
  /** name of a server definition; null for an embedded store */
  server: string | null;
  /** its protocol, if its server has several: `handlersocket`, `mysql`; default: `server` */
  protocol?: string;
  /** its driver encrypts connections to an endpoint with `tls` */
  tls?: boolean;
  profiles: Record<string, Profile>;
  /**
   * an alternative to a default driver: it runs only if named, or with `all`. Fewer contenders have
   * narrower intervals in the same time.
   */
  alternative?: boolean;
  /**
   * approximate duration in ns of a burst of this many requests, if it grows faster than their
   * number; a long one is announced before the run
   */
  burstNs?(operations: number): number;
  /** the runtime other than Node that it requires: it runs with --runtime */
  runtime?: 'bun' | 'deno';
  /**
   * reason why it cannot run here (driver not built, Node too old), or null; absent: only the
   * package is checked
   */
  unavailable?(profile: string): Unavailable | null | Promise<Unavailable | null>;
  /**
   * embedded stores: fills `folder` with the dataset, once; idempotent, only Dragstrip's own files
   */
  fill?(context: { dataset: Dataset; folder: string; signal?: AbortSignal }): Promise<void>;
}

/**
 * The keys of `open` declare the capabilities of a storage; each has a field with details, known
 * without opening anything: `rows`, `inserts`, `locks`, `commands`.
 */
export interface StorageDefinition extends Contender {
  open: {
    rows?(context: OpenContext): Promise<RowsHandle>;
    insert?(context: InsertContext): Promise<Inserter>;
    lock?(context: OpenContext): Promise<Locks>;
    command?(context: OpenContext): Promise<CommandHandle>;
  };
  /** with `open.rows`: the operations of its handle */
  rows?: readonly RowOperation[];
  /** with `open.insert`: strategies of `dragstrip insert` by name, each described in one line */
  inserts?: Readonly<Record<string, string>>;
  /** with `open.lock`: kinds of lock by name */
  locks?: Readonly<Record<string, LockHandler>>;
  /** with `open.command`: how its connections can send a command */
  commands?: readonly ('words' | 'inline')[];
}

/**
 * Argument of defineStorage. If `open` is a function, it means `{ rows: open }`, and `rows`
 * defaults to `['get']`.
 */
export type StorageForm = Omit<StorageDefinition, 'open'> & {
  open: StorageDefinition['open'] | NonNullable<StorageDefinition['open']['rows']>;
};

export type * from './namespace-types.js';
export type * from './server-types.js';
export type * from './workload-types.js';

export interface ReportOptions {
  /** names of the documents, if there are several */
  comparison?: any;
  /** columns of the terminal; unlimited if absent */
  width?: number;
  /** explain each column and mark */
  explain?: boolean;
  /** ANSI colours */
  color?: boolean;
}

export interface ReportDefinition {
  name: string;
  summary: string;
  /** pure: the same documents and options produce the same text */
  render(
    documents: readonly import('./report-types.js').Document[],
    options?: ReportOptions,
  ): string;
}
