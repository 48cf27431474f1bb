/** What a workload is, and what the loops make of it; a part of lib/types.d.ts. */

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

/** How many replies were compared with what they must be, and how many of their bytes. */
export interface Compared {
  replies: number;
  bytes: number;
  /** of a workload that writes versions: replies older than the last acknowledged write */
  stale?: number;
}

/** What a workload makes of a handle: the two functions that the loop calls. */
export interface BoundWorkload {
  /** issues operation `index`; the style is that of the profile */
  op(index: number, done?: (error: any, reply?: any) => void): any;
  /** outcome code of a reply: 0 ok, 1 miss, 2 mismatch; `whole` compares every byte */
  verify(index: number, reply: any, whole: boolean): number;
  /** counted up by verify; absent: not counted */
  compared?: Compared;
  /** of a reply, about; where given, a closed loop may verify some dozen replies later, in order */
  replyBytes?: number;
  /** where it mixes kinds of operation: their names, and which one operation `index` is */
  kinds?: { names: readonly string[]; of(index: number): number };
  /** of arrivals `trace`: when each operation is due, after the start, not decreasing */
  dueNs?: Float64Array;
  /** the style of op, where it is not that of the profile */
  calls?: CallStyle;
  /** where each operation is looked at by itself: series of them, in the order of their indices */
  series?: readonly Series[];
  /** once per process, before the warm-up: data that all of its segments need */
  begin?(): Promise<void>;
  /**
   * once per process, before it closes: verifies the data. Rejects with the code E_DATA where it is
   * wrong: the round has failed then.
   */
  end?(): Promise<WorkloadMetrics | undefined>;
  /**
   * before each segment, outside of its clock: what the one before has changed. Operations 0 to
   * `operations` - 1 follow; Infinity where their number is not known
   */
  before?(operations: number): Promise<void>;
  /** after each segment, outside of its clock; rejects and gives metrics as `end` does */
  after?(): Promise<WorkloadMetrics | undefined>;
  /** the warm-up is over: metrics start anew */
  restart?(): void;
  /** in a slot of its own: another program beside the storages */
  program?: BoundProgram;
  /** known after `begin`: every operation will be refused, which is no fault of the run */
  refused?(): boolean;
}

/** Operations `from` to `to` - 1 of a load, alike, with as many in flight from end to end. */
export interface Series {
  /** keys of each operation */
  keys: number;
  /** it is reported, and not counted among the others */
  warmup: boolean;
  from: number;
  to: number;
  /** keys by operation, where they differ */
  keysOf?: readonly number[];
}

/** What another process, or another program, needs in order to open the same. */
export interface Origin {
  /** name of the storage, or path of its file */
  storage: string;
  profile: string;
  address: Address;
  credentials: Credentials;
  parameters: Parameters;
  names: NamespaceNames;
}

/** Data on a server that Dragstrip did not write and does not change. */
export interface OwnData {
  /** a sample, each with a string value when it was drawn */
  keys: readonly (string | number)[];
  /** reads values over a connection that is no driver's; undefined: not there, or no UTF-8 */
  read(
    keys: readonly (string | number)[],
    onValue: (index: number, text: string | undefined) => void,
  ): Promise<void>;
}

/** Draws keys and the like, before the clock starts. `H`: the handle that its needs open. */
export type Prepare<H = any> = (context: {
  dataset: Dataset;
  seed: number;
  /** by slices, counted from 0: what is the same in all rounds is done in the first one */
  round?: number;
  ops: number;
  /** `parameters`: those of the variant */
  options: Record<string, unknown>;
  /** a workload that changes what is stored keeps the phases apart */
  phase?: 'measure' | 'warmup' | 'check';
  /** nanoseconds since some moment, for what a workload times itself */
  clock?: { now(): number };
  /** what the handle is of */
  contender?: Contender;
  /** of the handle */
  origin?: Origin;
  /** keys of the user in place of the dataset, with --read-only */
  ownData?: OwnData;
  /** slot: by slices; share: which one of the processes that share a load */
  slot?: Slot;
  share?: number;
}) => (handle: H, calls?: CallStyle) => BoundWorkload;

/** A part of a benchmark: operations of so many keys. */
export interface Part {
  keys: number;
  /** it is reported, and not counted among the others */
  warmup: boolean;
}

/** The place of a variant in one process, among all that run side by side. */
export interface Slot {
  /** a number of its own */
  at: number;
  /** of the second copy of a contender */
  isCopy: boolean;
  /** another program runs here, see BoundWorkload.program */
  isProgram?: boolean;
}

