import { atPace, Pacer, sortSteps } from '../../core/base/pace/steps.js';
import { timeOrder } from '../../core/base/order.js';
import { IntervalFilter } from '../../core/wire/answer/encode-streams.js';
import { mergeStreams } from '../../core/wire/answer/merge/index.js';
import type { Answer, StreamsAnswer } from '../../core/wire/answer/types.js';
import type { QueryRangeRequest } from '../../core/wire/api/request.js';
import { rangeOn, type Side } from './border.js';
import type { Sides } from './sides.js';

/**
 * Answers a log query: first from the side where its direction begins, and from the other one as many lines as are missing.
 */
export async function answerLogLines(
  request: QueryRangeRequest,
  untilNs: bigint,
  sides: Sides,
): Promise<StreamsAnswer> {
  const { direction, limit, intervalNs } = request;
  const order: readonly Side[] = direction === 'forward' ? ['old', 'new'] : ['new', 'old'];
  const apart = new IntervalFilter(intervalNs, direction);
  const parts: StreamsAnswer[] = [];
  let { range } = request;
  let missing = limit;
  for (const side of order) {
    const own = rangeOn(side, range, untilNs);
    if (own === undefined || (missing === 0 && parts.length > 0)) continue;
    const answer = streamsIn(await sides.ask({ side, request: { ...request, range: own, limit: missing } }));
    parts.push(answer);
    const times = answer.streams.flatMap(({ entries }) => entries.map(({ timestampNs }) => timestampNs));
    missing = Math.max(limit - times.length, 0);
    if (intervalNs > 0n) range = await restOf(range, times, apart, request, sides.signal);
  }
  return atPace(mergeStreams(parts, { direction, limit }), new Pacer(sides.signal));
}

/** The part of a range that may have the next entry which the interval keeps. */
async function restOf(
  range: QueryRangeRequest['range'],
  times: bigint[],
  apart: IntervalFilter,
  { direction }: QueryRangeRequest,
  signal: AbortSignal,
): Promise<QueryRangeRequest['range']> {
  const sign = direction === 'forward' ? 1 : -1;
  const inOrder = await atPace(
    sortSteps(times, (a, b) => sign * timeOrder(a, b)),
    new Pacer(signal),
  );
  for (const time of inOrder) apart.takes(time);
  return apart.rest(range);
}

export function streamsIn(answer: Answer): StreamsAnswer {
  if (answer.kind !== 'streams') throw new Error(`a log query was answered with ${answer.kind}`);
  return answer;
}
