import { ofKey } from '../../core/base/memory/byte-lru.js';
import { inParallel } from '../../core/base/pace/in-parallel.js';
import { eachAtPace, Pacer } from '../../core/base/pace/steps.js';
import type { LineWorkers } from '../../core/logql/index.js';
import {
  emptyRow,
  EntryCounter,
  type Columns,
  type Leaf,
  type LeafRequest,
  type LeafSource,
  type SeriesRow,
  type SeriesTable,
} from '../../core/logql/metric/index.js';
import { leafExpr, rowsOfAnswer } from '../../core/operations/metric-parts.js';
import { leftOf, runsOf, columnTime, type OldTimes, type Run, type Side } from './border.js';
import { readLines, type LineReading } from './line-reader.js';
import { isRefusedPart } from './old-loki.js';
import type { Sides } from './sides.js';
import { cutAt, partedLeaf, rangeOf, rowsOfParts, type MetricRequest } from './window-parts.js';

export interface BorderDeps {
  readonly sides: Sides;
  readonly times: OldTimes;
  readonly workers: Pick<LineWorkers, 'run'>;
  readonly lines: LineReading;
}

/** The series of range aggregations over the border. */
export class BorderLeaves implements LeafSource {
  readonly #request: MetricRequest;
  readonly #deps: BorderDeps;

  constructor(request: MetricRequest, deps: BorderDeps) {
    this.#request = request;
    this.#deps = deps;
  }

  /** Columns whose windows lie on one side are queried there; a window with the border inside is made of both. */
  async series({ leaf: planned, ...others }: LeafRequest): Promise<SeriesTable> {
    // Rows are merged by their labels, so these must be complete.
    const leaf = { ...planned, folded: undefined, merged: undefined };
    const request = { ...others, leaf };
    const { columns, signal } = request;
    const runs = runsOf(columns, [leaf.range.range], this.#deps.times);
    const read = (run: Run, ends: AbortSignal): Promise<readonly SeriesRow[]> =>
      run.place === 'both'
        ? this.#both({ ...request, columns: run.columns, signal: ends })
        : this.#orLines({ ...request, columns: run.columns, signal: ends }, () =>
            this.#oneSide(run.place === 'old' ? 'old' : 'new', leaf, run.columns, ends),
          );
    const tables = await inParallel(runs, runs.length, read, signal);
    const [first] = tables;
    if (first !== undefined && tables.length === 1) return { rows: first };
    return { rows: await stitched(runs, tables, columns, new Pacer(signal)) };
  }

  async #oneSide(
    side: Side,
    leaf: Leaf,
    columns: Columns,
    signal: AbortSignal,
  ): Promise<readonly SeriesRow[]> {
    const query = this.#request.query.withAst(leafExpr(leaf));
    const { limit, direction } = this.#request;
    const stepNs = BigInt(columns.stepMs) * 1_000_000n;
    const request: MetricRequest =
      columns.kind === 'instant'
        ? { op: 'query', query, timeNs: columns.firstNs, limit, direction, isPart: true }
        : rangeOf(
            this.#request,
            query,
            { startNs: columns.firstNs, endNs: columnTime(columns, columns.count - 1) },
            stepNs,
          );
    return rowsOfAnswer(await this.#deps.sides.ask({ side, request }, signal), columns, new Pacer(signal));
  }

  async #both(request: LeafRequest): Promise<readonly SeriesRow[]> {
    const { leaf, columns, signal } = request;
    const { times, sides } = this.#deps;
    const parted = this.#isReachable(leaf, columns) ? partedLeaf(leaf) : undefined;
    if (parted === undefined) return this.#rowsOfLines(request);
    const { rest } = cutAt(times.untilNs, leaf.range, columns);
    const between = await this.#rowsOfLines({ ...request, leaf: parted.leaf }, rest);
    return this.#orLines(request, () =>
      rowsOfParts(parted, columns, times.untilNs, this.#request, sides, between, signal),
    );
  }

  /** A part has more series than the whole query may have, and the old Loki refuses it for that. Its lines can still be read. */
  async #orLines(
    request: LeafRequest,
    read: () => Promise<readonly SeriesRow[]>,
  ): Promise<readonly SeriesRow[]> {
    try {
      return await read();
    } catch (error) {
      if (!isRefusedPart(error)) throw error;
      return this.#rowsOfLines(request);
    }
  }

  /** True if the tenant may read all that the windows contain. */
  #isReachable({ range }: Leaf, columns: Columns): boolean {
    const { oldestNs } = this.#deps.times;
    return oldestNs === undefined || leftOf(columnTime(columns, 0), range.range) >= oldestNs - 1n;
  }

  /** Evaluates lines of both sides here; only those in [startNs, endNs) if that is given. */
  async #rowsOfLines(
    request: LeafRequest,
    only?: { readonly startNs: bigint; readonly endNs: bigint },
  ): Promise<readonly SeriesRow[]> {
    const { leaf, signal } = request;
    const counter = new EntryCounter(request, this.#deps.workers);
    const { startNs, endNs } = counter.range;
    const { oldestNs = startNs } = this.#deps.times;
    const whole = only ?? { startNs: startNs > oldestNs ? startNs : oldestNs, endNs };
    const { query } = leaf.range.range;
    for await (const entries of readLines(query, whole, this.#request, signal, this.#deps.lines))
      await counter.add(entries);
    return [...(await counter.table()).rows];
  }
}

/** The series of adjacent runs of columns as series over all of them. */
async function stitched(
  runs: readonly Run[],
  tables: readonly (readonly SeriesRow[])[],
  columns: Columns,
  pacer: Pacer,
): Promise<readonly SeriesRow[]> {
  const byKey = new Map<string, SeriesRow>();
  for (const [index, { from }] of runs.entries())
    await eachAtPace(tables[index] ?? [], pacer, ({ labels, values, present }) => {
      const row = ofKey(byKey, labels.key, () => emptyRow(labels, columns.count));
      row.values.set(values, from);
      row.present.set(present, from);
    });
  return [...byKey.values()];
}
