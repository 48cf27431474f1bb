/** Types of workloads, and their interface to the loops; a part of lib/types.d.ts. */

import type {
  Address,
  BoundProgram,
  CallStyle,
  Capability,
  Contender,
  Credentials,
  Dataset,
  Handle,
  Namespace,
  NamespaceNames,
  Parameters,
  StorageDefinition,
  Unavailable,
  WorkloadMetrics,
} from './types.js';

type Result = import('./result.js').Result;
type Round = import('./result.js').Round;
type Warning = import('./result.js').Warning;

/** Outcomes of an operation, a closed set; the order is that of OUTCOMES in lib/outcome.js. */
export type Outcome = 'ok' | 'miss' | 'mismatch' | 'error' | 'timeout' | 'dropped' | 'unsent';

export type LoadKind = 'sync' | 'window' | 'burst' | 'rate';

/** Number of replies that were verified, and of their bytes. */
export interface Compared {
  replies: number;
  bytes: number;
  /** bytes of these replies in total; absent: not counted */
  length?: number;
  /** bytes compared in full; absent: not counted */
  whole?: number;
  /** for a workload that writes versions: replies older than the last acknowledged write */
  stale?: number;
}

/** The functions of a workload that the loop calls, bound to a handle. */
export interface BoundWorkload {
  /** issues operation `index`; the style is that of the profile */
  op(index: number, done?: (error: any, reply?: any) => void): any;
  /** outcome code of a reply: 0 ok, 1 miss, 2 mismatch; `whole` compares every byte */
  verify(index: number, reply: any, whole: boolean): number;
  /** incremented by verify; absent: not counted */
  compared?: Compared;
  /**
   * approximate bytes of a reply; if given, a closed loop may verify some dozen replies later, in
   * order
   */
  replyBytes?: number;
  /** for a mix of kinds of operation: their names, and the kind of operation `index` */
  kinds?: { names: readonly string[]; of(index: number): number };
  /** for arrivals `trace`: when each operation is due, after the start, ascending */
  dueNs?: Float64Array;
  /** the style of op, if it differs from the profile */
  calls?: CallStyle;
  /** for operations analysed individually: series of them, in the order of their indices */
  series?: readonly Series[];
  /** called once per process, before the warm-up: creates data that all of its segments need */
  begin?(): Promise<void>;
  /**
   * called once per process, before it closes: verifies the data. Rejects with the code E_DATA if
   * it is wrong, which fails the round.
   */
  end?(): Promise<WorkloadMetrics | undefined>;
  /**
   * called before each segment, outside its clock: resets changes of the previous one. Operations 0
   * to `operations` - 1 follow; Infinity if their number is unknown
   */
  before?(operations: number): Promise<void>;
  /** called after each segment, outside its clock; rejects and returns metrics like `end` */
  after?(): Promise<WorkloadMetrics | undefined>;
  /** called after the warm-up: resets the metrics */
  restart?(): void;
  /** runs another program, in a separate slot */
  program?: BoundProgram;
  /**
   * known after `begin`: the server will refuse every operation, which is not a failure of the run
   */
  refused?(): boolean;
}

/** Operations `from` to `to` - 1 of a load, alike, with a constant number in flight. */
export interface Series {
  /** keys of each operation */
  keys: number;
  /** it is reported, but not counted */
  warmup: boolean;
  from: number;
  to: number;
  /** keys by operation, if they differ */
  keysOf?: readonly number[];
}

/** Origin of a handle, with which another process or program can open the same. */
export interface Origin {
  /** name of the storage, or path of its file */
  storage: string;
  profile: string;
  address: Address;
  credentials: Credentials;
  /** by endpoint name: endpoints of another server, such as a proxy */
  logins: Readonly<Record<string, Credentials>>;
  parameters: Parameters;
  names: NamespaceNames;
}

/** Data on a server that Dragstrip did not write and does not change. */
export interface OwnData {
  /** a sample of keys, each with a string value when it was drawn */
  keys: readonly (string | number)[];
  /** reads values over a connection that is not the driver's; undefined: missing, or not UTF-8 */
  read(
    keys: readonly (string | number)[],
    onValue: (index: number, text: string | undefined) => void,
  ): Promise<void>;
}

