/**
 * The types of reports: figures declared by a workload, and the model that every format and every
 * plot reads.
 */

/** A number with its interval and sample count; without a number, a state with its reason. */
export type Value =
  | {
      value: number | string;
      /** ends of its 95 % interval; null: none */
      low: number | null;
      high: number | null;
      /** number of rounds, or pairs of rounds */
      n: number;
      /** half the width of the interval as a share of its centre */
      spread?: number | null;
    }
  | { state: string; reason: string | null };

export type KeyValue = string | number | boolean | null;

/** Hints for display, without effect on the figure. */
export interface Display {
  /** the name in two lines, for a terminal */
  head?: [string, string];
  align?: 'left' | 'right';
  /** priority of omission: the highest is dropped first on a narrow terminal; 0 is never dropped */
  drop?: number;
  /** additions to the value; `interval if wide`: dropped before any column */
  shows?: readonly ('interval' | 'interval if wide' | 'n')[];
  /** display unit: `µs` for nanoseconds, `MB/s` for bytes per second */
  as?: string;
  /** digits after the point, instead of the unit's default */
  digits?: number;
  /** with a plus sign if it is not negative */
  signed?: boolean;
}

export interface Column extends Display {
  key: string;
  name: string;
  /** `ops/s`, `ns`, `B`, `×`, `%` (a share of 1), `count`, `rank`, `text` */
  unit: string;
  better: 'more' | 'less' | null;
  role: 'key' | 'metric';
}

export interface TableRow {
  keys: Record<string, KeyValue>;
  values: Record<string, Value>;
  /** wrong: defective; drift: it became faster or slower while it was measured */
  mark: 'wrong' | 'drift' | null;
  /** kind of contender, if it is not a storage with a server */
  remark: string | null;
  /** key of its colour in plots: a storage with its profile, or the name from the report */
  contender: string | null;
  /** it has no figure, or is not a contender */
  quiet: boolean;
  /** its source; not part of the JSON */
  benchmarks: readonly any[];
}

export interface Table {
  title: string;
  /** names of the same benchmarks in plots; null: no plot names any */
  id: string | null;
  /** plots show its rows in the colours of their contenders */
  colored: boolean;
  /** the largest number of the benchmarks, if the title names it */
  rounds: number | null;
  columns: Column[];
  /** further columns of its JSON and CSV */
  inFiles: Column[];
  rows: TableRow[];
  /** all rows, if a table shows only some of them */
  plotted?: TableRow[];
}

/** Context of a metric in addition to its benchmark. */
export interface Scope {
  result: any;
  /** benchmarks of the same table */
  table: readonly any[];
  /** benchmarks of the same row; more than one if a row stands for several */
  row: readonly any[];
  /** benchmarks of the workload */
  all: readonly any[];
}

export interface Metric extends Display {
  key: string;
  /** with a line break if its head has two lines and the same words */
  name: string;
  unit: string;
  better: 'more' | 'less' | null;
  of(benchmark: any, scope: Scope): Value;
  /** its column is omitted if no row has a value */
  optional?: boolean;
  /** it also depends on other benchmarks, so it has no value for one round */
  relative?: boolean;
}

export interface KeyColumn extends Display {
  key: string;
  name: string;
  /** it distinguishes rows, and is not a column */
  hidden?: boolean;
  /** absent: the benchmark's key with this name */
  of?(benchmark: any): KeyValue;
}

/** A column for each metric of its own benchmarks. */
export interface Pivot {
  key: string;
  name: string;
  has(benchmark: any): boolean;
  /** added to the metric's priority of omission, so that the last column is dropped first */
  more?: number;
}

