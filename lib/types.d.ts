/**
 * The contracts between the rooms: what a storage, a server, a loader, a workload and a report
 * are, and what travels between them. Result documents have their schema in lib/result.js.
 */

import type { NamespaceNames } from './namespace-types.js';

/** What another program says of what it did. */
export interface ProgramFigures {
  operations: number;
  perSecond: number;
  p50Ns: number | null;
}

/** Another program that takes part beside the storages. */
export interface BoundProgram {
  /** once, with so many operations, or its own number; null: it failed, and is not run again */
  run(requests?: number): Promise<ProgramFigures | null>;
  /** of all its runs, for the rounds of the storages beside it */
  metrics(): WorkloadMetrics;
}

/** How the rows are chosen; see lib/dataset.js for bounds. */
export interface DatasetOptions {
  rows: number;
  /** characters (ASCII, so also bytes) a value has; with valueSizes the most that one has */
  valueSize: number;
  /** a distribution of sizes, lib/value-sizes.js; absent: all values have valueSize */
  valueSizes?: string;
  /** 0 to 2^32 - 1 */
  seed: number;
}

export interface Dataset extends Readonly<DatasetOptions> {
  /** of the values: the size of each where it is fixed */
  readonly minSize: number;
  readonly meanSize: number;
  /** characters of the value of row `id` */
  sizeOf(id: number): number;
  /** The whole value of row `id` (1 to rows), as a flat string. */
  value(id: number): string;
  /** Writes the value of row `id` at `offset`; gives the offset behind it. No allocation. */
  write(id: number, target: Uint8Array, offset?: number): number;
  /**
   * Whether `text` has the length and the tag of row `id`: some nanoseconds, not the whole value.
   */
  belongs(id: number, text: string): boolean;
  /** Whether `text` is the whole value of row `id`, or one that a mix wrote with its version. */
  matches(id: number, text: string): boolean;
}

/**
 * Where a server listens: TCP, or a unix socket. Written `host:port`, `unix:/path` or a URL. `db`:
 * Redis' logical database, 0 if absent; `tls`: every connection is encrypted.
 */
export type Endpoint =
  | { host: string; port: number; path?: undefined; db?: number; tls?: TlsFiles }
  | { path: string; host?: undefined; port?: undefined; db?: number; tls?: undefined };

/** Paths of PEM files, read by each process for itself; lib/tls.js. */
export interface TlsFiles {
  /** certificates of authorities; absent: those of Node */
  ca?: string;
  /** of the client, and its private key */
  cert?: string;
  key?: string;
  /** the name that the certificate must have; absent: the host */
  serverName?: string;
}

/** The endpoints of one server by name: `main` for most; `sql`, `read` and `write` for MariaDB. */
export type Address = Record<string, Endpoint>;

/** From the environment or a file, never from argv, in no output. */
export interface Credentials {
  user?: string;
  password?: string;
  /** HandlerSocket's plain secret, of the read and of the write port */
  secret?: string;
  writeSecret?: string;
  /** the controller's token of a coordinator, which can give orders */
  controller?: string;
}

/**
 * Operations on rows. `add` inserts one that is not there, `del` removes one, `scan` reads adjacent
 * ones, `hash` writes and reads one as a hash of fields, `expire` inserts one with a time to live.
 */
export type RowOperation = 'get' | 'mget' | 'set' | 'add' | 'del' | 'scan' | 'hash' | 'expire';

/** Methods of a rows handle that send a request. */
export type RowMethod =
  | ('get' | 'mget' | 'set' | 'add' | 'del' | 'scan')
  | ('hset' | 'hget' | 'addFor');

/** What a storage opens: the keys of `open` of its definition. */
export type HandleKind = 'rows' | 'insert' | 'lock' | 'command';

/** What a workload may need; lib/capabilities.js derives those of a storage. */
export type Capability = RowOperation | Exclude<HandleKind, 'rows'>;

/**
 * How a driver gives its replies. `promise`: get(id) gives a promise. `callback`: get(id, done)
 * calls done(error, reply) once. `sync`: get(id) gives the reply itself (embedded stores).
 */
export type CallStyle = 'promise' | 'callback' | 'sync';

export interface Profile {
  /** one line for `dragstrip list` */
  summary: string;
  /** every driver option that differs from the driver's own default; stored in each result */
  options: Record<string, unknown>;
  /** default: promise */
  calls?: CallStyle;
  /** it changes how rows are inserted, too; absent: a profile of reads alone, except `default` */
  inserts?: boolean;
  /** at the encrypted endpoint of the server; derived, see lib/tls-profile.js */
  tls?: boolean;
}

/** What each function of `open` is given. */
export interface OpenContext {
  /** by endpoint name; empty for an embedded store */
  address: Address;
  credentials: Credentials;
  profile: { name: string } & Profile;
  dataset: Dataset;
  /** a folder of our own where an embedded store keeps its file */
  folder: string;
  /** whether the workload calls set: a storage that opens read-only by default checks it */
  writes?: boolean;
  /** of the workload's namespace: the only names that a storage may use on a server */
  names: NamespaceNames;
  /** of the variant */
  parameters?: Parameters;
}