/** Draws keys and similar data, before the clock starts. `H`: the handle that its needs open. */
export type Prepare<H = any> = (context: {
  dataset: Dataset;
  seed: number;
  /** in slices: index of the round, so that constant work can be done only in the first one */
  round?: number;
  ops: number;
  /** parameters of the variant */
  options: Record<string, unknown>;
  /** for a workload that separates phases because it changes stored data */
  phase?: 'measure' | 'warmup' | 'check';
  /** nanoseconds since an arbitrary moment, for times measured by the workload */
  clock?: { now(): number };
  /** source of the handle's rows */
  contender?: Contender;
  /** style of the handle */
  origin?: Origin;
  /** keys of the user that replace the dataset, with --read-only */
  ownData?: OwnData;
  /** slot: in slices; share: index among the processes that share a load */
  slot?: Slot;
  share?: number;
}) => (handle: H, calls?: CallStyle) => BoundWorkload;

/** A part of a benchmark: operations of a number of keys. */
export interface Part {
  keys: number;
  /** it is reported, but not counted */
  warmup: boolean;
}

/** The position of a variant in a process, among all that run side by side. */
export interface Slot {
  /** a unique number */
  at: number;
  /** it belongs to the second copy of a contender */
  isCopy: boolean;
  /** another program runs here, see BoundWorkload.program */
  isProgram?: boolean;
}

/** A storage that a run names, or uses by default. */
export interface ChosenStorage {
  /** text as written */
  text: string;
  profile: string;
  /** null: all of them, or all profiles of one */
  definition: StorageDefinition | null;
}

/** Input of `plan` in addition to the options. */
export interface PlanContext {
  /** name of one of the workload's tests */
  test?: string;
  storages: readonly ChosenStorage[];
  /** loads requested by a program */
  loads?: readonly LoadOption[];
  /** whether the run names the workload */
  isNamed?: boolean;
  /** by option name */
  addresses?: Readonly<Record<string, string>>;
}

/** A load as requested; engine/loads.js has its bounds and defaults. */
export interface LoadOption {
  kind: LoadKind;
  inFlight?: number;
  operations?: number;
  durationMs?: number;
  rate?: number;
  arrivals?: 'constant' | 'poisson' | 'trace';
  maxInFlight?: number;
  onOutage?: 'stop' | 'continue';
  processes?: number;
  /** number of connections for the requests in flight */
  connections?: number;
  /** characters per value, of rows created for this run */
  valueSize?: number;
  /** for a sliceable workload: reason why this load cannot be sliced; absent: it can */
  whole?: string;
}

/** Pure: the default loads of a run. In blocks, without an amount. */
export type UsualLoads = (options: Record<string, any>) => LoadOption[];

/** Plan that a workload derives from its options. */
export interface WorkloadPlan {
  /** benchmarks; absent: one for each storage and load */
  variants?: { parameters: Parameters; loads?: LoadOption[]; storages?: string[] }[];
  /** loads if there are no variants; absent: those requested by a program */
  loads?: LoadOption[];
  /** other values for the options of every run */
  shared?: Record<string, unknown>;
  workload?: {
    /** absent: the workload itself */
    workload?: string;
    /** benchmarks of each workload, if there are several */
    workloads?: string[];
    /** stored in the result, and passed to `prepare` */
    workloadOptions?: Record<string, unknown>;
  };
}

/** Context of a run for the hooks of the command line. */
export interface ConsoleContext {
  test?: string;
  /** parsed options */
  options: Record<string, any>;
  quiet: boolean;
}

/** Input of legacy output: the events of a run, see engine/runner.js. */
export type ConsoleEvent =
  | { type: 'planned'; result: Result }
  | { type: 'held'; rows: number }
  | { type: 'removed'; rows: number; left: readonly unknown[] }
  | { type: 'benchmark-start'; benchmark: Result['benchmarks'][number] }
  | { type: 'benchmark-end'; benchmark: Result['benchmarks'][number]; round: Round; result: Result }
  | { type: 'filling' | 'waiting' | 'progress' | 'finished' }
  | { type: 'comparison' | 'round-end' };

