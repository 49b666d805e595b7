import type { LinePlace } from '../../logql/lines/evaluator.js';
import type { Clock } from '../../base/clock.js';
import type { TailRequest } from '../../wire/api/request.js';
import type { RowReader } from '../../victoria/names/row-reader.js';
import type { LogsPlan } from '../plan/types.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import type { ReadRows, TailContext } from './context.js';
import { followLines } from './follow.js';
import { readHistory } from './history.js';
import { LineMaker } from './line-maker.js';
import { RecentRows } from './recent-rows.js';
import type { LiveAnswer } from '../../wire/answer/live.js';

/** What a tail needs to open. */
export interface TailParts {
  readonly upstream: Pick<Upstream, 'tail'>;
  readonly readRows: ReadRows;
  readonly reader: RowReader;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly workers: LinePlace['workers'];
  /** False when the third tuple element must stay empty. */
  readonly showsGroups: boolean;
  /** The most history entries, whatever was requested; 0 means unlimited. */
  readonly maxHistory: number;
}

/**
 * Reads the history of a tail and prepares to follow it. Rejects when the backend cannot answer, because nothing has been sent to the
 * client yet.
 */
export async function openTail(plan: LogsPlan, request: TailRequest, parts: TailParts): Promise<LiveAnswer> {
  const { range, delayNs, follow: rules } = request;
  const endNs = range.endNs - delayNs;
  const startNs = range.startNs < endNs ? range.startNs : endNs;
  const context: TailContext = {
    ...parts,
    filter: plan.filter,
    rules,
    delayNs,
    lines: new LineMaker(plan, parts.showsGroups, parts),
    recent: new RecentRows(rules.maxRemembered, startNs),
  };
  const limit = parts.maxHistory > 0 ? Math.min(request.limit, parts.maxHistory) : request.limit;
  const history = await readHistory({ startNs, endNs }, limit, context);
  return { kind: 'live', history, events: followLines(context, endNs) };
}
