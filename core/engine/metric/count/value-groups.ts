import { leafEngine, pipelineError } from '../../../logql/metric/index.js';
import type { LeafEngine, LeafRequest, SeriesTable } from '../../../logql/metric/index.js';
import type { Stage } from '../../../logql/ast.js';
import { sampleEvaluator, type LineEvaluator } from '../../../logql/lines/evaluator.js';
import type { Conversion } from '../../../logql/pipeline/conversions.js';
import {
  compileExtractor,
  conversionOf,
  type ExtractedSample,
  type SampleExtractor,
} from '../../../logql/pipeline/extractor.js';
import type { PipelineEntry } from '../../../logql/pipeline/types.js';
import type { Begun } from '../../../base/pace/begun.js';
import { Pacer } from '../../../base/pace/pacer.js';
import type { LogsqlQuery } from '../../../victoria/logsql/ast.js';
import { freeName, limit, query, stats, statsFunction, timeBucket } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import { parseRowTime } from '../../../victoria/names/row-time.js';
import { beginRows } from '../../../victoria/upstream/begin-rows.js';
import { columnOf, type BackendRow } from '../../../victoria/upstream/types.js';
import { namesIn } from '../../plan/metric-columns.js';
import type { LeafContext, Strategy } from '../context.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import { callRows, planWindows, rowsOfStreams, type RowWindow } from '../row-windows.js';
import { entryOf } from '../entry-of.js';
import { bucketsOf, type Buckets } from './counting.js';
import { duplicateRows } from './duplicates.js';
import { streamOf, type Grouping } from './grouping.js';
import type { ValueShaper } from './json.js';
import { obstacleIn, type SelectionProfile } from './profile.js';
import { isOrderless, isSum, knownOf, knownOfFields, type Known, type Unwrapping } from './known-values.js';
import { declineLines, mayHaveEmptyLines } from './rebuilt-rows.js';
import { surest, type Get } from './shapes.js';
import { listSelection } from './stream-listing.js';

/** How long a selection whose sums are rounded is read as rows without another try. */
const roundedMs = 600_000;

/** The most groups, counted in each bucket of time, of one call. */
const maxGroups = 100_000;

/** How many values are read between two looks at the clock: some hundred microseconds. */
const textsPerStep = 1000;

/** Lets the backend gather the values of each group and bucket of time. */
export const valueGroupsStrategy: Strategy = {
  name: 'value-groups',
  summary:
    'the backend gathers the values that `unwrap` takes from `| json` by the columns that tell their labels',
  namesFailedEntry: 'no',
  prepare(leaf) {
    const { shortLines, range, pushed } = leaf;
    const { unwrap } = range.range;
    if (shortLines === undefined) return decline('lines-needed');
    if (unwrap === undefined || !(isOrderless(range) || isSum(range))) return decline('times-needed');
    const labels = range.grouping?.labels ?? pushed?.labels ?? [];
    const isSeen =
      labels.includes(unwrap.name) || isNamed(unwrap.name, [...shortLines.stages, ...unwrap.filters]);
    if (isSeen) return decline('values-seen');
    return (request, context) => valueTable({ ...leaf, shortLines, unwrap }, request, context);
  },
};

function isNamed(name: string, stages: readonly Stage[]): boolean {
  return stages.some((stage) => namesIn(stage).includes(name));
}

