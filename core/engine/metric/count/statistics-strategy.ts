import { absentRows, leafEngine } from '../../../logql/metric/index.js';
import type { LeafRequest, SeriesTable } from '../../../logql/metric/index.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace } from '../../../base/pace/steps.js';
import type { LeafPlan } from '../../plan/types.js';
import type { LeafPush } from '../../plan/types.js';
import { earlyUpstream } from './early-upstream.js';
import type { LeafContext, Strategy } from '../context.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import { bucketsOf } from './counting.js';
import type { Facts, FactsRequest } from './facts.js';
import { decidingFields, groupByLabels, groupByStream } from './grouping.js';
import { inventoryBytes, isSame, takeInventory, type Inventory } from './inventory.js';
import { jsonQuestion, oddLines, openNames } from './json.js';
import { rowsOfStreams } from '../rows.js';
import { Statistics, type Counted, type Parts } from './statistics.js';

/** How long the streams of a selection are taken for those of the next question. */
const inventoryMs = 3_600_000;
/** Values of all groups in all buckets that the backend may be asked for. */
const maxPoints = 1_000_000;

type Pushed = LeafPlan & { readonly push: LeafPush };

/**
 * Has the backend count. Groups of rows are treated as rows would be; what groups cannot tell (rows without a line, rows whose level
 * stands in the line) is read as rows, and rows that were pushed twice are taken out again.
 */
export const statisticsStrategy: Strategy = {
  name: 'statistics',
  summary: 'the backend counts rows by the columns that tell their labels',
  tellsEntry: 'not',
  prepare: ({ push, ...leaf }) =>
    push === undefined
      ? decline('not-countable')
      : (request, context) => statisticsTable({ ...leaf, push }, request, context),
};

async function statisticsTable(
  plan: Pushed,
  request: LeafRequest,
  context: LeafContext,
): Promise<SeriesTable | Declined> {
  const { leaf, columns } = request;
  const buckets = bucketsOf(columns, leaf.range.range);
  if (isDeclined(buckets)) return buckets;
  const begun = await beginEarly({ plan, request, context, buckets });
  if (isDeclined(begun)) return begun;
  const { inventory, make, counting } = begun;
  // The facts are asked for beside the statistics; where they tell that these cannot be right, they are made anew.
  const facts = await context.facts.of(begun.factsRequest, buckets.range, inventory.listed);
  const statistics = begun.statistics.isRight(facts) ? begun.statistics : make(facts);
  if (isDeclined(statistics)) return statistics;
  const [counted, excess] = await Promise.all([
    statistics === begun.statistics ? counting : statistics.count(),
    statistics.excess(facts),
  ]);
  if (isDeclined(counted)) return counted;
  if (isDeclined(excess)) return excess;
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
interface Begun {
  readonly inventory: Inventory;
  readonly factsRequest: FactsRequest;
  readonly statistics: Statistics;
  readonly counting: Promise<Counted | Declined>;
  /** The statistics with other facts. */
  readonly make: (facts: Facts) => Statistics | Declined;
}

/** Begins with the streams of the last time, which most often are those of this time, while it asks for them. */
async function beginEarly(asked: Asked): Promise<Begun | Declined> {
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
      return isDeclined(guess) ? guess : { ...guess, inventory };
    }
    early?.giveUp();
    return await begin(asked, inventory);
  } catch (error) {
    early?.giveUp();
    throw error;
  }
}

async function begin({ plan: whole, ...asked }: Asked, inventory: Inventory): Promise<Begun | Declined> {
  const { context, buckets } = asked;
  const open = openNames(whole.push.fromJson ?? [], inventory);
  // Parsers that can give no label, and whose errors nobody sees, need no lines.
  const readsLines = whole.push.fromJson !== undefined && (open.length > 0 || !whole.push.dropsErrors);
  const plan = readsLines ? whole : withoutJson(whole);
  const lines = readsLines ? jsonQuestion(open) : undefined;
  if (lines !== undefined && isDeclined(lines)) return lines;
  const { naming } = context;
  const { names } = plan.push;
  const deciding = decidingFields(names, inventory, naming);
  if (needsManyGroups(plan.push, inventory, context)) return decline('row-labels');
  const byStream = groupByStream(inventory, deciding);
  const pacer = new Pacer(asked.request.signal);
  await pacer.due();
  const byLabels =
    names === 'all' ? byStream : await atPace(groupByLabels(names, inventory, deciding, naming), pacer);
  const odd = lines === undefined ? undefined : oddLines;
  const factsRequest = { ...context, selection: plan.selection, columns: byLabels.standIns, odd };
  const make = (facts: Facts): Statistics | Declined => {
    const grouping = facts.isHidden ? byStream : byLabels;
    if (grouping.size * buckets.count > maxPoints) return decline('too-many-values');
    if (facts.odd > 0) return decline('lenient-numbers');
    return new Statistics({ ...asked, plan, inventory, deciding, facts, grouping, lines });
  };
  const statistics = make(context.facts.expected(factsRequest));
  if (isDeclined(statistics)) return statistics;
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
function needsManyGroups({ stageNames }: LeafPush, inventory: Inventory, { naming }: LeafContext): boolean {
  const others = new Set([...stageNames].filter((name) => name !== detectedLevelName));
  return decidingFields(others, inventory, naming).all.length > 0;
}
