/** How two outputs are compared; everything but `text` leaves out what depends on storage or has no order (README.md). */
export type Comparison =
  | 'text'
  /** Lines in any order, and items of a list of fields or values that is one line. */
  | 'lines'
  /** JSON lists of series in any order, values within 1e-9. */
  | 'samples'
  /** The same with values within 25 %: Loki counts the chunks it made. */
  | 'volume'
  /** Streams and entries; bytes and chunks are Loki's storage. */
  | 'index-stats'
  /** Names and types, in any order; cardinalities are estimates. */
  | 'fields'
  /** Lines in any order, spaces aside. */
  | 'analysis'
  /** As many lines: Loki picks other ones each time it is asked. */
  | 'line-count'
  /** Figures aside. */
  | 'figures';

/** One run of logcli. In `args`, `{tmp}` is a folder of the run, `{address}` the server. */
export interface LogcliCase {
  readonly command: string;
  readonly name: string;
  readonly args: readonly string[];
  readonly as?: Comparison;
  /** `t1` without it; empty sends none. */
  readonly orgId?: string;
  /** `auth` runs against a proxy that requires a tenant. */
  readonly proxy?: 'auth';
  /** Why the outputs differ; the run fails when they no longer do. */
  readonly differs?: string;
  /** They differ on VictoriaLogs only, not on the embedded backend. */
  readonly differsStored?: true;
}

/** What a run printed, made comparable: no address, no clock. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Files that the run left behind, by name. */
  readonly files: ReadonlyMap<string, string>;
}
