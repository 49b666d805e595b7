import { isDividedAverage, type LeafRequest } from '../../../logql/metric/index.js';
import type { RangeAggregation, Unwrap } from '../../../logql/ast.js';
import { rangeFunctions } from '../../../logql/functions/range/index.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace } from '../../../base/pace/steps.js';
import type { TimeRange } from '../../../base/time/range.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import type { LeafPlan, ShortLinesPlan } from '../../plan/types.js';
import { and, not, or, present } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import type { LeafContext } from '../context.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import { rowsOfStreams } from '../row-windows.js';
import { decidingFields, groupByLabels, noFields, type Grouping } from './grouping.js';
import { lenientNumberLines, openNames, valuesQuestion, type ValueShaper } from './json.js';
import type { ProfileRequest } from './profile.js';
import { fieldShaper } from './rebuilt-rows.js';
import type { StreamListing } from './stream-listing.js';

/** A leaf whose values `| json` and `unwrap` take from lines. */
export type Unwrapping = LeafPlan & { readonly shortLines: ShortLinesPlan; readonly unwrap: Unwrap };

/** True for functions whose result depends neither on the order of values nor on their times within a bucket. */
export function isOrderless({ op }: RangeAggregation): boolean {
  return rangeFunctions[op].ofValues === 'values';
}

/** True for functions that sum unwrapped values. The order changes a sum only if it is rounded; sums of integers below 2^53 are exact. */
export function isSum(range: RangeAggregation): boolean {
  return rangeFunctions[range.op].ofValues === 'total' || isDividedAverage(range);
}

/** Facts about a selection that the request for its values depends on. */
export interface Known {
  readonly grouping: Grouping;
  readonly shaper: ValueShaper;
  readonly profileRequest: ProfileRequest;
  /** True if rows may have one of the labels as a field. Such rows count as unreliable, unless they have no line. */
  readonly mayHaveRowLabels: boolean;
}

/** Under what it is remembered that rows with a line have labels as fields. */
export function rowLabels({ selection, shortLines }: Unwrapping): readonly unknown[] {
  return ['row labels', printFilter(selection), ...shortLines.names];
}

/** Looks at a sample of lines. */
export async function knownOf(
  plan: Unwrapping,
  streamListing: StreamListing,
  range: TimeRange,
  { signal }: LeafRequest,
  context: LeafContext,
): Promise<Known | Declined> {
  const { shortLines, unwrap, selection } = plan;
  const { naming, declines } = context;
  const { streams, listed } = streamListing;
  const open = openNames(shortLines.fromJson, streamListing);
  const isLabel = [...streams.values()].some(({ labelNames }) => labelNames.has(unwrap.name));
  const deciding = decidingFields(shortLines.names, streamListing, naming);
  if (isLabel || !open.includes(unwrap.name)) return decline('row-labels');
  const mayHaveRowLabels = deciding.all.length > 0;
  const known = mayHaveRowLabels ? declines.of(...rowLabels(plan)) : undefined;
  if (known !== undefined) return known;
  const question = valuesQuestion(open, unwrap.name);
  if (isDeclined(question)) return question;
  const pacer = new Pacer(signal);
  const grouping = await atPace(groupByLabels(shortLines.names, streamListing, noFields, naming), pacer);
  const sampled = { ...context, selection, range, rows: rowsOfStreams(listed) };
  const shaper = await context.shapes.of(question, sampled);
  if (isDeclined(shaper)) return shaper;
  const profileRequest = context.profiler.worthAsking(
    {
      ...{ ...context, selection, columns: grouping.placeholderColumns },
      unreliable: mayHaveRowLabels
        ? or(lenientNumberLines, and(or(...deciding.all.map(present)), not(missingLineRows(naming))))
        : lenientNumberLines,
      doubts: shaper.sure?.doubts,
    },
    sampled.rows,
    range,
  );
  return { grouping, shaper, profileRequest, mayHaveRowLabels };
}

/** The same for rows without a line, of which fields are all that `| json` finds. */
export async function knownOfFields(
  { shortLines: { names }, unwrap, selection }: Unwrapping,
  streamListing: StreamListing,
  { signal }: LeafRequest,
  context: LeafContext,
): Promise<Known | Declined> {
  const isLabel = [...streamListing.streams.values()].some(({ labelNames }) => labelNames.has(unwrap.name));
  const found = isLabel ? undefined : fieldShaper(names, unwrap.name, streamListing);
  if (found === undefined) return decline('row-labels');
  const pacer = new Pacer(signal);
  const grouping = await atPace(groupByLabels(names, streamListing, noFields, context.naming), pacer);
  const columns = [...new Set([...grouping.placeholderColumns, ...found.streamFields])];
  const profileRequest = { ...context, selection, columns };
  return { grouping, shaper: found.shaper, profileRequest, mayHaveRowLabels: false };
}