export interface InsertContext extends OpenContext {
  /** to open; workers are numbered from 0 to connections - 1 */
  connections: number;
  /** pure: the number b of the row with key a */
  numberOf(a: number): number;
}

/** What makes variants of a workload different: in the benchmark's id, and to its `prepare`. */
export type Parameters = Readonly<Record<string, string | number | boolean>>;

/** What a workload found out beside its operations; in the result with the round. */
export type WorkloadMetrics = Record<string, string | number | boolean | null | number[]>;

/** What any `open` resolves to: connected and ready. */
export interface Handle {
  /** closes the connection; requests in flight settle (resolve or reject), none stays pending */
  close(): Promise<void>;
}

/** Rows of the dataset: get, mget and set as far as `rows` of the definition names them. */
export interface RowsHandle extends Handle {
  /** see CallStyle; a miss is undefined (after value()) */
  get(id: number, done?: (error: any, reply?: any) => void): any;
  /**
   * pure: the reply of get as a string, or undefined for a miss; absent: the reply is the value.
   * Called up to 64 replies after it came: a reply must keep what it has.
   */
  value?(reply: any): string | undefined;
  /** the values of `ids` (at least one, each once) in one request; same style as get */
  mget?(ids: readonly number[], done?: (error: any, reply?: any) => void): any;
  /** pure: the reply of mget as values in the order of `ids`, null or undefined for a miss; absent:
   *  the reply is that */
  values?(reply: any, ids: readonly number[]): readonly (string | null | undefined)[];
  /** the style of mget, where it is not that of get */
  mgetCalls?: CallStyle;
  /** overwrites the existing row `id` of the dataset; same style as get */
  set?(id: number, value: string, done?: (error: any, reply?: any) => void): any;
  /** pure: whether the reply of set says that the row was written; absent: every reply does */
  stored?(reply: any): boolean;
  /** `add`: inserts row `id`, which is not there; same style as get, like all that follow */
  add?(id: number, value: string, done?: (error: any, reply?: any) => void): any;
  /** pure: whether the reply of add or addFor says that it was; absent: every reply does */
  added?(reply: any): boolean;
  /** `expire`: the same for `ttlMs` milliseconds, after which the row is gone */
  addFor?(id: number, value: string, ttlMs: number, done?: (error: any, reply?: any) => void): any;
  /** `del` */
  del?(id: number, done?: (error: any, reply?: any) => void): any;
  /** pure: whether the reply of del says that the row was there; absent: every reply does */
  deleted?(reply: any): boolean;
  /** `scan`: rows `first` to `first` + `count` - 1, in their order, in one request */
  scan?(first: number, count: number, done?: (error: any, reply?: any) => void): any;
  /** pure: the reply of scan as ids and values; absent: the reply is that */
  scanned?(reply: any): readonly (readonly [number, string])[];
  /** `hash`: writes `fields` as f0, f1, … of the hash `id` */
  hset?(id: number, fields: readonly string[], done?: (error: any, reply?: any) => void): any;
  /** pure: whether the reply of hset says that it was written; absent: every reply does */
  hashed?(reply: any): boolean;
  /** `hash`: reads all fields */
  hget?(id: number, done?: (error: any, reply?: any) => void): any;
  /** pure: the reply of hget as fields by name, none for a miss; absent: the reply is that */
  fields?(reply: any): Readonly<Record<string, unknown>>;
  /**
   * of a cluster client: errors by which the cluster sent it elsewhere or made it wait, and that it
   * handled itself, by kind, since it was opened; absent: the driver does not tell
   */
  redirects?(): Record<string, number>;
  /**
   * of a pool: how long requests waited for a connection since the last call; absent: no pool, or
   * the driver does not show it
   */
  poolWait?(): HistogramCounts;
}

/** Of a histogram of times in ns, as messages between processes have it. */
export interface HistogramCounts {
  sparse: readonly number[];
  count: number;
  min: number;
  max: number;
  sum: number;
}

/** Inserts rows `(a, b)` of two numbers; b is `numberOf(a)` of the context. */
export interface Inserter extends Handle {
  /** removes every row; before the clock starts */
  clear(): Promise<void>;
  /** every row that is stored, in any order; after the clock */
  read(see: (a: number, b: number) => void): Promise<void>;
  /** rows that the store itself counts as written until now; null: it does not */
  writes?(): Promise<number | null>;
  /** the settings that decide when a row is safe, as the store says them */
  durability(): Promise<string>;
  /** by name of a strategy, or of what strategies share: single, batch, atomic, rows, bulk */
  ways: Readonly<Record<string, InsertWay>>;
}