export interface TableSpec {
  /** benchmarks that it covers; absent: all of the workload */
  where?(benchmark: any): boolean;
  /** a benchmark in parts, or with figures of its own: the series of a sweep */
  expand?(benchmark: any, result: any): any[];
  /** benchmarks that are ranked by throughput; absent: only by the ranks of the benchmarks */
  contenders?(benchmark: any): boolean;
  /** a table for each combination of these keys */
  table?: readonly string[];
  /** a row for each combination of these */
  row: readonly KeyColumn[];
  /** a column for each of these, for each metric; absent: a column for each metric */
  columns?(table: readonly any[]): readonly Pivot[];
  metrics: readonly Metric[] | ((table: readonly any[], result: any) => readonly Metric[]);
  /** columns of the whole row, after those of `columns` */
  across?: readonly Metric[] | ((table: readonly any[], result: any) => readonly Metric[]);
  title(table: readonly any[], result: any): string;
  /** the title names the number of rounds, so rows need not */
  namesRounds?: boolean;
  id?(table: readonly any[]): string;
  /** sorts in place or returns a new list; absent: in the order of measurement */
  order?(rows: TableRow[]): TableRow[];
  /** rows that a table shows; others appear only in CSV; a table without rows is omitted */
  shown?(rows: TableRow[]): TableRow[];
}

export interface ReportSpec {
  /** a new set of tables for each combination of these keys */
  section?: readonly string[];
  /** for an operation that a proxy refuses in its own words: not a wrong reply */
  refused?(benchmark: any): boolean;
  /** tables show skipped benchmarks too */
  skipped?: boolean;
  /** a swept load is a curve per storage, with its knee */
  sweeps?: boolean;
  /** description of a row of the dataset; null: no rows; absent: a value of the dataset's size */
  row?: string | null;
  tables: readonly TableSpec[];
  plots?: readonly PlotSpec[];
  /** key of a benchmark's colour in plots; absent: its storage with its profile */
  contender?(benchmark: any): string;
  /** explains the figures next to their table */
  legend?: readonly string[] | ((benchmarks: readonly any[], result: any) => readonly string[]);
  /** explains columns and marks: name, text */
  explain?(benchmarks: readonly any[], result: any): readonly [string, string][];
  notes?(benchmarks: readonly any[], result: any): readonly string[];
  lists?(benchmarks: readonly any[], result: any): readonly List[];
}

export interface PlotSpec {
  kind: string;
  [option: string]: any;
}

export interface Item {
  subject: string;
  text: string;
  /** whether the text may contain words of a server, a driver or a file */
  untrusted: boolean;
  hint: string | null;
}

export interface List {
  kind: 'failed' | 'wrong' | 'skipped' | 'warnings';
  title: string;
  items: Item[];
}

/** Everything that a report shows. */
export interface Document {
  title: string;
  /** conclusions in sentences: a paragraph for each load */
  verdict: string[];
  head: [string, string][];
  tables: Table[];
  /** longer conclusions, for programs only: pages show them as numbers of plots */
  details?: Table[];
  /** sentences about all rows together */
  notes: string[];
  lists: List[];
  /** essential information for the reader */
  legend: string[];
  /** explanations of columns and marks, with sources of formulas: name, text */
  explanation: [string, string][];
  /** storages with the driver options that are not defaults */
  settings: [string, string][];
  /** plots with the tables that they show */
  parts: readonly { plots: readonly PlotSpec[]; tables: readonly Table[] }[];
  /** of the result, or of the comparison */
  id: string;
  /** time and place, for the line below a picture */
  subtitle: string;
  /** contenders in plots, in the order of their colours */
  contenders: string[];
  /** its source; null if the document is not of one result */
  result: import('./result.js').Result | null;
  /** versions, options and servers; null if the document is not of one result */
  setup: Setup | null;
  /** contributions of each load machine, folded in a page; absent: there is one */
  agents?: Table[];
  /** every round, for a page */
  roundTexts: () => RoundTexts;
  /** every round, in separate columns; null if the document is not of one result */
  rounds: (() => RoundTable) | null;
}

/** Environment and options of the run. */
export interface Setup {
  storages: { columns: string[]; rows: string[][] };
  servers: { title: string; pairs: [string, string][] }[];
  options: [string, string][];
}

/** One row for each benchmark and round, `of`: key of its colour. */
export interface RoundTexts {
  columns: { name: string; align: 'left' | 'right' }[];
  rows: { texts: string[]; of: string }[];
}

/** One line for each benchmark and round, for CSV. */
export interface RoundTable {
  columns: string[];
  lines: (string | number | boolean | null | undefined)[][];
}
