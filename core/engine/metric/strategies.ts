import { ApiError } from '../../base/errors/api-error.js';
import { errorTable } from '../../base/errors/table.js';
import type { CallTag, StrategyRecord } from '../../base/trace.js';
import type { TimeRange } from '../../base/time/range.js';
import { clipped, rangeOfBoth } from '../../base/order.js';
import { Pacer } from '../../base/pace/steps.js';
import {
  RangeWindows,
  type LeafRequest,
  type SeriesRow,
  type SeriesTable,
} from '../../logql/metric/index.js';
import { errorLabel } from '../../logql/pipeline/types.js';
import { printUnwrap } from '../../logql/stages/index.js';
import { printFilter } from '../../victoria/logsql/print.js';
import type { LeafPlan } from '../plan/types.js';
import type { Candidate, LeafContext, ReadStrategy, StrategyName } from './context.js';
import type { SampledLine } from './count/line-digests.js';
import type { SelectionProfile } from './count/profile.js';
import { hasKnownLines } from './count/rebuilt-rows.js';
import { statisticsStrategy } from './count/statistics-strategy.js';
import type { ListedRange } from './count/stream-listing.js';
import { rowsOfStreams, wholeSegments } from './count/time-segments.js';
import { valueGroupsStrategy } from './count/value-groups.js';
import {
  decline,
  type Declined,
  type DeclineReason,
  isDeclined,
  millisecondsOf,
  type RowEstimates,
  rowLimitFor,
  type SeenRows,
  type SentRows,
} from './cost.js';
import { rowsStrategy, shortLinesStrategy, wholeRowsStrategy } from './rows.js';

/**
 * All strategies. Those with unknown costs are tried in this order: the one that transfers least comes first, and the last one can read
 * every leaf.
 */
export const strategies: readonly ReadStrategy[] = [
  statisticsStrategy,
  valueGroupsStrategy,
  shortLinesStrategy,
  rowsStrategy,
  wholeRowsStrategy,
];

/** A strategy with its estimated cost for a leaf, or the reason why it cannot read it. */
export interface Estimated {
  readonly strategy: ReadStrategy;
  readonly estimate: Candidate | Declined;
}

/** Sorts the strategies with known costs by cost. All others keep their positions. */
export function inOrderOfCost(all: readonly Estimated[]): readonly Estimated[] {
  const weighed = all.map((one) => ({ one, ms: weightOf(one) ?? NaN }));
  const sorted = weighed.filter(({ ms }) => !Number.isNaN(ms)).sort((a, b) => a.ms - b.ms);
  return weighed.map(({ one, ms }) => (Number.isNaN(ms) ? one : (sorted.shift()?.one ?? one)));
}

function weightOf({ estimate }: Estimated): number | undefined {
  return isDeclined(estimate) ? undefined : millisecondsOf(estimate.cost);
}

/** Reads the series of a leaf with the cheapest strategy, and with the next one if the data shows that it cannot. */
export async function readLeaf(request: LeafRequest<LeafPlan>, context: LeafContext): Promise<SeriesTable> {
  const leaf = new KnownLeaf(request, { ...context, signal: request.signal });
  // A single permit for all calls, since a call could otherwise wait for a permit that another call of this leaf holds.
  const leave = context.upstream.hold?.(leaf.range);
  try {
    return await readHeld(leaf);
  } finally {
    leave?.();
  }
}

async function readHeld(leaf: KnownLeaf): Promise<SeriesTable> {
  const { strategies: ways } = leaf.context;
  const all = ways.map((strategy) => ({ strategy, estimate: leaf.estimate(strategy) }));
  let hasFailed = false;
  const ordered = inOrderOfCost(all);
  for (const [index, one] of ordered.entries()) {
    const result = await tryOne(one, ordered.slice(index + 1), hasFailed, leaf);
    if (!isDeclined(result)) return result;
    // The estimates assumed fewer rows; the number is known now.
    if (result.declined === 'more-rows') return readHeld(leaf);
    hasFailed ||= result.declined === 'entry-failed';
  }
  throw new Error('no strategy can read a leaf');
}

/** Reasons found in data that probably hold for other ranges, too. */
const lasting: ReadonlySet<DeclineReason> = new Set<DeclineReason>([
  'errors-kept',
  'lines-differ',
  'lines-stay-long',
  'no-matching-line',
  'query-too-long',
  'times-needed',
  'too-many-groups',
  'too-many-shapes',
  'too-many-values',
]);
/** TTL of the number of rows and of the amounts received. */
const seenMs = 3_600_000;
const seenBytes = 100;

/** A leaf with the known facts about its rows, which grow as they are read. */
class KnownLeaf {
  /** The whole segments around the range. */
  readonly range: TimeRange;
  readonly #intervals: number;
  readonly #selection: string;
  readonly #filter: string;
  /** Everything in a request that identifies it to a strategy. */
  readonly #question: readonly unknown[];
  readonly #samples = new Set<readonly SampledLine[]>();
  /** Amounts received as samples of lines by the latest attempt. */
  #sampled = { rows: 0, bytes: 0 };
  /** Number of rows of the selection, once they were listed. */
  #listedRows: number | undefined;

