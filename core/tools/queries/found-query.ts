/** A query of a file, before its variables are filled in. */
export interface FoundQuery {
  /** Title of the dashboard, name of the rule group, or the file. */
  readonly group: string;
  /** Title of the panel, name of the rule, or the line. */
  readonly name: string;
  /** LogQL; undefined for a request that is a path. */
  readonly text?: string;
  /** Path with parameters, below `/loki/api/v1/`, of a request that is not a query. */
  readonly path?: string;
  readonly kind: 'range' | 'instant';
  /** Length of the range and the step in milliseconds, if the file sets them. */
  readonly rangeMs?: number;
  readonly stepMs?: number;
  /** Maximum number of lines. */
  readonly limit?: number;
  /** Tenant of a logged query. */
  readonly orgId?: string;
  /** Where the query begins in its file; undefined if that is unknown. */
  readonly at?: FilePosition;
}

/** A position in a text file; lines and columns count from 1. */
export interface FilePosition {
  readonly line: number;
  readonly column: number;
}

/** A variable of a dashboard. */
export interface FoundVariable {
  readonly name: string;
  readonly type: string;
  /** Values chosen when the dashboard was saved. */
  readonly current: readonly string[];
  readonly allValue?: string;
  /** Values that the dashboard lists. */
  readonly options: readonly string[];
  /** Label whose values are requested, and the selector of their streams. */
  readonly label?: string;
  readonly selector?: string;
}

/** The contents of a file. */
export interface FoundQueries {
  readonly queries: readonly FoundQuery[];
  readonly variables: readonly FoundVariable[];
  /** Number of skipped queries of other data sources, and of lines that are not queries. */
  readonly skipped: number;
}
