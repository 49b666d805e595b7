import type { TimeRange } from '../../base/time/range.js';
import type { Direction } from '../../wire/api/request.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import type { LogRow, RowReader } from '../../victoria/names/row-reader.js';
import type { Clock } from '../../base/clock.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import type { LineMaker } from './line-maker.js';
import type { RecentRows } from './recent-rows.js';
import type { FollowRules } from '../../wire/api/follow-rules.js';

/** Rows of a range in the order of a direction, a page at a time; pages may repeat rows. */
export type ReadRows = (
  range: TimeRange,
  direction: Direction,
  firstPageRows: number,
) => AsyncIterable<readonly LogRow[]>;

/** What the parts of one tail share. */
export interface TailContext {
  readonly filter: LogsqlFilter;
  readonly rules: FollowRules;
  /** Lines are shown when they are this old (`delay_for`). */
  readonly delayNs: bigint;
  readonly upstream: Pick<Upstream, 'tail'>;
  readonly readRows: ReadRows;
  readonly reader: RowReader;
  readonly lines: LineMaker;
  readonly recent: RecentRows;
  readonly clock: Clock;
  /** Ends the tail and everything that waits in it. */
  readonly signal: AbortSignal;
}