  constructor(
    readonly request: LeafRequest<LeafPlan>,
    readonly context: LeafContext,
  ) {
    const { leaf, columns } = request;
    const { push, shortLines, values, range } = leaf;
    const windows = new RangeWindows(columns, range.range);
    this.range = wholeSegments(windows.range);
    this.#intervals = windows.buckets;
    this.#selection = printFilter(leaf.selection);
    this.#filter = printFilter(leaf.logs.filter);
    const names = push?.names ?? shortLines?.names ?? values?.names ?? [];
    const parsed = push?.parsed ?? shortLines?.parsed ?? values?.parsed;
    const { unwrap } = range.range;
    const unwrapped = unwrap && printUnwrap(unwrap);
    this.#question = [range.op, names === 'all' ? names : [...names], parsed, unwrapped];
  }

  estimate({ name, estimate }: ReadStrategy): Candidate | Declined {
    return this.#remembered(name) ?? estimate(this.request.leaf, this.#knownTo(name));
  }

  /** Dependencies for the next attempt that record what profiles and samples show. */
  learning(): Pick<LeafContext, 'profiler' | 'samples'> {
    this.#sampled = { rows: 0, bytes: 0 };
    const { profiler, samples } = this.context;
    return {
      profiler: {
        lastKnown: (asked) => profiler.lastKnown(asked),
        of: async (asked, range, listing) => {
          const profile = await profiler.of(asked, range, listing);
          this.#noteRows(listing, profile);
          return profile;
        },
      },
      samples: {
        of: async (asked, wanted) => {
          const lines = await samples.of(asked, wanted);
          this.#noteLines(lines);
          return lines;
        },
      },
    };
  }

