import type { WrittenRow } from '../../../core/testing/index.js';
import type { TimeRange } from '../../../core/base/time/range.js';
import type { LogsqlPipe } from '../../../core/victoria/logsql/ast.js';
import { formatTime } from '../../../core/victoria/logsql/literals.js';
import type {
  BackendSample,
  BackendValue,
  RowsRequest,
  StatsRequest,
  Upstream,
} from '../../../core/victoria/upstream/types.js';

export interface MemoryRow {
  readonly ns: bigint;
  readonly stream: string;
  readonly line: string;
}

/** A fake backend with a few rows: it supports ranges, `newest`, ascending order with a limit, and counting; it cuts ties arbitrarily. */
export class MemoryUpstream implements Upstream {
  readonly owner = '';
  readonly #rows: readonly MemoryRow[];
  /** Nanoseconds from the first row to each row: numbers are compared much faster than bigints. */
  readonly #offsets: Float64Array;
  readonly requests: RowsRequest[] = [];
  /** The response to a request for a count; the true count by default. */
  countsAs: number | undefined;

  constructor(rows: readonly MemoryRow[]) {
    this.#rows = rows;
    this.#offsets = Float64Array.from(rows, ({ ns }) => Number(ns - this.#firstNs));
  }

  async *rows(request: RowsRequest): AsyncIterable<readonly WrittenRow[]> {
    this.requests.push(request);
    const within = this.#within(request.range);
    const limit = request.newest ?? sortLimit(request.query.pipes);
    const isNewest = request.newest !== undefined;
    const order = (a: MemoryRow, b: MemoryRow): number => Number(isNewest ? b.ns - a.ns : a.ns - b.ns);
    const kept = limit === undefined ? within : [...within].sort(order).slice(0, limit);
    // Rows come in no useful order, two at a time, or a hundred at a time if there are more than a thousand.
    const shuffled = [...kept].reverse();
    const together = shuffled.length > 1000 ? 100 : 2;
    for (let at = 0; at < shuffled.length; at += together) {
      await Promise.resolve();
      yield shuffled.slice(at, at + together).map(toRow);
    }
  }

  #within({ startNs, endNs }: TimeRange): readonly MemoryRow[] {
    const [from, to] = [startNs, endNs].map((ns) => Number(ns - this.#firstNs)) as [number, number];
    return this.#rows.filter((_row, index) => {
      const at = this.#offsets[index] ?? 0;
      return at >= from && at < to;
    });
  }

  get #firstNs(): bigint {
    return this.#rows[0]?.ns ?? 0n;
  }

  list(): Promise<readonly BackendValue[]> {
    return Promise.reject(new Error('no listings here'));
  }

  stats({ query, range }: StatsRequest): Promise<readonly BackendSample[]> {
    if (query.pipes[0]?.kind !== 'stats') return Promise.reject(new Error('no other statistics here'));
    const count = this.#within(range).length;
    return Promise.resolve([{ name: 'rows', labels: new Map(), value: String(this.countsAs ?? count) }]);
  }

  statsRange(): Promise<never> {
    return Promise.reject(new Error('no statistics here'));
  }

  deletion(): never {
    throw new Error('no deletions here');
  }

  tail(): Promise<never> {
    return Promise.reject(new Error('no tail here'));
  }
}

function sortLimit(pipes: readonly LogsqlPipe[]): number | undefined {
  const [pipe] = pipes;
  return pipe?.kind === 'sort' ? pipe.limit : undefined;
}

function toRow({ ns, stream, line }: MemoryRow): WrittenRow {
  return { _time: formatTime(ns), _stream: `{app="${stream}"}`, _stream_id: stream, _msg: line, app: stream };
}