export interface InsertWay {
  /** pure: what send takes for the rows of keys `from` to `to` - 1 */
  build(from: number, to: number): any;
  /** sends one request, by the connection of that worker; the style is `calls` */
  send(request: any, worker: number): any;
  /** pure: rows that the reply acknowledges; negative: so many were refused, being there already */
  stored(reply: any): number;
  /** default: promise */
  calls?: CallStyle;
}

/** Locks of the kind that `parameters.handler` of the context names. */
export interface Locks extends Handle {
  /** over one name or several, all or none; each call makes a new owner */
  mutex(
    names: readonly string[],
    options: { owner?: string; expireMs: number; blockMs: number },
  ): DistributedLock;
  /** a number in the same server, by separate commands */
  number: {
    set(name: string, value: number): Promise<unknown>;
    /** gives the new value */
    increment(name: string): Promise<number>;
    get(name: string): Promise<number | undefined>;
    remove(name: string): Promise<unknown>;
  };
}

/** See packages/mutex/mutex.js; other kinds of lock offer what they can. */
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
  /** whether several names are locked all or none; else why not */
  several: true | string;
  /** every option that is not its own default, and the default that decides how it waits */
  options: Record<string, unknown>;
}

/** Connections for commands of any name. */
export interface CommandHandle extends Handle {
  /** another connection, to an endpoint of the address by its name; who connects closes it */
  connect(endpoint: string): Promise<CommandConnection>;
}

/** A connection for commands of any name. */
export interface CommandConnection {
  /** replies as text, numbers, arrays and null; rejects what the server calls an error */
  send(words: readonly string[]): Promise<any>;
  /**
   * form `inline`: a command as a person writes it at a terminal, without lengths; answers as send
   */
  inline?(line: string): Promise<any>;
  /** resolves when it is closed on this side */
  close(): Promise<void>;
}

export interface Unavailable {
  reason: string;
  hint: string;
}

/** What takes part in a run: a storage, or what a workload brings as `contenders`. */
export interface Contender {
  name: string;
  summary: string;
  /** npm name of the driver; null for what is built into Node or into Dragstrip */
  package: string | null;
  /** name of a server definition; null for an embedded store */
  server: string | null;
  /**
   * what it speaks, where its server speaks several: `handlersocket`, `mysql`; default: `server`
   */
  protocol?: string;
  /** its driver encrypts connections to an endpoint with `tls` */
  tls?: boolean;
  profiles: Record<string, Profile>;
  /**
   * another driver for what a default one stands for: it runs where it is named, or with `all`.
   * Fewer contenders have narrower intervals in the same time.
   */
  alternative?: boolean;
  /** where it exists only in another runtime than Node: it runs with --runtime */
  runtime?: 'bun' | 'deno';
  /** why it cannot run here (driver not built, Node too old), or null; absent: only the package */
  unavailable?(profile: string): Unavailable | null | Promise<Unavailable | null>;
  /** embedded stores: fills `folder` with the dataset, once; idempotent, only our own files */
  fill?(context: { dataset: Dataset; folder: string; signal?: AbortSignal }): Promise<void>;
}

/**
 * What a storage can do, it declares by the keys of `open`; each has a field that says more, known
 * without opening anything: `rows`, `inserts`, `locks`, `commands`.
 */
export interface StorageDefinition extends Contender {
  open: {
    rows?(context: OpenContext): Promise<RowsHandle>;
    insert?(context: InsertContext): Promise<Inserter>;
    lock?(context: OpenContext): Promise<Locks>;
    command?(context: OpenContext): Promise<CommandHandle>;
  };
  /** with `open.rows`: the operations that its handle has */
  rows?: readonly RowOperation[];
  /**
   * with `open.insert`: strategies of `dragstrip insert` by name, and how each is done, one line
   */
  inserts?: Readonly<Record<string, string>>;
  /** with `open.lock`: kinds of lock by name */
  locks?: Readonly<Record<string, LockHandler>>;
  /** with `open.command`: how its connections can send a command */
  commands?: readonly ('words' | 'inline')[];
}

/**
 * As defineStorage takes it. If `open` is a function, it means `{ rows: open }`, and `rows` is
 * `['get']` where it is not given.
 */
export type StorageForm = Omit<StorageDefinition, 'open'> & {
  open: StorageDefinition['open'] | NonNullable<StorageDefinition['open']['rows']>;
};

export type * from './namespace-types.js';
export type * from './server-types.js';
export type * from './workload-types.js';

export interface ReportOptions {
  /** of the documents, where there are several */
  comparison?: any;
  /** columns of the terminal; unlimited if absent */
  width?: number;
  /** with each column and mark explained */
  explain?: boolean;
  /** ANSI colours */
  color?: boolean;
}

export interface ReportDefinition {
  name: string;
  summary: string;
  /** pure: the same documents and options give the same text */
  render(
    documents: readonly import('./report-types.js').Document[],
    options?: ReportOptions,
  ): string;
}
