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
  'all-columns': 'all labels of rows are seen, so no column can be left out',
  'entry-failed': 'an entry cannot be evaluated, and the error has to name it as Loki does',
  'has-lines': 'rows of the selection have a stored line',
  'hidden-fields': 'a row has another value in a field than its stream has',
  'lenient-numbers': 'lines hold numbers that the JSON parser of the backend takes and that of Loki refuses',
  'lines-differ': 'lines have too little in common: there would be almost as many groups as lines',
  'lines-needed': 'more of lines is seen than labels that | json takes from them',
  'lines-stay-long': 'too few lines of a sample would be shorter',
  'missing-lines': 'rows have no stored line',
  'more-rows': 'there are many more rows than were expected, so that it is chosen again',
  'no-buckets': 'the range has no window to count in',
  'no-json-labels': 'no label is wanted of which only | json knows, so nothing tells valid lines from others',
  'not-countable':
    'the backend has no statistics for it; the pushdown rule of the range aggregation says why',
  'repeated-rows': 'entries were pushed more than once',
  'reserved-name': 'a field is called __proto__, which cannot be a column here',
  'rewritten-numbers': 'values such as 1_000 would be grouped as 1000 by the backend',
  'row-labels': 'a filter looks at a label that may have as many values as there are rows',
  'shared-streams': 'several streams of the backend have the same labels and may hold the same entries',
  'times-needed': 'the times of values or their order matter, or no values are unwrapped',
  'too-many-buckets': 'there are more buckets of time than the backend is asked for',
  'too-many-groups': 'there are more groups than the answer may have series',
  'too-many-json-labels': '| json gives more labels than lines are told apart by',
  'too-many-repeats': 'too many entries were pushed more than once to compare their rows one by one',
  'too-many-shapes': 'too many kinds of lines need a look for naming them in a query',
  'too-many-values': 'groups and buckets together have more values than are held',
  'uneven-buckets':
    'buckets do not begin at whole milliseconds, and the backend shows no more of their begin',
  'values-seen': 'the label that is unwrapped is looked at by another stage or stays a label',
  'unlisted-stream': 'a row is of a stream that came after streams were listed',
} as const satisfies Readonly<Record<string, string>>;

/** Outcomes of attempts other than declines. */
export const endTexts = {
  ran: 'it gave the series',
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
