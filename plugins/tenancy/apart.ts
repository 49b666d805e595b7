import { KeptApart } from '../../core/wire/answer/interval.js';
import { mergeStreams, type MergeOptions } from '../../core/wire/answer/merge/index.js';
import type { Answer, Entry, StreamsAnswer } from '../../core/wire/answer/types.js';
import type { QueryRangeRequest } from '../../core/wire/api/request.js';
import { Pacer } from '../../core/base/pace/pacer.js';
import { atPace } from '../../core/base/pace/steps.js';
import type { Part } from '../../core/operations/descriptor.js';

type Narrowing = Pick<QueryRangeRequest, 'range' | 'limit' | 'intervalNs'>;

/**
 * Answers a log query with an interval over several tenants. As in Loki, the interval keeps the entries of all tenants apart. What one
 * tenant alone would keep does not tell, so each is asked for all entries, again and again from where the next one may be.
 * @param merged asks the parts and merges their answers
 * @param signal ends it
 */
export async function answerApart(
  request: QueryRangeRequest,
  parts: readonly Part[],
  merged: (parts: readonly Part[], options: MergeOptions) => Promise<Answer | undefined>,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const { direction, intervalNs, limit } = request;
  const apart = new KeptApart(intervalNs, direction);
  const rounds: StreamsAnswer[] = [];
  let missing = limit;
  let { range } = request;
  do {
    const narrowing = { range, limit: missing, intervalNs: 0n };
    const answer = await merged(
      parts.map((part) => narrowed(part, narrowing)),
      { direction, limit: missing },
    );
    if (answer?.kind !== 'streams') return answer;
    const round = keep(answer, request, apart);
    rounds.push(round);
    const isAll = answer.stats.entriesReturned < missing;
    missing -= round.stats.entriesReturned;
    if (isAll) break;
    range = apart.rest(range);
  } while (missing > 0 && range.startNs < range.endNs);
  return atPace(mergeStreams(rounds, { direction }), new Pacer(signal));
}

function narrowed(part: Part, narrowing: Narrowing): Part {
  return part.request.op === 'query_range' ? { ...part, request: { ...part.request, ...narrowing } } : part;
}

function keep(answer: StreamsAnswer, { direction }: QueryRangeRequest, apart: KeptApart): StreamsAnswer {
  const sign = direction === 'forward' ? 1 : -1;
  const inOrder = answer.streams
    .flatMap(({ entries }) => entries)
    .sort((a, b) => sign * Number(a.timestampNs - b.timestampNs));
  const kept = new Set<Entry>(inOrder.filter(({ timestampNs }) => apart.takes(timestampNs)));
  const streams = answer.streams
    .map(({ labels, entries }) => ({ labels, entries: entries.filter((entry) => kept.has(entry)) }))
    .filter(({ entries }) => entries.length > 0);
  return { ...answer, streams, stats: { ...answer.stats, entriesReturned: kept.size } };
}
