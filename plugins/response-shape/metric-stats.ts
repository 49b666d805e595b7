import { absentRows, addEntries, RangeEngine } from '../../core/logql/metric/index.js';
import type { LeafRequest, SeriesTable } from '../../core/logql/metric/index.js';
import { Pacer } from '../../core/logql/metric/pacer.js';
import type { RangeAggregation, Stage } from '../../core/logql/ast.js';
import { compileExtractor, type SampleExtractor } from '../../core/logql/pipeline/extractor.js';
import type { LogsqlFilter } from '../../core/logsql/ast.js';
import {
  and,
  exact,
  fieldName,
  matcher,
  not,
  or,
  query,
  regexp,
  stats,
  statsFunction,
} from '../../core/logsql/build.js';
import { detectedLevelName } from '../../core/names/level.js';
import { levelNames } from '../../core/names/level-words.js';
import { missingLineRows } from '../../core/plan/missing-lines.js';
import type { LeafPlan } from '../../core/plan/metric.js';
import type { LeafPush } from '../../core/plan/metric-push.js';
import { bucketsOf, endOfBucket, type Buckets } from './metric-buckets.js';
import { excessRows } from './metric-excess.js';
import { decidingFields, takeInventory, type DecidingFields, type Inventory } from './metric-fields.js';
import { Groups } from './metric-groups.js';
import { countRows, entryOf, readEntries, type RowContext, type RowRequest } from './metric-rows.js';

/** Buckets in all groups together that the backend may be asked for; above, rows are no more. */
const maxBuckets = 11_000;
const maxPoints = 1_000_000;

type Pushed = LeafPlan & { readonly push: LeafPush };

/**
 * The series of a leaf from the backend's statistics. Groups of rows are treated as rows would be; what groups cannot tell (rows
 * without a line, rows whose level stands in the line) is read as rows, and rows pushed twice are taken out again. Undefined
 * where rows must do it all.
 */
export async function statisticsTable(
  plan: Pushed,
  request: LeafRequest,
  context: RowContext,
): Promise<SeriesTable | undefined> {
  const { leaf, columns, limits } = request;
  const buckets = bucketsOf(columns, leaf.range.range);
  if (buckets === undefined || buckets.count > maxBuckets) return undefined;
  const { upstream, reader, naming } = context;
  const { range } = buckets;
  const [inventory, missing] = await Promise.all([
    takeInventory(upstream, reader, plan.selection, range),
    countRows(upstream, and(plan.selection, missingLineRows(naming)), range),
  ]);
  if (inventory.streams.size * buckets.count > maxPoints) return undefined;
  const deciding = decidingFields(plan.push.names, inventory, naming);
  if (needsManyGroups(plan.push, inventory, context)) return undefined;
  const engine = new RangeEngine(weighted(leaf.range), columns, limits);
  const statistics = new Statistics({
    plan,
    request,
    context,
    buckets,
    inventory,
    deciding,
    missing,
    engine,
  });
  if (!(await statistics.run())) return undefined;
  const rows = engine.rows();
  return { rows: plan.push.measure === 'presence' ? absentRows(leaf.range, rows, columns) : rows };
}

/** Labels that only a filter looks at may have as many values as there are rows, unless streams or levels hold them. */
function needsManyGroups({ stageNames }: LeafPush, inventory: Inventory, { naming }: RowContext): boolean {
  const others = new Set([...stageNames].filter((name) => name !== detectedLevelName));
  return decidingFields(others, inventory, naming).all.length > 0;
}

/** The function that adds numbers up where the original counts samples. */
function weighted(range: RangeAggregation): RangeAggregation {
  switch (range.op) {
    case 'count_over_time':
      return { ...range, op: 'bytes_over_time' };
    case 'rate':
      return { ...range, op: 'bytes_rate' };
    default:
      return range;
  }
}

interface Parts {
  readonly plan: Pushed;
  readonly request: LeafRequest;
  readonly context: RowContext;
  readonly buckets: Buckets;
  readonly inventory: Inventory;
  readonly deciding: DecidingFields;
  readonly missing: number;
  readonly engine: RangeEngine;
}

/** One leaf's statistics on their way into an engine. */
class Statistics {
  readonly #parts: Parts;
  readonly #groups: Groups;
  /** Rows that have a line, all filters of the backend applied. */
  readonly #filter: LogsqlFilter;
  readonly #ofRow: SampleExtractor;
  readonly #ofGroup: SampleExtractor;
  #hasUndecided = false;

