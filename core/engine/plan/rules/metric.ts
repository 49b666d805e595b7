import type { Rule } from './types.js';

/** What of a metric query the backend counts instead of sending rows; every range aggregation falls under one of these. */
export const metricRules = {
  metricGroups: {
    construct: 'sum by (a, b) (count_over_time(...)), rate, bytes_over_time, bytes_rate',
    backend: 'stats by (fields of a and b) count() or sum_len(_msg), in buckets of gcd(range, step)',
    verdict: 'exact',
    reason:
      'sums over buckets add up to windows; labels are made of the groups here; by _stream where fields do not tell the labels of all streams; rows pushed twice and rows without a line are taken out and counted here',
  },
  metricLevel: {
    construct: 'sum by (detected_level) (...), | detected_level="v" in front of it',
    backend:
      'extract what stands in front of a level, and the level; collapse_nums; stats by (these, stored level fields) count()',
    verdict: 'superset',
    reason:
      'lines that begin alike have one level where nothing behind it can change it, which is decided here for each group; the lines of other groups come as rows of _time, _stream and _msg',
  },
  metricAbsent: {
    construct: 'absent_over_time(...)',
    backend: 'stats by (_stream) count(), in buckets of gcd(range, step)',
    verdict: 'exact',
    reason: 'only whether there are rows matters',
  },
  metricIdentity: {
    construct: 'count_over_time(...) and others without sum by (...) around them',
    backend: 'stats by (_stream, all stored fields) count() or sum_len(_msg), levels as above',
    verdict: 'superset',
    reason:
      'every combination of structured metadata is a series of its own; with too many of them (a trace id) rows are read instead',
  },
  metricJson: {
    construct: 'sum by (a) (count_over_time(... | json [..])) and others that count, also with | a="v"',
    backend:
      'unpack_json fields (a); extract to find lines in which the key stands more than once; stats by (a, the line where it is not certain) count()',
    verdict: 'superset',
    reason:
      'a key that stands once in a valid object without escapes is the label; all other lines come as they are, grouped when equal. Rows are read instead when there are too many groups, or lines with keys or numbers that are no JSON',
  },
  metricUnwrap: {
    construct: 'unwrap',
    backend:
      'behind json: the labels that matter instead of the line, where they are certain, as for metricJson',
    verdict: 'none',
    reason: 'numbers, durations and sizes are read differently, and values that are none are errors',
  },
  metricStages: {
    construct: 'stages that read or change the line, or labels by templates, in a range aggregation',
    backend: '',
    verdict: 'none',
    reason: 'what a row counts for is known only when its line was read',
  },
  metricOff: {
    construct: 'any query with -pushdown=off',
    backend: '',
    verdict: 'none',
    reason: 'switched off: the backend selects streams, everything else is done here',
  },
} as const satisfies Record<string, Rule>;
