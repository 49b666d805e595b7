import type { Rounds } from '../../base/pace/rounds.js';
import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import type { LogRow, RowReader } from '../../victoria/names/row-reader.js';
import type { Clock } from '../../base/clock.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import type { LiveEntry } from '../../wire/answer/types.js';
import type { LineMaker } from '../logs/logs.js';
import type { RecentRows } from './recent-rows.js';
import type { FollowRules } from '../../wire/api/follow-rules.js';

/** Reads the rows of a tail's filter in batches. */
export interface TailReads {
  /** Reads newest first, page by page; pages may repeat rows. */
  newestFirst(range: TimeRange, firstPageRows: number): AsyncIterable<readonly LogRow[]>;
  /** Reads all rows, oldest first. */
  all(range: TimeRange): AsyncIterable<readonly LogRow[]>;
}

/** An entry with its stored stream; within a stream, lines are sent in time order. */
export interface TailLine extends LiveEntry {
  readonly stream: string;
}

/** The entry of a row as a range query would show it; undefined if the residual stages drop it. */
export async function tailLine(row: LogRow, lines: LineMaker): Promise<TailLine | undefined> {
  const line = await lines.of(row);
  await lines.pause();
  const { stream, timestampNs } = row;
  return line && { stream: stream.labels.key, labels: line.stream, entry: lines.entry(timestampNs, line) };
}

/** State shared by the parts of one tail. */
export interface TailContext {
  readonly filter: LogsqlFilter;
  readonly rules: FollowRules;
  /** Age at which lines are shown (`delay_for`). */
  readonly delayNs: bigint;
  readonly upstream: Pick<Upstream, 'tail'>;
  readonly reads: TailReads;
  /** Schedules the polls. */
  readonly turns: Pick<Rounds, 'next'>;
  readonly reader: RowReader;
  readonly lines: LineMaker;
  readonly recent: RecentRows;
  readonly clock: Clock;
  /** Ends the tail and all pending work. */
  readonly signal: AbortSignal;
}