/** A line for the standard output, or for the standard error. */
export type ConsoleLine = string | { error: string };

/** Terminal output around the tables of a result. */
export interface ConsoleOutput {
  before?: string;
  /** file of the tables; absent: the standard output */
  tables?: 'error' | 'none';
  after?: string;
}

/** A module of a workload with optional functions around its runs. */
export interface RunHooks {
  /** pure: option values, as text, from the variables of an original program */
  fromEnvironment?(env: NodeJS.ProcessEnv): Readonly<Record<string, string>>;
  /** called before the run by the command line; whatever it starts is ended after the run */
  setUp?(context: SetUpContext): Promise<SetUp | undefined>;
  /** the lines of an original program during the run; called with each event of the run */
  legacyLines?(context: ConsoleContext): (event: ConsoleEvent) => readonly ConsoleLine[];
  /** name of a benchmark during the run; absent: its storage, parameters and load */
  nameOf?(benchmark: Result['benchmarks'][number]): string;
  /** closing output of the command line */
  output?(result: Result, context: ConsoleContext): ConsoleOutput;
  /** exit status of a result, if it differs from `usual` */
  status?(result: Result, usual: (result: Result) => number, context: ConsoleContext): number;
  /** pure: notes on a result */
  warnings?(result: Result): readonly Warning[];
}

export interface SetUpContext extends ConsoleContext {
  env: NodeJS.ProcessEnv;
  /** options of the run */
  plan: {
    readonly addresses: Readonly<Record<string, string>>;
    readonly workloadOptions: Readonly<Record<string, unknown>>;
  };
  servers: SetUpServers;
}

/** Changes to the run by a set-up. */
export interface SetUp {
  warnings?: readonly Warning[];
  /** instead of those of the plan */
  addresses?: Readonly<Record<string, string>>;
  workloadOptions?: Readonly<Record<string, unknown>>;
}

/** Servers and programs for a set-up; implemented in cli/set-up-servers.js. */
export interface SetUpServers {
  /**
   * fetches and starts them for this run only; unavailable ones are reported and left out. guest:
   * for Redis, which excludes running servers
   */
  start(names: readonly string[], guest?: import('./server-types.js').Guest): Promise<void>;
  resolve(name: string): Promise<{
    address: Address;
    credentials: Credentials;
    /** source of each: a variable, or the path of a file */
    credentialVariables: Readonly<Record<string, string>>;
  }>;
  /** throws E_REFUSED if it is on another machine and not allowed, E_TARGET without a reply */
  requireAnswer(name: string, what: string): Promise<void>;
  /** a program included with a server; null: not available */
  findProgram(server: string, name: string): Promise<FoundProgram | null>;
  /** throws E_USAGE */
  checkProxy(command: string): void;
  /**
   * the user's proxy in front of a server, for this run; returns the addresses including its own
   */
  startProxy(command: string, server: string): Promise<Record<string, string>>;
}

export interface FoundProgram {
  program: string;
  env: Record<string, string>;
  /** version in its output; form: the first group is the version */
  version(args: readonly string[], form: RegExp): Promise<string>;
}

/** An entry of `workloads/index.js`: known without loading the workload. */
export interface WorkloadAbout {
  summary: string;
  /** `dragstrip NAME`; absent: only `dragstrip run --workload NAME` */
  isCommand?: boolean;
  /** names of its presets; those that are commands have a line for the help */
  presets?: Readonly<Record<string, string | null>>;
  load(): Promise<{ workload: WorkloadDefinition }>;
  report(): Promise<{ report: import('./report-types.js').ReportSpec }>;
}

/**
 * How a metric is merged over several shares of a load: `one` is the same in each of them, `list`
 * joins lists.
 */
export type MetricRule = 'sum' | 'max' | 'min' | 'one' | 'list';

