/**
 * The shapes of reports: what a workload declares of its figures, and the model that every format
 * and every plot reads.
 */

/** A number never travels alone; what has none is a state with its reason. */
export type Value =
  | {
      value: number | string;
      /** ends of its 95 % interval; null: none */
      low: number | null;
      high: number | null;
      /** rounds, or pairs of rounds, behind it */
      n: number;
      /** half the width of the interval as a share of its centre */
      spread?: number | null;
    }
  | { state: string; reason: string | null };

export type KeyValue = string | number | boolean | null;

/** Hints for a display; they say nothing about the figure. */
export interface Display {
  /** the name in two lines, for a terminal */
  head?: [string, string];
  align?: 'left' | 'right';
  /** the greatest goes first on a narrow terminal; 0 stays */
  drop?: number;
  /** what is shown beside the value; `interval if wide`: left out before a column is */
  shows?: readonly ('interval' | 'interval if wide' | 'n')[];
  /** another unit to show it in: `µs` for nanoseconds, `MB/s` for bytes per second */
  as?: string;
  /** digits after the point, instead of the unit's own */
  digits?: number;
  /** with a plus where it is not negative */
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
  /**
   * wrong: something is wrong with it; drift: it became faster or slower while it was measured
   */
  mark: 'wrong' | 'drift' | null;
  /** what kind of contender it is, where it is no storage with a server */
  remark: string | null;
  /** whose colour it has in plots: a storage with its profile, or what the report names */
  contender: string | null;
  /** it has no figure, or is no contender */
  quiet: boolean;
  /** what it was made of; not part of the JSON */
  benchmarks: readonly any[];
}

export interface Table {
  title: string;
  /** what plots of the same benchmarks name; null: none has any */
  id: string | null;
  /** plots show its rows in the colours of their contenders */
  colored: boolean;
  /** the greatest number of the benchmarks, where the title names it */
  rounds: number | null;
  columns: Column[];
  /** further columns of its JSON and CSV */
  inFiles: Column[];
  rows: TableRow[];
  /** all rows, where a table shows some of them only */
  plotted?: TableRow[];
}

/** What a metric may look at beside its benchmark. */
export interface Scope {
  result: any;
  /** benchmarks of the same table */
  table: readonly any[];
  /** benchmarks of the same row; more than one where a row stands for several */
  row: readonly any[];
  /** benchmarks of the workload */
  all: readonly any[];
}

export interface Metric extends Display {
  key: string;
  /** with a line break where its head has two lines and the same words */
  name: string;
  unit: string;
  better: 'more' | 'less' | null;
  of(benchmark: any, scope: Scope): Value;
  /** its column is left out where no row has a value */
  optional?: boolean;
  /** it is about other benchmarks too: it has no value for one round */
  relative?: boolean;
}

export interface KeyColumn extends Display {
  key: string;
  name: string;
  /** it tells rows apart, and is no column */
  hidden?: boolean;
  /** absent: the benchmark's key of that name */
  of?(benchmark: any): KeyValue;
}

/** A column for each metric of its own benchmarks. */
export interface Pivot {
  key: string;
  name: string;
  has(benchmark: any): boolean;
  /** added to what a metric says of leaving it out, so that the last goes first */
  more?: number;
}

export interface TableSpec {
  /** which benchmarks it is about; absent: all of the workload */
  where?(benchmark: any): boolean;
  /** a benchmark in parts, or with figures of its own: the series of a sweep */
  expand?(benchmark: any, result: any): any[];
  /** those that get a rank, by throughput; absent: none beyond what a benchmark has */
  contenders?(benchmark: any): boolean;
  /** a table for each combination of these keys */
  table?: readonly string[];
  /** a row for each combination of these */
  row: readonly KeyColumn[];
  /** a column for each of these, for each metric; absent: a column for each metric */
  columns?(table: readonly any[]): readonly Pivot[];
  metrics: readonly Metric[] | ((table: readonly any[], result: any) => readonly Metric[]);
  /** columns over the whole row, behind those of `columns` */
  across?: readonly Metric[] | ((table: readonly any[], result: any) => readonly Metric[]);
  title(table: readonly any[], result: any): string;
  /** the title names the number of rounds, so that a row need not */
  namesRounds?: boolean;
  id?(table: readonly any[]): string;
  /** sorted in place or anew; absent: as measured */
  order?(rows: TableRow[]): TableRow[];
  /** rows that a table shows; others are in CSV only; a table without rows is left out */
  shown?(rows: TableRow[]): TableRow[];
}

export interface ReportSpec {
  /** tables are made for each combination of these keys anew */
  section?: readonly string[];
  /** of an operation that a proxy refuses in its own words: it is no wrong answer */
  refused?(benchmark: any): boolean;
  /** tables show benchmarks that were skipped too */
  skipped?: boolean;
  /** a load that is swept is a curve per storage, with its knee */
  sweeps?: boolean;
  /** what a row of the dataset is; null: there are no rows; absent: a value of the dataset's size */
  row?: string | null;
  tables: readonly TableSpec[];
  plots?: readonly PlotSpec[];
  /** whose colour a benchmark has in plots; absent: its storage with its profile */
  contender?(benchmark: any): string;
  /** what the figures mean, where a table of it is shown */
  legend?: readonly string[] | ((benchmarks: readonly any[], result: any) => readonly string[]);
  /** every column and mark of these: name, text */
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
  /** whether the text may hold words of a server, a driver or a file */
  untrusted: boolean;
  hint: string | null;
}

export interface List {
  kind: 'failed' | 'wrong' | 'skipped' | 'warnings';
  title: string;
  items: Item[];
}

/** All that a report shows. */
export interface Document {
  title: string;
  /** what it comes to, in sentences: a paragraph for each load */
  verdict: string[];
  head: [string, string][];
  tables: Table[];
  /** longer ones, for programs only: pages have them as numbers of plots */
  details?: Table[];
  /** sentences about the rows together */
  notes: string[];
  lists: List[];
  /** what a reader needs at hand */
  legend: string[];
  /** every column and mark, with sources of formulas: name, text */
  explanation: [string, string][];
  /** storage and its driver options that are not defaults */
  settings: [string, string][];
  /** plots with the tables that they show */
  parts: readonly { plots: readonly PlotSpec[]; tables: readonly Table[] }[];
  /** of the result, or of what was compared */
  id: string;
  /** when and where, for below a picture */
  subtitle: string;
  /** those that plots show, in the order of their colours */
  contenders: string[];
  /** what it was made of; null where the document is not of one result */
  result: import('./result.js').Result | null;
  /** versions, options and servers; null where the document is not of one result */
  setup: Setup | null;
  /** what each load machine contributed, folded in a page; absent: there is one */
  agents?: Table[];
  /** every round, for a page */
  roundTexts: () => RoundTexts;
  /** every round, in columns of their own; null where the document is not of one result */
  rounds: (() => RoundTable) | null;
}

/** What was run on what. */
export interface Setup {
  storages: { columns: string[]; rows: string[][] };
  servers: { title: string; pairs: [string, string][] }[];
  options: [string, string][];
}

/** One row for each benchmark and round, `of`: whose colour it has. */
export interface RoundTexts {
  columns: { name: string; align: 'left' | 'right' }[];
  rows: { texts: string[]; of: string }[];
}

/** One line for each benchmark and round, for CSV. */
export interface RoundTable {
  columns: string[];
  lines: (string | number | boolean | null | undefined)[][];
}
