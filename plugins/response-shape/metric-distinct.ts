import type { TimeRange } from '../../core/api/request.js';
import type { LogsqlFilter } from '../../core/logsql/ast.js';
import { query, stats, statsFunction } from '../../core/logsql/build.js';
import { printFilter } from '../../core/logsql/print.js';
import type { Upstream } from '../../core/plugin/index.js';

/** What was found out about a stretch of time: rows by `_stream` text, and the streams in which rows share a time. */
interface Finding {
  readonly rows: ReadonlyMap<string, number>;
  readonly suspects: ReadonlySet<string>;
}

const maxFindings = 2000;
/** Calls at once; they stand beside the statistics themselves. */
const parallel = 4;
const hourNs = 3_600_000_000_000n;
/** Stretches that may make up a range; a longer stretch is tried beyond that. */
const maxStretches = 14n;
const stretchesNs: readonly bigint[] = [hourNs, 4n * hourNs, 24n * hourNs, 168n * hourNs];

/**
 * Tells the streams in which rows share a time, and remembers it for whole hours: it still holds when each stream has as many
 * rows there as it had then, which a listing tells at once.
 */
export class DistinctTimes {
  readonly #findings = new Map<string, Finding>();

  /** @param owner whose data the upstream gives */
  async suspects(
    owner: string,
    upstream: Upstream,
    selection: LogsqlFilter,
    range: TimeRange,
  ): Promise<ReadonlySet<string>> {
    const text = `${owner} ${printFilter(selection)}`;
    const suspects = new Set<string>();
    const queue = stretchesOf(range).values();
    const worker = async (): Promise<void> => {
      for (const { isWhole, ...stretch } of queue) {
        const key = `${text} ${stretch.startNs}-${stretch.endNs}`;
        const found = isWhole
          ? await this.#remembered(key, upstream, selection, stretch)
          : (await look(upstream, selection, stretch)).suspects;
        for (const stream of found) suspects.add(stream);
      }
    };
    await Promise.all(Array.from({ length: parallel }, worker));
    return suspects;
  }

  async #remembered(
    key: string,
    upstream: Upstream,
    selection: LogsqlFilter,
    range: TimeRange,
  ): Promise<ReadonlySet<string>> {
    const known = this.#findings.get(key);
    if (known !== undefined) {
      const listed = await upstream.list({ listing: 'streams', query: query(selection), range });
      const isSame =
        listed.length === known.rows.size &&
        listed.every(({ value, hits }) => known.rows.get(value) === hits);
      if (isSame) return known.suspects;
    }
    const finding = await look(upstream, selection, range);
    if (this.#findings.size >= maxFindings) this.#findings.clear();
    this.#findings.set(key, finding);
    return finding.suspects;
  }
}

async function look(upstream: Upstream, selection: LogsqlFilter, range: TimeRange): Promise<Finding> {
  const counting = stats(
    ['_stream'],
    statsFunction('count', [], 'rows'),
    statsFunction('count_uniq_hash', ['_time'], 'different'),
  );
  const rows = new Map<string, number>();
  const suspects = new Set<string>();
  for await (const batch of upstream.rows({ query: query(selection, [counting]), range })) {
    for (const row of batch) {
      const stream = row['_stream'] ?? '{}';
      rows.set(stream, Number(row['rows']));
      if (row['rows'] !== row['different']) suspects.add(stream);
    }
  }
  return { rows, suspects };
}

/** A range as whole hours (or longer, for long ranges) and what is left at its ends. */
export function stretchesOf(range: TimeRange): readonly (TimeRange & { readonly isWhole: boolean })[] {
  const { startNs, endNs } = range;
  const sizeNs = stretchesNs.find((size) => (endNs - startNs) / size < maxStretches);
  const first = sizeNs === undefined ? endNs : ((startNs + sizeNs - 1n) / sizeNs) * sizeNs;
  if (sizeNs === undefined || first + sizeNs > endNs) return [{ ...range, isWhole: false }];
  const stretches: (TimeRange & { readonly isWhole: boolean })[] = [];
  if (first > startNs) stretches.push({ startNs, endNs: first, isWhole: false });
  let at = first;
  for (; at + sizeNs <= endNs; at += sizeNs)
    stretches.push({ startNs: at, endNs: at + sizeNs, isWhole: true });
  if (at < endNs) stretches.push({ startNs: at, endNs, isWhole: false });
  return stretches;
}
