import { absentRows, leafEngine } from '../../core/logql/metric/index.js';
import type { LeafRequest, SeriesTable } from '../../core/logql/metric/index.js';
import type { RangeAggregation } from '../../core/logql/ast.js';
import { detectedLevelName } from '../../core/names/level.js';
import type { LeafPlan } from '../../core/plan/metric.js';
import type { LeafPush } from '../../core/plan/metric-push.js';
import { bucketsOf } from './metric-buckets.js';
import { decidingFields, takeInventory, type Inventory } from './metric-fields.js';
import { groupByLabels, groupByStream } from './metric-grouping.js';
import type { RowContext } from './metric-rows.js';
import { Statistics } from './metric-statistics.js';

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
  const { leaf, columns } = request;
  const buckets = bucketsOf(columns, leaf.range.range);
  if (buckets === undefined || buckets.count > maxBuckets) return undefined;
  const { upstream, reader, naming, facts: remembered } = context;
  const inventory = await takeInventory(upstream, reader, plan.selection, buckets.range);
  const deciding = decidingFields(plan.push.names, inventory, naming);
  if (needsManyGroups(plan.push, inventory, context)) return undefined;
  const byStream = groupByStream(inventory, deciding);
  const { names } = plan.push;
  const byLabels =
    (names === 'all' ? undefined : groupByLabels(names, inventory, deciding, naming)) ?? byStream;
  // The facts are asked for beside the statistics; where they tell that these cannot be right, they are made anew.
  const asked = { ...context, selection: plan.selection, columns: byLabels.standIns };
  const expected = remembered.expected(asked);
  const guessed = expected.isHidden ? byStream : byLabels;
  if (guessed.size * buckets.count > maxPoints) return undefined;
  const known = { plan, request, context, buckets, inventory, deciding };
  const guess = new Statistics({ ...known, facts: expected, grouping: guessed });
  const counting = guess.count();
  // It may fail before anybody waits for it.
  counting.catch(() => undefined);
  const facts = await remembered.of(asked, buckets.range, inventory.listed);
  const grouping = facts.isHidden ? byStream : byLabels;
  if (grouping.size * buckets.count > maxPoints) return undefined;
  const statistics = guess.isRight(facts) ? guess : new Statistics({ ...known, facts, grouping });
  const [counted, excess] = await Promise.all([
    statistics === guess ? counting : statistics.count(),
    statistics.excess(facts),
  ]);
  if (counted === undefined || excess === undefined) return undefined;
  context.counts.scanned(inventory.listed);
  const into = leafEngine(request, weighted(leaf.range));
  await statistics.addTo(into, counted, excess, facts);
  const rows = into.engine.rows();
  const isAbsent = plan.push.measure === 'presence';
  return { rows: isAbsent ? absentRows(leaf.range, rows, columns) : rows, isCut: into.engine.isCut };
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
