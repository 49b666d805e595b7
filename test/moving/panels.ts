/** A dashboard panel over a range that ends now, or half an hour ago. */
export interface Panel {
  readonly name: string;
  readonly query: string;
  readonly rangeMs: number;
  readonly stepMs: number;
  readonly endsAgoMs: number;
  /** The relation of values to line counts; undefined for logs, and for panels that are compared only when no lines arrive. */
  readonly counts?: { readonly intervalMs: number; readonly perLine: number };
  readonly kind: 'metric' | 'logs' | 'still';
}

const minute = 60_000;
const hour = 60 * minute;
/** The size of each line of the ledger. */
const lineBytes = 'level=error n=000000001'.length;

const ranges = [
  { of: '5m', rangeMs: 5 * minute, stepMs: 5_000, interval: '1m', intervalMs: minute, endsAgoMs: 0 },
  { of: '1h', rangeMs: hour, stepMs: 15_000, interval: '1m', intervalMs: minute, endsAgoMs: 0 },
  { of: '6h', rangeMs: 6 * hour, stepMs: minute, interval: '5m', intervalMs: 5 * minute, endsAgoMs: 0 },
  { of: '24h', rangeMs: 24 * hour, stepMs: 5 * minute, interval: '5m', intervalMs: 5 * minute, endsAgoMs: 0 },
  {
    of: 'past',
    rangeMs: 6 * hour,
    stepMs: minute,
    interval: '5m',
    intervalMs: 5 * minute,
    endsAgoMs: 30 * minute,
  },
] as const;

export const panels: readonly Panel[] = ranges.flatMap(
  ({ of, rangeMs, stepMs, interval, intervalMs, endsAgoMs }): Panel[] => {
    const base = { rangeMs, stepMs, endsAgoMs };
    const counting = (name: string, query: string, perLine: number): Panel => ({
      ...base,
      name: `${name} ${of}`,
      kind: 'metric',
      query,
      counts: { intervalMs, perLine },
    });
    const still = (name: string, query: string): Panel => ({
      ...base,
      name: `${name} ${of}`,
      kind: 'still',
      query,
    });
    return [
      counting('count', `sum by (level) (count_over_time({app="moving"}[${interval}]))`, 1),
      counting(
        'parsed',
        `sum by (level) (count_over_time({app="moving"} | logfmt | n >= 0 [${interval}]))`,
        1,
      ),
      counting('bytes', `sum by (level) (bytes_over_time({app="moving"}[${interval}]))`, lineBytes),
      { ...base, name: `logs ${of}`, kind: 'logs', query: '{app="moving"}' },
      { ...base, name: `errors ${of}`, kind: 'logs', query: '{app="moving"} |= "level=error"' },
      still('rate', `rate({app="moving"} |= "7" [${interval}])`),
      still(
        'quantile',
        `quantile_over_time(0.9, {app="moving"} | logfmt | unwrap n [${interval}]) by (level)`,
      ),
      still('topk', `topk(1, sum by (level) (count_over_time({app="moving"}[${interval}])))`),
    ];
  },
);
