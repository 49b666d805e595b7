import { isDividedAverage, type LeafRequest } from '../../../logql/metric/index.js';
import type { RangeAggregation, Unwrap } from '../../../logql/ast.js';
import { rangeFunctions } from '../../../logql/functions/range/index.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace } from '../../../base/pace/steps.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LeafPlan, ShortLinesPlan } from '../../plan/types.js';
import type { LeafContext } from '../context.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import { rowsOfStreams } from '../row-windows.js';
import { decidingFields, groupByLabels, type Grouping } from './grouping.js';
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

/** What has to be known of a selection before its values are asked for. */
export interface Known {
  readonly grouping: Grouping;
  readonly shaper: ValueShaper;
  readonly profileRequest: ProfileRequest;
}

/** Looks at a sample of lines. */
export async function knownOf(
  { shortLines, unwrap, selection }: Unwrapping,
  streamListing: StreamListing,
  range: TimeRange,
  { signal }: LeafRequest,
  context: LeafContext,
): Promise<Known | Declined> {
  const { naming } = context;
  const { streams, listed } = streamListing;
  const open = openNames(shortLines.fromJson, streamListing);
  const isLabel = [...streams.values()].some(({ labelNames }) => labelNames.has(unwrap.name));
  const deciding = decidingFields(shortLines.names, streamListing, naming);
  if (isLabel || !open.includes(unwrap.name) || deciding.all.length > 0) return decline('row-labels');
  const question = valuesQuestion(open, unwrap.name);
  if (isDeclined(question)) return question;
  const pacer = new Pacer(signal);
  const grouping = await atPace(groupByLabels(shortLines.names, streamListing, deciding, naming), pacer);
  const sampled = { ...context, selection, range, rows: rowsOfStreams(listed) };
  const shaper = await context.shapes.of(question, sampled);
  if (isDeclined(shaper)) return shaper;
  const profileRequest = context.profiler.worthAsking(
    {
      ...{ ...context, selection, columns: grouping.placeholderColumns },
      ...{ unreliable: lenientNumberLines, doubts: shaper.sure?.doubts },
    },
    sampled.rows,
    range,
  );
  return { grouping, shaper, profileRequest };
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
  const deciding = { all: [], levels: [], hasOtlp: false };
  const pacer = new Pacer(signal);
  const grouping = await atPace(groupByLabels(names, streamListing, deciding, context.naming), pacer);
  const columns = [...new Set([...grouping.placeholderColumns, ...found.streamFields])];
  return { grouping, shaper: found.shaper, profileRequest: { ...context, selection, columns } };
}