async function valueTable(
  plan: Unwrapping,
  request: LeafRequest,
  context: LeafContext,
): Promise<SeriesTable | Declined> {
  const buckets = bucketsOf(request.columns, plan.range.range);
  if (isDeclined(buckets)) return buckets;
  const { range } = buckets;
  const { upstream, reader, limits, profiler, refusals } = context;
  const roundedKey = JSON.stringify(['rounded', upstream.owner, printFilter(plan.selection), plan.unwrap]);
  const isAdded = isSum(plan.range);
  const rounded = isAdded ? refusals.get(roundedKey) : undefined;
  if (rounded !== undefined) return rounded;
  const [refusal, streamListing] = await Promise.all([
    declineLines(plan.selection, range, context),
    listSelection(upstream, reader, plan.selection, range, request.signal),
  ]);
  const { streams, listed } = streamListing;
  const known =
    refusal === undefined
      ? await knownOfFields(plan, streamListing, request, context)
      : await knownOf(plan, streamListing, range, request, context);
  if (isDeclined(known)) return known;
  // Values that come in one call are asked for beside the look that proves them right.
  const isOneCall = rowsOfStreams(listed) <= callRows;
  const expected = profiler.expected(known.profileRequest);
  const leave = isOneCall ? await upstream.hold?.(range) : undefined;
  const gatherWith = (shaper: ValueShaper): Gathering =>
    gather({ ...known, shaper, plan, buckets, isOneCall }, context);
  const obstacleTo = (profile: SelectionProfile): Declined | undefined =>
    obstacleIn(refusal === undefined ? { ...profile, missing: 0 } : profile);
  let gathering = obstacleTo(expected) === undefined ? gatherWith(surest(known.shaper, expected)) : undefined;
  try {
    const profile = await profiler.of(known.profileRequest, range, listed);
    const obstacle = obstacleTo(profile);
    if (obstacle !== undefined) return obstacle;
    const shaper = surest(known.shaper, profile);
    if (gathering?.shaper !== shaper) {
      gathering?.begun?.end();
      gathering = gatherWith(shaper);
    }
    const looked = { ...context, memory: limits.memory, filter: plan.logs.filter, range };
    const surplus = await duplicateRows({ ...looked, streams, profile });
    if (isDeclined(surplus)) return surplus;
    const into = leafEngine(request);
    const values = new GroupedValues(plan, request, context, { into, buckets, shaper });
    values.leaveOut(surplus);
    context.counts.scanned(listed);
    const { grouping } = known;
    const stopped = await readValues({ plan, grouping, buckets, gathering, values }, request, context);
    if (stopped !== undefined) return stopped;
    if (isAdded && values.areRounded) {
      const declined = decline('times-needed');
      refusals.set(roundedKey, declined, 0, roundedMs);
      return declined;
    }
    const { hasEmpty } = values;
    if (
      refusal === undefined &&
      hasEmpty &&
      (await mayHaveEmptyLines(plan.logs.filter, streamListing, range, context))
    )
      return decline('missing-lines');
    // Rows came or went since the surplus ones were found.
    if (values.leftOver > 0) return decline('repeated-rows');
    await into.engine.prepare(new Pacer(request.signal));
    const { isCut, isDistinct: isGrouped } = into.engine;
    return { rows: into.engine.rows(), isCut, isGrouped };
  } finally {
    gathering?.begun?.end();
    leave?.();
  }
}

/** A call for values, in groups. */
interface Gathering {
  readonly shaper: ValueShaper;
  readonly names: { readonly rows: string; readonly values: string };
  readonly asked: LogsqlQuery;
  /** Its answer, if it has begun. */
  readonly begun: Begun<readonly BackendRow[]> | undefined;
}

interface GatheringRequest extends Pick<Known, 'grouping' | 'shaper'> {
  readonly plan: Unwrapping;
  readonly buckets: Buckets;
  /** Whether one call is to answer for the whole range, and to begin now. */
  readonly isOneCall: boolean;
}

function gather(
  { grouping, shaper, plan, buckets, isOneCall }: GatheringRequest,
  { upstream }: LeafContext,
): Gathering {
  const { range, stepNs, shiftNs, count } = buckets;
  const columns = [...grouping.columns, ...shaper.columns];
  const names = { rows: freeName('rows', columns), values: freeName('values', columns) };
  const gathered = stats(
    count === 1 ? columns : [...columns, timeBucket(stepNs, -shiftNs)],
    statsFunction('count', [], names.rows),
    statsFunction('values', [shaper.valueColumn], names.values),
  );
  const asked = query(plan.logs.filter, [...shaper.pipes, gathered, limit(maxGroups + 1)]);
  const begun = isOneCall ? beginRows(upstream, { query: asked, range }) : undefined;
  return { shaper, names, asked, begun };
}

interface Reading {
  readonly plan: Unwrapping;
  readonly grouping: Grouping;
  readonly buckets: Buckets;
  readonly gathering: Gathering;
  readonly values: GroupedValues;
}

