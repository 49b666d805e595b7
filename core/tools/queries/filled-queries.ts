import type { FoundQuery } from './found-query.js';
import { autoStep, fillIn, type Span } from './variables.js';

export interface Times {
  /** End of all ranges, and the time of instant queries, in Unix milliseconds. */
  readonly endMs: number;
  /** Lengths of ranges in milliseconds; each query without a length of its own is taken once for each. */
  readonly rangesMs: readonly number[];
}

/** A query that cannot be sent, with the reason. */
export interface NotAsked {
  readonly query: Pick<FoundQuery, 'group' | 'name' | 'text'>;
  readonly reason: string;
}

/** A query with its variables filled in, over one range. */
export interface FilledQuery {
  readonly query: FoundQuery;
  readonly text: string;
  readonly span: Span;
  /** The name of the query, with the length of the range if there are several. */
  readonly name: string;
}

/** The span of a query in a range; steps and times are aligned so that both sides evaluate at the same moments. */
export function spanOf(endMs: number, rangeMs: number, stepMs = autoStep(rangeMs)): Span {
  const alignedMs = endMs - (endMs % stepMs);
  return { startMs: alignedMs - rangeMs, endMs: alignedMs, stepMs };
}

/** A query of a file over each of the ranges. */
export function filledQueries(
  query: FoundQuery,
  values: ReadonlyMap<string, readonly string[]>,
  { endMs, rangesMs }: Times,
): { readonly filled: readonly FilledQuery[]; readonly notAsked: readonly NotAsked[] } {
  const filled: FilledQuery[] = [];
  const notAsked: NotAsked[] = [];
  const lengths = query.kind === 'instant' ? rangesMs.slice(0, 1) : [query.rangeMs ?? rangesMs].flat();
  for (const rangeMs of lengths) {
    const span = spanOf(endMs, rangeMs, query.stepMs);
    const { text, missing } = fillIn(query.text ?? '', values, span);
    if (missing.length > 0) {
      const names = [...new Set(missing)].map((name) => `$${name}`).join(', ');
      notAsked.push({ query, reason: `no value for ${names}: set it with -variable` });
      continue;
    }
    const seconds = Math.round((span.endMs - span.startMs) / 1000);
    const name = lengths.length > 1 ? `${query.name}, ${seconds} s` : query.name;
    filled.push({ query, text, span, name });
  }
  return { filled, notAsked };
}
