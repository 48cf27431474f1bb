/** What a workload is, and what the loops make of it; a part of lib/types.d.ts. */

import type {
  Address,
  CallStyle,
  Capability,
  Credentials,
  Dataset,
  Facts,
  Handle,
  Namespace,
  Parameters,
  StorageDefinition,
  Unavailable,
} from './types.js';

/** Outcomes of an operation, a closed set; the order is that of OUTCOMES in lib/outcome.js. */
export type Outcome = 'ok' | 'miss' | 'mismatch' | 'error' | 'timeout' | 'dropped' | 'unsent';

export type LoadKind = 'sync' | 'window' | 'burst' | 'rate';

/** What a workload makes of a handle: the two functions that the loop calls. */
export interface BoundWorkload {
  /** issues operation `index`; the style is that of the profile */
  op(index: number, done?: (error: any, reply?: any) => void): any;
  /** outcome code of a reply: 0 ok, 1 miss, 2 mismatch; `whole` compares every byte */
  verify(index: number, reply: any, whole: boolean): number;
  /** of a reply, about; where given, a closed loop may verify some dozen replies later, in order */
  replyBytes?: number;
  /** where it mixes kinds of operation: their names, and which one operation `index` is */
  kinds?: { names: readonly string[]; of(index: number): number };
  /** the style of op, where it is not that of the profile */
  calls?: CallStyle;
  /** where each operation is looked at by itself: series of them, in the order of their indices */
  series?: readonly Series[];
  /** before the clock starts, after warm-up and garbage collection */
  before?(): Promise<void>;
  /**
   * after the clock, before closing: counts and verifies what was done. Rejects with the code
   * E_DATA where it is wrong: the round has failed then.
   */
  after?(): Promise<Facts | undefined>;
}

/** Operations `from` to `to` - 1 of a load, alike, with as many in flight from end to end. */
export interface Series {
  /** keys of each operation */
  keys: number;
  /** it is told, and not counted among the others */
  warmup: boolean;
  from: number;
  to: number;
  /** keys by operation, where they differ */
  keysOf?: readonly number[];
}

/** Draws keys and the like, before the clock starts. */
export type Prepare = (context: {
  dataset: Dataset;
  seed: number;
  ops: number;
  /** `parameters`: those of the variant */
  options: Record<string, unknown>;
  /** a workload that changes what is stored keeps the phases apart */
  phase?: 'measure' | 'warmup' | 'check';
  /** nanoseconds since some moment, for what a workload times itself */
  clock?: { now(): number };
}) => (handle: Handle, calls?: CallStyle) => BoundWorkload;

export interface WorkloadDefinition {
  name: string;
  summary: string;
  needs: readonly Capability[];
  /** what it owns on servers, created and removed around a run; absent: the rows of the race */
  namespace?: Namespace;
  prepare: Prepare;
  /** what reads some rows before anything is measured; absent: prepare; false: nothing does */
  check?: Prepare | false;
  /**
   * whether a variant exists for a storage; false: no such cell; a reason: it is skipped. `reach`:
   * where its server is, and the further ones
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
  /**
   * with a namespace without rows: once around all rounds, alone on the servers of this
   * machine. Makes what the cells need in a place of our own (E_REFUSED where that is taken);
   * resolves to what removes it, called however the run ends.
   */
  stage?(context: StageContext): Promise<() => Promise<void>>;
}

export interface StageContext {
  servers: readonly { name: string; address: Address; credentials: Credentials }[];
  /** of the cells that will run */
  variants: readonly Parameters[];
  options: Record<string, unknown>;
  dataset: Dataset;
  signal?: AbortSignal;
  allowTargets: readonly string[];
  home: string;
  /** of this run alone, for files; removed after it */
  folder: string;
}
