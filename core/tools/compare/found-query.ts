/** A query of a file, with the variables that it still has. */
export interface FoundQuery {
  /** Title of the dashboard, name of the rule group, or the file. */
  readonly group: string;
  /** Title of the panel, name of the rule, or the line. */
  readonly name: string;
  /** LogQL; undefined for a request that is a path. */
  readonly text?: string;
  /** Path with parameters, below `/loki/api/v1/`, of a request that is no query. */
  readonly path?: string;
  readonly kind: 'range' | 'instant';
  /** Length of the range and the step in milliseconds, where the file fixes them. */
  readonly rangeMs?: number;
  readonly stepMs?: number;
  /** Maximum number of lines. */
  readonly limit?: number;
  /** Tenant of a logged query. */
  readonly orgId?: string;
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
  /** Label whose values are asked for, and the selector of their streams. */
  readonly label?: string;
  readonly selector?: string;
}

/** The contents of a file. */
export interface FoundQueries {
  readonly queries: readonly FoundQuery[];
  readonly variables: readonly FoundVariable[];
  /** Queries of other data sources, and lines that are no queries. */
  readonly skipped: number;
}
