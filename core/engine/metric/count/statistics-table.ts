import { absentRows, leafEngine } from '../../../logql/metric/index.js';
import type { LeafRequest, SeriesTable } from '../../../logql/metric/index.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace } from '../../../base/pace/steps.js';
import type { LeafPlan } from '../../plan/types.js';
import type { LeafPush } from '../../plan/types.js';
import { earlyUpstream } from './early-upstream.js';
import { bucketsOf } from './buckets.js';
import type { Facts, FactsRequest } from './facts.js';
import { decidingFields } from './fields.js';
import { groupByLabels, groupByStream } from './grouping.js';
import { inventoryBytes, isSame, takeInventory, type Inventory } from './inventory.js';
import { jsonQuestion, oddLines, openNames } from './json.js';
import { rowsOfStreams, type RowContext } from '../rows/rows.js';
import { Statistics, type Counted, type Parts } from './statistics.js';

/** How long the streams of a selection are taken for those of the next question. */
const inventoryMs = 3_600_000;
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
  const attempt = await attemptOf({ plan, request, context, buckets });
  if (attempt === undefined) return undefined;
  const { inventory, make, counting } = attempt;
  // The facts are asked for beside the statistics; where they tell that these cannot be right, they are made anew.
  const facts = await context.facts.of(attempt.factsRequest, buckets.range, inventory.listed);
  const statistics = attempt.statistics.isRight(facts) ? attempt.statistics : make(facts);
  if (statistics === undefined) return undefined;
  const [counted, excess] = await Promise.all([
    statistics === attempt.statistics ? counting : statistics.count(),
    statistics.excess(facts),
  ]);
  if (counted === undefined || excess === undefined) return undefined;
  context.counts.scanned(inventory.listed);
  const into = leafEngine(request, true);
  await statistics.addTo(into, counted, { excess, facts, selectedRows: rowsOfStreams(inventory.listed) });
  const pacer = new Pacer(request.signal);
  await into.engine.prepare(pacer);
  const rows = into.engine.rows();
  const isAbsent = plan.push.measure === 'presence';
  const { isCut, isDistinct: isGrouped } = into.engine;
  return {
    rows: isAbsent ? await absentRows(leaf.range, rows, columns, pacer) : rows,
    isCut,
    isGrouped,
  };
}

/** A leaf to be counted. */
type Asked = Pick<Parts, 'plan' | 'request' | 'context' | 'buckets'>;

/** Statistics on their way, made with the facts that are expected. */
interface Attempt {
  readonly inventory: Inventory;
  readonly factsRequest: FactsRequest;
  readonly statistics: Statistics;
  readonly counting: Promise<Counted | undefined>;
  /** The statistics with other facts; undefined where they would be too large. */
  readonly make: (facts: Facts) => Statistics | undefined;
}

/** Begins with the streams of the last time, which most often are those of this time, while it asks for them. */
async function attemptOf(asked: Asked): Promise<Attempt | undefined> {
  const { plan, request, context, buckets } = asked;
  const { upstream, reader, inventories, owner } = context;
  const key = JSON.stringify([owner, printFilter(plan.selection)]);
  const before = inventories.get(key);
  const early = before === undefined ? undefined : earlyUpstream(upstream);
  // Asked for first: what is asked for early waits for it, and might otherwise keep it waiting.
  const taking = takeInventory(upstream, reader, plan.selection, buckets.range, request.signal);
  taking.catch(() => undefined);
  const guess =
    before === undefined || early === undefined
      ? undefined
      : await begin({ ...asked, context: { ...context, upstream: early.upstream } }, before);
  try {
    const inventory = await taking;
    inventories.set(key, inventory, inventoryBytes(inventory), inventoryMs);
    if (guess !== undefined && before !== undefined && isSame(before, inventory)) {
      early?.confirm();
      return { ...guess, inventory };
    }
    early?.giveUp();
    return await begin(asked, inventory);
  } catch (error) {
    early?.giveUp();
    throw error;
  }
}

async function begin({ plan: whole, ...asked }: Asked, inventory: Inventory): Promise<Attempt | undefined> {
  const { context, buckets } = asked;
  const open = openNames(whole.push.fromJson ?? [], inventory);
  // Parsers that can give no label, and whose errors nobody sees, need no lines.
  const readsLines = whole.push.fromJson !== undefined && (open.length > 0 || !whole.push.dropsErrors);
  const plan = readsLines ? whole : withoutJson(whole);
  const lines = readsLines ? jsonQuestion(open) : undefined;
  if (readsLines && lines === undefined) return undefined;
  const { naming } = context;
  const { names } = plan.push;
  const deciding = decidingFields(names, inventory, naming);
  if (needsManyGroups(plan.push, inventory, context)) return undefined;
  const byStream = groupByStream(inventory, deciding);
  const pacer = new Pacer(asked.request.signal);
  await pacer.due();
  const found =
    names === 'all' ? undefined : await atPace(groupByLabels(names, inventory, deciding, naming), pacer);
  const byLabels = found ?? byStream;
  const odd = lines === undefined ? undefined : oddLines;
  const factsRequest = { ...context, selection: plan.selection, columns: byLabels.standIns, odd };
  const make = (facts: Facts): Statistics | undefined => {
    const grouping = facts.isHidden ? byStream : byLabels;
    if (grouping.size * buckets.count > maxPoints || facts.odd > 0) return undefined;
    return new Statistics({ ...asked, plan, inventory, deciding, facts, grouping, lines });
  };
  const statistics = make(context.facts.expected(factsRequest));
  if (statistics === undefined) return undefined;
  const counting = statistics.count();
  // It may fail before anybody waits for it.
  counting.catch(() => undefined);
  return { inventory, factsRequest, statistics, counting, make };
}

function withoutJson(plan: Pushed): Pushed {
  const stages = plan.push.stages.filter(({ kind }) => kind !== 'json');
  return { ...plan, push: { ...plan.push, stages } };
}

/** Labels that only a filter looks at may have as many values as there are rows, unless streams or levels hold them. */
function needsManyGroups({ stageNames }: LeafPush, inventory: Inventory, { naming }: RowContext): boolean {
  const others = new Set([...stageNames].filter((name) => name !== detectedLevelName));
  return decidingFields(others, inventory, naming).all.length > 0;
}
