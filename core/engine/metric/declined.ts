import type { Memory } from '../../base/memory/byte-lru.js';

/** TTL of a decline caused by data. */
const keptMs = 600_000;

/** Remembers declines caused by the data of one owner, so that the same is not tried again for a while. */
export class Declines {
  readonly #memory: Memory<Declined>;
  readonly #owner: string;

  constructor(memory: Memory<Declined>, owner: string) {
    this.#memory = memory;
    this.#owner = owner;
  }

  /** @param what everything that the decline depends on */
  of(...what: readonly unknown[]): Declined | undefined {
    return this.#memory.get(this.#keyOf(what));
  }

  remember(declined: Declined, ...what: readonly unknown[]): Declined {
    this.#memory.set(this.#keyOf(what), declined, 0, keptMs);
    return declined;
  }

  /** Calls `ask`, unless the same was declined before. */
  async unless<Result extends object>(
    what: readonly unknown[],
    ask: () => Promise<Result | Declined>,
  ): Promise<Result | Declined> {
    const known = this.of(...what);
    if (known !== undefined) return known;
    const result = await ask();
    return isDeclined(result) ? this.remember(result, ...what) : result;
  }

  #keyOf(what: readonly unknown[]): string {
    return JSON.stringify([this.#owner, ...what]);
  }
}

/** Reasons why a strategy cannot read a leaf, which makes its cost infinite: identifiers for metrics and logs, with their meaning. */
export const declineReasons = {
  'all-columns': 'the query uses all labels of rows, so no column can be omitted',
  'entry-failed': 'an entry cannot be evaluated, and the error must name it as Loki does',
  'errors-kept': 'a sample has an error that the query keeps, so it is a series with all labels',
  'has-lines': 'rows of the selection have a stored line',
  'hidden-fields': 'a row has another value in a field than its stream has',
  'lenient-numbers': 'lines contain numbers that the JSON parser of the backend accepts and Loki’s refuses',
  'lines-differ': 'lines are too different: there would be almost as many groups as lines',
  'lines-needed':
    'the query uses more of the lines than the labels of | json, | logfmt, | pattern or | regexp',
  'lines-stay-long': 'too few sampled lines would get shorter',
  'missing-lines': 'rows have no stored line',
  'more-rows': 'there are many more rows than expected, so the strategy is chosen again',
  'no-buckets': 'the range contains no complete counting window',
  'no-matching-line': 'no line was found that `| regexp` matches with the values of a group',
  'no-parsed-labels':
    'the query uses no label from the parser, so valid and invalid lines cannot be distinguished',
  'not-countable':
    'the backend has no statistics for it; the pushdown rule of the range aggregation explains why',
  'query-too-long': 'its query would be longer than -search.maxQueryLen of VictoriaLogs allows',
  'repeated-rows': 'entries were pushed more than once',
  'reserved-name': 'a field is called __proto__, which cannot be a column here',
  'rewritten-numbers': 'values such as 1_000 would be grouped as 1000 by the backend',
  'row-labels': 'a filter uses a label that may have as many values as there are rows',
  'shared-streams': 'several streams of the backend have the same labels and may hold the same entries',
  'times-needed': 'the times of values or their order matter, or no values are unwrapped',
  'too-many-buckets': 'there are more time buckets than one backend call may request',
  'too-many-groups': 'there are more groups than the series limit of the answer',
  'too-many-parsed-labels': 'the parser extracts more labels than the grouping supports',
  'too-many-repeats': 'too many entries were pushed more than once to compare their rows one by one',
  'too-many-shapes': 'too many kinds of lines need a check to list them in one query',
  'too-many-values': 'groups and buckets together have more values than fit into memory',
  'uneven-buckets':
    'buckets do not start at whole milliseconds, and the backend reports their start in milliseconds only',
  'values-seen': 'the unwrapped label is also used by another stage, or stays a label',
  'unlisted-stream': 'a row belongs to a stream that appeared after the streams were listed',
} as const satisfies Readonly<Record<string, string>>;

/** Outcomes of attempts other than declines. */
export const endTexts = {
  ran: 'it produced the series',
  failed: 'its error ended the query',
} as const;

const outcomeTexts: ReadonlyMap<string, string> = new Map([
  ...Object.entries(endTexts),
  ...Object.entries(declineReasons),
]);

/** The outcome of an attempt, in words. */
export function outcomeText(outcome: string): string {
  return outcomeTexts.get(outcome) ?? outcome;
}

export type DeclineReason = keyof typeof declineReasons;

/** Returned by a strategy, or by a step of one, that cannot give a result. */
export interface Declined {
  readonly declined: DeclineReason;
}

export function decline(reason: DeclineReason): Declined {
  return { declined: reason };
}

export function isDeclined(result: object): result is Declined {
  return 'declined' in result;
}