  constructor(parts: Parts) {
    const { plan, context, deciding, missing } = parts;
    const { range, pushed } = plan.leaf;
    const { reader, naming } = context;
    this.#parts = parts;
    this.#groups = new Groups(reader, naming, deciding.all, plan.push.names.has(detectedLevelName));
    this.#filter = missing === 0 ? plan.logs.filter : and(plan.logs.filter, not(missingLineRows(naming)));
    this.#ofRow = compileExtractor(range, pushed);
    this.#ofGroup = compileExtractor(
      withStages({ ...range, op: 'count_over_time' }, plan.push.stages),
      pushed,
    );
  }

  /** False when statistics cannot do it after all. */
  async run(): Promise<boolean> {
    const [counted, excess] = await Promise.all([this.#count(), this.#excess()]);
    if (!counted || excess === undefined) return false;
    for (const row of excess) {
      if (!this.#groups.isDecided((name) => row[name])) continue;
      const entry = entryOf(this.#parts.context.reader.read(row));
      const sample = this.#ofRow(entry);
      if (sample !== undefined) this.#parts.engine.add(sample.labels, entry.timestampNs, -sample.value);
    }
    await this.#addMissing();
    if (this.#hasUndecided) await this.#addUndecided(excess.length > 0);
    return true;
  }

  async #count(): Promise<boolean> {
    const { plan, context, buckets, deciding, engine } = this.#parts;
    const { upstream, counts } = context;
    const { range, stepNs, shiftNs } = buckets;
    const isBytes = plan.push.measure === 'bytes';
    const measured = isBytes
      ? statsFunction('sum_len', ['_msg'], 'value')
      : statsFunction('count', [], 'value');
    const asked = { query: query(this.#filter, [stats(['_stream', ...deciding.all], measured)]), range };
    const series =
      buckets.count === 1
        ? (await upstream.stats(asked)).map(({ labels, value }) => ({
            labels,
            points: [[0, value] as const],
          }))
        : await upstream.statsRange({ ...asked, stepNs, shiftNs });
    if (series.some(({ labels }) => this.#groups.mayBeRewritten(labels)) && (await this.#isRewritten()))
      return false;
    for (const { labels, points } of series) {
      if (!this.#groups.isDecided((name) => labels.get(name))) {
        this.#hasUndecided = true;
        continue;
      }
      const values = points.map(
        ([seconds, value]) => [endOfBucket(seconds, buckets), Number(value)] as const,
      );
      const sum = values.reduce((all, [, value]) => all + value, 0);
      counts.counted(isBytes ? 0 : sum, isBytes ? sum : 0);
      this.#groups.add(labels, values, this.#ofGroup, engine);
    }
    return true;
  }

  /** Whether there are values such as 1_000, which the backend groups as 1000. */
  async #isRewritten(): Promise<boolean> {
    const { context, buckets, deciding, plan } = this.#parts;
    const underscored = or(...deciding.all.map((name) => regexp(name, '^[0-9]+_[0-9_]*$')));
    return (await countRows(context.upstream, and(plan.selection, underscored), buckets.range)) > 0;
  }

  async #excess(): ReturnType<typeof excessRows> {
    const { plan, context, buckets, inventory, deciding } = this.#parts;
    if (plan.push.measure === 'presence') return [];
    return excessRows({
      ...context,
      filter: this.#filter,
      selection: plan.selection,
      range: buckets.range,
      streams: inventory.streams,
      fields: deciding.all,
    });
  }

  async #addMissing(): Promise<void> {
    const { plan, context, missing } = this.#parts;
    if (missing === 0) return;
    const rows = missingLineRows(context.naming);
    await this.#addRows({
      filter: and(plan.logs.filter, rows),
      selection: and(plan.selection, rows),
      columns: undefined,
    });
  }

  /** Rows of streams without a level, in so far as no stored field tells it. */
  async #addUndecided(mayRepeat: boolean): Promise<void> {
    const { plan, context, deciding } = this.#parts;
    const labels = new Set(
      [...levelNames, detectedLevelName].flatMap((name) => context.naming.fieldsOf(name)),
    );
    const unlabelled: LogsqlFilter = {
      kind: 'stream',
      groups: [[...labels].map((name) => matcher(name, '=', ''))],
    };
    const unfilled = deciding.hasOtlp ? and() : and(...deciding.levels.map((name) => exact(name, '')));
    const columns = ['_time', '_stream', '_msg', ...deciding.all].map(fieldName);
    const rest = and(unlabelled, unfilled);
    await this.#addRows({
      filter: and(this.#filter, rest),
      selection: and(plan.selection, unlabelled),
      columns,
      mayRepeat,
      accepts: (row) => !this.#groups.isDecided((name) => row[name]),
    });
  }

  async #addRows(rows: Omit<RowRequest, 'range'>): Promise<void> {
    const { context, request, buckets, engine } = this.#parts;
    const pacer = new Pacer(request.signal);
    for await (const batch of readEntries({ ...rows, range: buckets.range }, context)) {
      addEntries(engine, this.#ofRow, batch.map(entryOf));
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
  }
}

function withStages(range: RangeAggregation, stages: readonly Stage[]): RangeAggregation {
  return { ...range, range: { ...range.range, query: { ...range.range.query, stages } } };
}
