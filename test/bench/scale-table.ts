/**
 * A query over many rows. `{filter}` is empty or a filter with a text that no cache has seen; `{width}` is the window width, which equals
 * the step.
 */
export interface ScaleShape {
  readonly name: string;
  readonly query: string;
  readonly direct: string;
  /** The step in seconds; if absent, the query asks for the newest lines. */
  readonly widthSeconds?: number;
  /** The limit for the proxy, as a multiple of the time of the nearest VictoriaLogs query. */
  readonly aims: {
    readonly first: number;
    readonly range: number;
    readonly filter: number;
    /** The first time with `-first-answers=exact`. */
    readonly exact?: number;
  };
}

/** Half of the rows. */
const half = '{cluster="eu"} {filter}';
const gateway = '{cluster="eu", app="gateway"} {filter}';

export const scaleShapes: readonly ScaleShape[] = [
  {
    name: 'rate by namespace',
    query: `sum by (namespace) (rate(${half} [{width}]))`,
    direct: `${half} | stats by (namespace) count() c`,
    widthSeconds: 300,
    aims: { first: 1.5, range: 1.2, filter: 1.3, exact: 10 },
  },
  {
    name: "Explore's level histogram",
    query: `sum by (level, detected_level) (count_over_time(${half} | drop __error__ [{width}]))`,
    direct: `${half} | stats by (level) count() c`,
    widthSeconds: 600,
    aims: { first: 3, range: 2, filter: 2.5, exact: 15 },
  },
  {
    name: 'count by a JSON field',
    query: `sum by (status) (count_over_time(${gateway} | json [{width}]))`,
    direct: `${gateway} | unpack_json fields (status) | stats by (status) count() c`,
    widthSeconds: 300,
    aims: { first: 1.5, range: 1.3, filter: 1.3 },
  },
  {
    name: '0.99 quantile of a JSON field',
    query: `quantile_over_time(0.99, ${gateway} | json | unwrap duration_ms [{width}]) by (method)`,
    direct: `${gateway} | unpack_json fields (method, duration_ms) | stats by (method) quantile(0.99, duration_ms) q`,
    widthSeconds: 300,
    aims: { first: 1.5, range: 1.5, filter: 1.5 },
  },
  { name: '1000 newest lines', query: half, direct: half, aims: { first: 1.2, range: 1.2, filter: 1.2 } },
];