export interface WorkloadDefinition {
  name: string;
  /** one line for the help; built-in workloads have it in `workloads/index.js` */
  summary?: string;
  /** needs of one kind of handle; empty if the workload supplies its contenders */
  needs: readonly Capability[];
  /**
   * data that it owns on servers, created and removed around a run; absent: the rows of the race
   */
  namespace?: Namespace;
  /** its own options, see lib/options.js: for the parser, help, README, defaults and programs */
  options?: import('./options.js').OptionTable;
  /**
   * other defaults, or more (`{ help, default }`), of the options of every run and of loads; null:
   * no effect here
   */
  shared?: Readonly<Record<string, unknown>>;
  /**
   * default load, if no option of a load (--rate, --load, --ramp, --find-max) sets one; true: a
   * window. Absent: true without a `plan`; with a `plan`, it accepts no such options
   */
  loads?: UsualLoads | true;
  /**
   * it can be measured in short slices: operations are alike, or made so by `before` of the bound
   * workload. `default`: slices are used if several rounds are requested without an amount
   */
  slices?: boolean | 'default';
  /**
   * pure: parts of a benchmark that are sliced separately; `prepare` gets one as `part` of its
   * options, a round has a series for each
   */
  parts?(workloadOptions: Record<string, unknown>): readonly Part[];
  /**
   * in slices: another program that runs in the same blocks, see BoundWorkload: its name, or null,
   * and the metric of the storages' rounds that is its speed
   */
  program?: { name(workloadOptions: Record<string, any>): string | null; perSecond: string };
  /** pure, in slices: variants with the same text share a handle; absent: each has its own */
  shares?(parameters: Parameters): string;
  /** its result is always stored, with a page, and the terminal shows a live view */
  isRace?: boolean;
  /** the same workload under another name, with other fields: `race`, `ycsb-a` */
  presets?: Readonly<Record<string, Partial<WorkloadDefinition>>>;
  /** name of this preset; set by the registry */
  preset?: string;
  /** its tests, each with a line: `dragstrip mget scatter`; the key '': without a name */
  tests?: Readonly<Record<string, string>>;
  /** pure: storage files of the user that its own options name, for `plan` */
  filesIn?(options: Record<string, any>): readonly string[];
  /** pure: plan of the measurements. Absent: its options are for `prepare`, the loads as given */
  plan?(options: Record<string, any>, context: PlanContext): WorkloadPlan;
  /** contenders that replace storages */
  contenders?: Contenders;
  /** pure: additions to the context of a storage's `open`, see InsertContext */
  openWith?(parameters: Parameters, dataset: Dataset): Record<string, unknown>;
  /** hooks around a run, in the parent process: loaded only there */
  runHooks?(): Promise<RunHooks>;
  /**
   * minimum operations that a server executes per replied operation: fewer are an error of the
   * storage. Absent: unknown
   */
  serverOperations?: number;
  /** rules by metric of a round. Processes can share a load only if each metric has one */
  metricRules?: Readonly<Record<string, MetricRule>>;
  prepare: Prepare;
  /** reader of some rows before anything is measured; absent: prepare; false: none */
  check?: Prepare | false;
  /**
   * whether a variant exists for a storage; false: no such benchmark; a reason: it is skipped.
   * `reach`: addresses of its server, and of further ones
   */
  offers?(
    definition: StorageDefinition,
    parameters: Parameters,
    reach?: { address: Address; others: Record<string, Address> },
  ): boolean | Unavailable;
  /** pure: further servers that a variant needs, for example a proxy */
  servers?(parameters: Parameters): readonly string[];
  /** pure: the address that the storage opens, if it is not its server's */
  route?(parameters: Parameters, address: Address, others: Record<string, Address>): Address;
}

/** Contenders supplied by a workload, by name or path of a file; loaded when needed. */
export interface Contenders {
  names(): readonly string[];
  load(name: string): Promise<OwnContender>;
}

export interface OwnContender extends Contender {
  open(context: { parameters: Parameters }): Promise<Handle>;
}