/** The answers of all calls. */
async function* callsOf(
  { plan: { selection }, buckets: { range }, gathering: { asked, begun } }: Reading,
  { upstream }: LeafContext,
): AsyncGenerator<AsyncIterable<readonly BackendRow[]>> {
  if (begun !== undefined) {
    yield begun;
    return;
  }
  const windows = await planWindows(upstream, selection, range, callRows);
  const leave = await upstream.hold?.(range);
  const begin = (window: RowWindow | undefined): Begun<readonly BackendRow[]> | undefined =>
    window && beginRows(upstream, { query: asked, range: window.range });
  // The backend gathers the next values while these are read.
  let next = begin(windows[0]);
  try {
    for (let index = 1; next !== undefined; index += 1) {
      const call = next;
      next = begin(windows[index]);
      try {
        yield call;
      } finally {
        call.end();
      }
    }
  } finally {
    next?.end();
    leave?.();
  }
}

/** Reads all groups; returns why it stopped early, if it did. */
async function readValues(
  reading: Reading,
  { signal }: LeafRequest,
  context: LeafContext,
): Promise<Declined | undefined> {
  const { grouping, values } = reading;
  const { range, stepNs, count } = reading.buckets;
  const { names } = reading.gathering;
  for await (const call of callsOf(reading, context)) {
    let groups = 0;
    for await (const batch of call) {
      signal.throwIfAborted();
      groups += batch.length;
      if (groups > maxGroups) return decline('too-many-groups');
      for (const row of batch) {
        const get: Get = (name) => columnOf(row, name);
        const stream = streamOf(grouping, get);
        if (stream === undefined) return decline('unlisted-stream');
        const endNs = count === 1 ? range.endNs - 1n : parseRowTime(row._time ?? '') + stepNs - 1n;
        const texts = textsOf(get(names.values) ?? '[]');
        await values.add({ get, stream, endNs, rows: Number(get(names.rows)), texts });
      }
    }
  }
  return undefined;
}

/** The texts of a JSON array that the backend has written; most hold no escapes, and need no parser, which takes several times as long. */
function textsOf(array: string): readonly string[] {
  const isPlain = array.startsWith('["') && array.endsWith('"]') && !/\\|", /.test(array);
  return isPlain ? array.slice(2, -2).split('","') : (JSON.parse(array) as readonly string[]);
}

/** One group of the backend in one bucket of time. */
interface ValueGroup {
  readonly get: Get;
  /** The `_stream` text of a stream with the labels of its rows. */
  readonly stream: string;
  /** The last nanosecond of the bucket. */
  readonly endNs: bigint;
  readonly rows: number;
  readonly texts: readonly string[];
}

/** Adds the values of groups to an engine, without those of rows that were pushed twice. */
class GroupedValues {
  readonly #reader: RowReader;
  readonly #into: LeafEngine;
  readonly #buckets: Buckets;
  readonly #shaper: ValueShaper;
  readonly #convert: Conversion;
  readonly #sampleOf: SampleExtractor;
  readonly #sampleOfLine: LineEvaluator<ExtractedSample | undefined>;
  readonly #counts: LeafContext['counts'];
  readonly #pacer: Pacer;
  #hasEmpty = false;
  #areIntegers = true;
  /** Of all values without their sign. */
  #sum = 0;
  /** How often a value of a series is to be left out, by the end of its bucket. */
  readonly #surplus = new Map<bigint, Map<string, number>>();

  constructor(
    { range, pushed, unwrap }: Unwrapping,
    { signal }: LeafRequest,
    { reader, workers, counts }: LeafContext,
    parts: { readonly into: LeafEngine; readonly buckets: Buckets; readonly shaper: ValueShaper },
  ) {
    this.#reader = reader;
    this.#into = parts.into;
    this.#buckets = parts.buckets;
    this.#shaper = parts.shaper;
    this.#convert = conversionOf(unwrap.conversion);
    this.#sampleOf = compileExtractor(range, pushed);
    this.#sampleOfLine = sampleEvaluator(range, pushed, { workers, signal });
    this.#counts = counts;
    this.#pacer = new Pacer(signal);
  }