  #noteRows({ range, listed }: ListedRange, { isUncompared }: SelectionProfile): void {
    const isAssumed = isUncompared === true && this.context.repeatedRows === 'once';
    const before = this.#seen?.inspected;
    const inspected = isAssumed ? before : joined(before, range);
    const rows = rowsOfStreams(listed);
    this.#listedRows = rows;
    // A range without rows says nothing about others.
    const perNs = rows === 0 ? (this.#seen?.perNs ?? 0) : rows / lengthOf(range);
    this.context.seen.set(this.#keyOf(), { perNs, inspected }, seenBytes, seenMs);
  }

  #noteLines(lines: readonly SampledLine[]): void {
    const bytes = lines.reduce((sum, { line }) => sum + line.length, 0);
    if (lines.length > 0) this.context.lineBytes.set(this.#keyOf(), bytes / lines.length, seenBytes, seenMs);
    // An earlier attempt may have read the same sample.
    if (this.#samples.has(lines)) return;
    this.#samples.add(lines);
    this.#sampled = { rows: this.#sampled.rows + lines.length, bytes: this.#sampled.bytes + bytes };
  }

  /** Records that a strategy has read the leaf. */
  ran({ strategy, calls, rows, bytes }: CallTag): void {
    if (calls === 0) return;
    const ofRows = this.#listedRows ?? this.#rows.rows;
    if (ofRows === 0) return;
    // The next time, the lines are already inspected.
    const sent = {
      rows: Math.max(0, rows - this.#sampled.rows),
      bytes: Math.max(0, bytes - this.#sampled.bytes),
      ofRows,
      intervals: this.#intervals,
    };
    this.context.sent.set(this.#sentKeyOf(strategy), sent, seenBytes, seenMs);
  }

  /** Records that a strategy could not read the leaf. */
  declined(strategy: StrategyName, declined: Declined): void {
    if (!lasting.has(declined.declined)) return;
    // A leaf with fewer intervals has fewer values.
    const more = declined.declined === 'too-many-values' ? [this.#intervals] : [];
    this.context.declines.remember(declined, strategy, this.#selection, this.#question, ...more);
  }

  #remembered(strategy: StrategyName): Declined | undefined {
    const what = [strategy, this.#selection, this.#question];
    return this.context.declines.of(...what) ?? this.context.declines.of(...what, this.#intervals);
  }

  get #seen(): SeenRows | undefined {
    return this.context.seen.get(this.#keyOf());
  }

  get #rows(): Pick<RowEstimates, 'rows' | 'newRows'> {
    const { upstream, densities } = this.context;
    const seen = this.#seen;
    const perNs = seen?.perNs ?? densities.get(`${upstream.owner} ${this.#selection}`);
    // A density of 0 means that it could not be counted.
    if (perNs === undefined || (perNs === 0 && seen === undefined))
      return { rows: undefined, newRows: undefined };
    const rowsIn = (lengthNs: number): number => Math.round(perNs * lengthNs);
    const { inspected } = seen ?? {};
    const oldNs = inspected === undefined ? 0 : Math.max(0, lengthOf(clipped(this.range, inspected)));
    const newNs = lengthOf(this.range) - oldNs;
    return { rows: rowsIn(lengthOf(this.range)), newRows: rowsIn(newNs) };
  }

  #knownTo(strategy: StrategyName): RowEstimates {
    const { lineBytes, sent, maxRows } = this.context;
    const { rows, newRows } = this.#rows;
    const before = sent.get(this.#sentKeyOf(strategy));
    // Near the row limit the cost of rows does not matter: they are read only if no other strategy works.
    const readable = rows === undefined || (maxRows > 0 && rowLimitFor(rows) > maxRows) ? undefined : rows;
    return {
      rows,
      newRows,
      passing: this.#filter === this.#selection ? readable : undefined,
      lineBytes: lineBytes.get(this.#keyOf()),
      hasLines: hasKnownLines(this.request.leaf.selection, this.context),
      sent: before && {
        perInterval: scaled(before, this.#intervals, before.intervals),
        perRow:
          readable === undefined || before.ofRows === undefined
            ? undefined
            : scaled(before, readable, before.ofRows),
      },
    };
  }

  #sentKeyOf(strategy: string): string {
    return this.#keyOf(strategy, this.#filter, this.#question);
  }

  #keyOf(...what: readonly unknown[]): string {
    return JSON.stringify([this.context.upstream.owner, this.#selection, ...what]);
  }
}

function scaled(
  { rows, bytes }: SentRows,
  now: number,
  then: number,
): { readonly rows: number; readonly bytes: number } {
  const factor = now / Math.max(1, then);
  return { rows: Math.round(rows * factor), bytes: Math.round(bytes * factor) };
}

function lengthOf({ startNs, endNs }: TimeRange): number {
  return Number(endNs - startNs);
}

/** The union of both ranges if there is no gap between them; otherwise the second one. */
function joined(before: TimeRange | undefined, range: TimeRange): TimeRange {
  if (before === undefined || before.startNs > range.endNs || range.startNs > before.endNs) return range;
  return rangeOfBoth(before, range);
}

/** @param hasFailed true if an entry could not be evaluated, so that the error must name it */
async function tryOne(
  { strategy, estimate }: Estimated,
  next: readonly Estimated[],
  hasFailed: boolean,
  leaf: KnownLeaf,
): Promise<SeriesTable | Declined> {
  const { name, namesFailedEntry } = strategy;
  const { request, context } = leaf;
  const { clock, tried, upstream } = context;
  const startedMs = clock.monotonicMs();
  const tag: CallTag = { strategy: name, calls: 0, rows: 0, bytes: 0 };
  const candidate = hasFailed && namesFailedEntry === 'no' ? decline('entry-failed') : estimate;
  const tell = (outcome: string): void => {
    const durationMs = clock.monotonicMs() - startedMs;
    const record = { leaf: request.leaf.index, strategy: name, outcome, durationMs };
    const took = { calls: tag.calls, rows: tag.rows, bytes: tag.bytes };
    const others = outcome === 'ran' ? next.flatMap(costOf) : undefined;
    tried(isDeclined(candidate) ? record : { ...record, estimate: candidate.cost, took, others });
  };
  if (isDeclined(candidate)) {
    tell(candidate.declined);
    return candidate;
  }
  try {
    const read = await candidate.read(request, {
      ...context,
      upstream: upstream.taggedWith?.(tag) ?? upstream,
      ...leaf.learning(),
    });
    const knowsAllLabels = namesFailedEntry === 'fully' || request.leaf.mayKeepErrors !== true;
    const result = isDeclined(read) || knowsAllLabels ? read : await unlessErrorsKept(read, context.signal);
    if (isDeclined(result)) leaf.declined(name, result);
    else leaf.ran(tag);
    tell(isDeclined(result) ? result.declined : 'ran');
    return result;
  } catch (error) {
    const declined = namesFailedEntry === 'fully' ? undefined : declineFor(error);
    tell(declined?.declined ?? 'failed');
    if (declined === undefined) throw error;
    leaf.declined(name, declined);
    return declined;
  }
}

/** Declines a table with series of samples that have an error. */
async function unlessErrorsKept(table: SeriesTable, signal: AbortSignal): Promise<SeriesTable | Declined> {
  const pacer = new Pacer(signal);
  const rows: SeriesRow[] = [];
  for (const row of table.rows) {
    if (row.labels.get(errorLabel) !== '') return decline('errors-kept');
    rows.push(row);
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return { ...table, rows };
}

function costOf({ strategy: { name }, estimate }: Estimated): NonNullable<StrategyRecord['others']> {
  return isDeclined(estimate) ? [] : [{ strategy: name, estimate: estimate.cost }];
}

/** The reason to read a leaf in another way after this error, if that may help. */
function declineFor(error: unknown): Declined | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.entry === errorTable.pipelineError) return decline('entry-failed');
  return error.entry === errorTable.backendQueryTooLong ? decline('query-too-long') : undefined;
}