/** A storage that a run names, or that it takes where it names none. */
export interface ChosenStorage {
  /** as it is written */
  text: string;
  profile: string;
  /** null: all of them, or all profiles of one */
  definition: StorageDefinition | null;
}

/** Input of `plan` beside the options. */
export interface PlanContext {
  /** which of the workload's tests */
  test?: string;
  storages: readonly ChosenStorage[];
  /** loads that a program asked for */
  loads?: readonly LoadOption[];
  /** whether the run names the workload */
  isNamed?: boolean;
  /** by flag name */
  addresses?: Readonly<Record<string, string>>;
}

/** A load as it is asked for; engine/loads.js has its bounds and what absent values mean. */
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
  /** that the requests in flight are spread over */
  connections?: number;
  /** characters per value, of rows made for this run */
  valueSize?: number;
  /** of a workload that can be sliced: why this load cannot; absent: it can */
  whole?: string;
}

/** Pure: the loads of a run whose options name none. Where it runs in blocks, without an amount. */
export type UsualLoads = (options: Record<string, any>) => LoadOption[];

/** What a workload makes of its options. */
export interface WorkloadPlan {
  /** benchmarks; absent: one for each storage and load */
  variants?: { parameters: Parameters; loads?: LoadOption[]; storages?: string[] }[];
  /** where there are no variants; absent: those that a program asks for */
  loads?: LoadOption[];
  /** other values of the options that every run has */
  shared?: Record<string, unknown>;
  workload?: {
    /** absent: the workload itself */
    workload?: string;
    /** benchmarks of each, where there are several */
    workloads?: string[];
    /** in the result, and to `prepare` */
    workloadOptions?: Record<string, unknown>;
  };
}

/** What a run reports to the command line. */
export interface ConsoleContext {
  test?: string;
  /** as they were taken */
  options: Record<string, any>;
  quiet: boolean;
}

/** What lines are made of: the events of a run, see engine/runner.js. */
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

/** What goes to the terminal around the tables of a result. */
export interface ConsoleOutput {
  before?: string;
  /** where the tables go; absent: the standard output */
  tables?: 'error' | 'none';
  after?: string;
}

/** A module of a workload: functions around its runs, each of them optional. */
export interface RunHooks {
  /** before the run, by the command line; what it starts is ended after the run */
  setUp?(context: SetUpContext): Promise<SetUp | undefined>;
  /** the lines of an original program while it ran; called with each event of the run */
  legacyLines?(context: ConsoleContext): (event: ConsoleEvent) => readonly ConsoleLine[];
  /** what a benchmark is called while it runs; absent: its storage, parameters and load */
  nameOf?(benchmark: Result['benchmarks'][number]): string;
  /** what else the command line says when all is over */
  output?(result: Result, context: ConsoleContext): ConsoleOutput;
  /** exit status of a result, where `usual` is not all that counts */
  status?(result: Result, usual: (result: Result) => number, context: ConsoleContext): number;
  /** pure: what is to be said of a result */
  warnings?(result: Result): readonly Warning[];
}

export interface SetUpContext extends ConsoleContext {
  env: NodeJS.ProcessEnv;
  /** of the run */
  plan: {
    readonly addresses: Readonly<Record<string, string>>;
    readonly workloadOptions: Readonly<Record<string, unknown>>;
  };
  servers: SetUpServers;
}

/** What a set-up adds to the run. */
export interface SetUp {
  warnings?: readonly Warning[];
  /** instead of those of the plan */
  addresses?: Readonly<Record<string, string>>;
  workloadOptions?: Readonly<Record<string, unknown>>;
}

/** Servers and programs for a set-up; implemented in cli/set-up-servers.js. */
export interface SetUpServers {
  /** fetches and starts them for this run alone; unavailable ones are reported and left out */
  start(names: readonly string[]): Promise<void>;
  resolve(name: string): Promise<{
    address: Address;
    credentials: Credentials;
    /** where each comes from: a variable, or the path of a file */
    credentialVariables: Readonly<Record<string, string>>;
  }>;
  /** throws E_REFUSED where it is on another machine and not allowed, E_TARGET without an answer */
  requireAnswer(name: string, what: string): Promise<void>;
  /** a program that comes with a server; null: it is not here */
  findProgram(server: string, name: string): Promise<FoundProgram | null>;
  /** throws E_USAGE */
  checkProxy(command: string): void;
  /** a proxy of the user's before a server, for this run; gives the addresses with its own */
  startProxy(command: string, server: string): Promise<Record<string, string>>;
}

