import type { Clock } from '../../base/clock.js';
import { wholePastDays, type TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { query } from '../../victoria/logsql/build.js';
import type { Upstream } from '../../victoria/upstream/types.js';

/**
 * The range whose labels a client is shown. Loki lists labels from the index files that the client's range touches, and a file of a past day
 * covers the UTC day: a label is listed if a stream had it at any time of the day. A range without entries touches no file.
 */
export async function listedRange(
  filter: LogsqlFilter,
  range: TimeRange,
  { upstream, clock }: { readonly upstream: Upstream; readonly clock: Clock },
): Promise<TimeRange> {
  const days = wholePastDays(range, clock.nowNs());
  if (days.startNs === range.startNs && days.endNs === range.endNs) return range;
  const question = { listing: 'stream_field_names', query: query(filter), range, hits: 'any' } as const;
  return (await upstream.list(question)).length > 0 ? days : range;
}
