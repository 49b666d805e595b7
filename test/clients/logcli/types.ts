/** The comparison mode of two outputs; all modes but `text` ignore details that depend on storage or have no order (README.md). */
export type Comparison =
  | 'text'
  /** Lines in any order; a one-line list of fields or values is compared item by item. */
  | 'lines'
  /** JSON lists of series in any order, values within 1e-9. */
  | 'samples'
  /** Like `samples`, with values within 25 %: Loki counts the chunks it made. */
  | 'volume'
  /** Streams and entries; bytes and chunks depend on Loki's storage. */
  | 'index-stats'
  /** Names and types, in any order; cardinalities are estimates. */
  | 'fields'
  /** Lines in any order, ignoring differences in white space. */
  | 'analysis'
  /** The number of lines only: Loki returns others for each request. */
  | 'line-count'
  /** Text with all numbers ignored. */
  | 'figures';

/** One run of logcli. In `args`, `{tmp}` is a folder of the run, `{address}` the server. */
export interface LogcliCase {
  readonly command: string;
  readonly name: string;
  readonly args: readonly string[];
  readonly as?: Comparison;
  /** Default `t1`; an empty value sends no tenant. */
  readonly orgId?: string;
  /** `auth` runs against a proxy that requires a tenant. */
  readonly proxy?: 'auth';
  /** The reason for an expected difference; the run fails when the outputs no longer differ. */
  readonly differs?: string;
  /** The outputs differ on VictoriaLogs only, not on the embedded backend. */
  readonly differsStored?: true;
}

/** The output of a run, normalized: no address, no clock. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Files that the run left behind, by name. */
  readonly files: ReadonlyMap<string, string>;
}
