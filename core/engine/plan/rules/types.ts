/** How far the backend answers a construct as LogQL means it (docs/protocol/logql-to-logsql.md#verdicts). */
export type Verdict =
  /** The same rows: the stage is done by the backend. */
  | 'exact'
  /** These rows and perhaps more: the backend reads fewer, the stage still runs here. */
  | 'superset'
  /** It might lose rows: the stage runs here only. */
  | 'none';

/** One line of the pushdown table, as `explain` shows it. */
export interface Rule {
  readonly construct: string;
  /** What the backend is asked, with `"text"` for what the query gives. */
  readonly backend: string;
  readonly verdict: Verdict;
  readonly reason: string;
}