export interface FoundProgram {
  program: string;
  env: Record<string, string>;
  /** what its output says; form: the first group is the version */
  version(args: readonly string[], form: RegExp): Promise<string>;
}

/** An entry of `workloads/index.js`: known without loading the workload. */
export interface WorkloadAbout {
  summary: string;
  /** `dragstrip NAME`; absent: `dragstrip run --workload NAME` alone */
  isCommand?: boolean;
  /** names of its presets; of those that are commands, with a line for the help */
  presets?: Readonly<Record<string, string | null>>;
  load(): Promise<{ workload: WorkloadDefinition }>;
  report(): Promise<{ report: import('./report-types.js').ReportSpec }>;
}

/**
 * How a metric of several shares of a load becomes one: `one` is the same in each of them, `list`
 * joins lists.
 */
export type MetricRule = 'sum' | 'max' | 'min' | 'one' | 'list';

export interface WorkloadDefinition {
  name: string;
  /** one line for the help; that of a workload of the project is in `workloads/index.js` */
  summary?: string;
  /** of one kind of handle; empty where the workload has its own contenders */
  needs: readonly Capability[];
  /** what it owns on servers, created and removed around a run; absent: the rows of the race */
  namespace?: Namespace;
  /** its own options, see lib/options.js: for the parser, help, README, defaults and programs */
  options?: import('./options.js').OptionTable;
  /**
   * other defaults, or more (`{ help, default }`), of the options that every run has and of those
   * of loads; null: of no use here
   */
  shared?: Readonly<Record<string, unknown>>;
  /**
   * what runs where no option of a load (--rate, --load, --ramp, --find-max) says another; true: a
   * window. Absent: true where there is no `plan`; with a `plan`, it takes no such options
   */
  loads?: UsualLoads | true;
  /**
   * it can be measured by short slices: one operation is like the next, or `before` of the bound
   * workload makes it so. `default`: it is, where several rounds are asked for and no amount
   */
  slices?: boolean | 'default';
  /**
   * pure: parts of a benchmark that are sliced each by itself; `prepare` gets one as `part` of its
   * options, a round has a series for each
   */
  parts?(workloadOptions: Record<string, unknown>): readonly Part[];
  /**
   * by slices: another program that runs in the same blocks, see BoundWorkload: its name, null
   * where it does not, and the metric of the storages' rounds that is its speed
   */
  program?: { name(workloadOptions: Record<string, any>): string | null; perSecond: string };
  /** pure, by slices: variants with the same text use one handle; absent: each has its own */
  shares?(parameters: Parameters): string;
  /** its result is stored in any case, with a page, and the terminal shows a live view */
  isRace?: boolean;
  /** the same workload under another name, with other fields: `race`, `ycsb-a` */
  presets?: Readonly<Record<string, Partial<WorkloadDefinition>>>;
  /** which of them it is; given by the registry */
  preset?: string;
  /** its tests and a line about each: `dragstrip mget scatter`; the key '': without a name */
  tests?: Readonly<Record<string, string>>;
  /** pure: what is measured. Absent: its options are for `prepare`, the loads as they are given */
  plan?(options: Record<string, any>, context: PlanContext): WorkloadPlan;
  /** what takes part instead of storages */
  contenders?: Contenders;
  /** pure: what `open` of a storage is given beside the usual, see InsertContext */
  openWith?(parameters: Parameters, dataset: Dataset): Record<string, unknown>;
  /** what happens around a run, in the parent process: loaded there alone */
  runHooks?(): Promise<RunHooks>;
  /** by metric of a round. Without a rule for each of them no processes can share a load */
  metricRules?: Readonly<Record<string, MetricRule>>;
  prepare: Prepare;
  /** what reads some rows before anything is measured; absent: prepare; false: nothing does */
  check?: Prepare | false;
  /**
   * whether a variant exists for a storage; false: no such benchmark; a reason: it is skipped.
   * `reach`: where its server is, and the further ones
   */
  offers?(
    definition: StorageDefinition,
    parameters: Parameters,
    reach?: { address: Address; others: Record<string, Address> },
  ): boolean | Unavailable;
  /** pure: further servers that a variant needs, a proxy for instance */
  servers?(parameters: Parameters): readonly string[];
  /** pure: the address that the storage opens, where it is not its server's */
  route?(parameters: Parameters, address: Address, others: Record<string, Address>): Address;
}

/** Contenders of a workload's own, by name or path of a file; loaded when they are needed. */
export interface Contenders {
  names(): readonly string[];
  load(name: string): Promise<OwnContender>;
}

export interface OwnContender extends Contender {
  open(context: { parameters: Parameters }): Promise<Handle>;
}