  /** How many values of surplus rows have not been met. */
  get leftOver(): number {
    let count = 0;
    for (const values of this.#surplus.values()) for (const left of values.values()) count += left;
    return count;
  }

  /** Whether a sum of these values may depend on their order. */
  get areRounded(): boolean {
    return !this.#areIntegers || this.#sum > Number.MAX_SAFE_INTEGER;
  }

  /** Whether a row had no value. */
  get hasEmpty(): boolean {
    return this.#hasEmpty;
  }

  leaveOut(rows: readonly BackendRow[]): void {
    const { range, stepNs } = this.#buckets;
    for (const row of rows) {
      const entry = entryOf(this.#reader.read(row));
      const sample = this.#sampleOf(entry);
      // An entry with an error fails the query, however often it was pushed.
      if (sample === undefined || sample.error !== undefined) continue;
      const endNs = entry.timestampNs - ((entry.timestampNs - range.startNs) % stepNs) + stepNs - 1n;
      const known = this.#surplus.get(endNs) ?? new Map<string, number>();
      const key = surplusKey(sample);
      this.#surplus.set(endNs, known.set(key, (known.get(key) ?? 0) + 1));
    }
  }

  /** @throws ApiError `pipelineError`, `metricValues`, `seriesLimit` */
  async add({ get, stream, endNs, rows, texts }: ValueGroup): Promise<void> {
    this.#counts.counted(rows, 0);
    const line = this.#shaper.undecidedLine(get);
    if (line !== '') {
      const sample = await this.#sampleOfLine.of(this.#entryOf(stream, line));
      for (let left = rows; left > 0; left -= 1) {
        this.#take(sample, endNs);
        const pause = this.#pacer.due();
        if (pause !== undefined) await pause;
      }
    } else {
      // Nothing but the value differs between numbers.
      let usual: ExtractedSample | 'none' | undefined;
      const numbers: number[] = [];
      for (const [index, text] of texts.entries()) {
        const pause = index % textsPerStep === 0 ? this.#pacer.due() : undefined;
        if (pause !== undefined) await pause;
        this.#hasEmpty ||= text === '';
        if (text === '') continue;
        const value = this.#convert(text);
        if (typeof value === 'number' && usual !== undefined) {
          numbers.push(value);
          continue;
        }
        const sample = this.#sampleOf(this.#entryOf(stream, this.#shaper.lineOf(get, text)));
        if (typeof value === 'number') usual = sample ?? 'none';
        this.#take(sample, endNs);
      }
      if (usual !== undefined && usual !== 'none') this.#takeAll(usual, endNs, numbers);
    }
    this.#into.checkSeries();
  }

  #take(sample: ExtractedSample | undefined, endNs: bigint): void {
    const { engine } = this.#into;
    if (sample === undefined || !engine.isInWindow(endNs)) return;
    if (sample.error !== undefined) throw pipelineError(sample.error, sample.labels);
    const surplus = this.#surplus.get(endNs);
    if (surplus !== undefined) {
      const key = surplusKey(sample);
      const left = surplus.get(key) ?? 0;
      if (left > 0) {
        surplus.set(key, left - 1);
        return;
      }
    }
    this.#see(sample.value);
    engine.add(sample.labels, endNs, sample.value);
  }

  #see(value: number): void {
    this.#sum += Math.abs(value);
    this.#areIntegers &&= Number.isInteger(value);
  }

  /** Takes samples that differ from one without an error by their value alone. */
  #takeAll(sample: ExtractedSample, endNs: bigint, values: readonly number[]): void {
    if (this.#surplus.has(endNs)) for (const value of values) this.#take({ ...sample, value }, endNs);
    else {
      for (const value of values) this.#see(value);
      this.#into.engine.addAll(sample.labels, endNs, values);
    }
  }

  #entryOf(stream: string, line: string): PipelineEntry {
    return entryOf(this.#reader.read({ _time: anyTime, _stream: stream, _msg: line }));
  }
}

const anyTime = '1970-01-01T00:00:00Z';

function surplusKey({ labels, value }: ExtractedSample): string {
  return `${value} ${labels.key}`;
}
