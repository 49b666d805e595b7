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
import { labelSourceFields, groupByLabels, noFields, type RowGrouping } from './grouping.js';
import { labelsOf } from './labels/parsers.js';
import { openNames, valuesQuestion, type ValueDigest } from './labels/parsed-labels.js';
import { unitedRows, type ProfileRequest } from './profile.js';
import { fieldDigest } from './rebuilt-rows.js';
import type { StreamListing } from './stream-listing.js';

/** A leaf with values that a parser and `unwrap` take from lines. */
export type Unwrapping = LeafPlan & { readonly shortLines: ShortLinesPlan; readonly unwrap: Unwrap };

/** True for functions whose result depends neither on the order of values nor on their times within a bucket. */
export function isOrderless({ op }: RangeAggregation): boolean {
  return rangeFunctions[op].ofValues === 'values';
}

/** True for functions that sum unwrapped values. The order affects a sum only if it is rounded; sums of integers below 2^53 are exact. */
export function isSum(range: RangeAggregation): boolean {
  return rangeFunctions[range.op].ofValues === 'total' || isDividedAverage(range);
}

/** Facts about a selection that the request for its values depends on. */
export interface ValueFacts {
  readonly grouping: RowGrouping;
  readonly digest: ValueDigest;
  readonly profileRequest: ProfileRequest;
  /** True if rows may have one of the labels as a field. Such rows count as misparsed, unless they have no line. */
  readonly mayHaveRowLabels: boolean;
}

/** The memory key for the fact that rows with a line have labels as fields. */
export function rowLabels({ selection, shortLines }: Unwrapping): readonly unknown[] {
  return ['row labels', printFilter(selection), ...shortLines.names];
}

/** Derives the facts from a sample of lines. */
export async function valueFactsOf(
  plan: Unwrapping,
  streamListing: StreamListing,
  range: TimeRange,
  { signal }: LeafRequest,
  context: LeafContext,
): Promise<ValueFacts | Declined> {
  const { shortLines, unwrap, selection } = plan;
  const { naming, declines } = context;
  const { streams, listed } = streamListing;
  const labels = labelsOf(shortLines.parsed);
  const open = openNames(shortLines.parsed.names, streamListing);
  const isLabel = [...streams.values()].some(({ labelNames }) => labelNames.has(unwrap.name));
  const sources = labelSourceFields(shortLines.names, streamListing, naming);
  if (isLabel || !open.includes(unwrap.name)) return decline('row-labels');
  const mayHaveRowLabels = sources.all.length > 0;
  const known = mayHaveRowLabels ? declines.of(...rowLabels(plan)) : undefined;
  if (known !== undefined) return known;
  const question = valuesQuestion(labels, open, unwrap.name);
  if (isDeclined(question)) return question;
  const pacer = new Pacer(signal);
  const grouping = await atPace(groupByLabels(shortLines.names, streamListing, noFields, naming), pacer);
  const sampled = { ...context, selection, range, rows: rowsOfStreams(listed) };
  const digest = await context.digests.of(question, sampled);
  if (isDeclined(digest)) return digest;
  const profileRequest = context.profiler.deferProof(
    {
      ...{ ...context, selection, columns: grouping.streamKeyColumns },
      misparsedRows: unitedRows([
        labels.misparsedRows,
        mayHaveRowLabels ? and(or(...sources.all.map(present)), not(missingLineRows(naming))) : undefined,
      ]),
      uncertainLines: digest.proven?.uncertainLines,
    },
    sampled.rows,
    range,
  );
  return { grouping, digest, profileRequest, mayHaveRowLabels };
}

/** As `valueFactsOf`, for rows without a line, where `| json` finds exactly the fields. */
export async function fieldFactsOf(
  { shortLines: { names, parsed }, unwrap, selection }: Unwrapping,
  streamListing: StreamListing,
  { signal }: LeafRequest,
  context: LeafContext,
): Promise<ValueFacts | Declined> {
  const isLabel = [...streamListing.streams.values()].some(({ labelNames }) => labelNames.has(unwrap.name));
  const found =
    isLabel || parsed.parser.from !== 'json-keys'
      ? undefined
      : fieldDigest(names, unwrap.name, streamListing);
  if (found === undefined) return decline('row-labels');
  const pacer = new Pacer(signal);
  const grouping = await atPace(groupByLabels(names, streamListing, noFields, context.naming), pacer);
  const columns = [...new Set([...grouping.streamKeyColumns, ...found.streamFields])];
  const profileRequest = { ...context, selection, columns };
  return { grouping, digest: found.digest, profileRequest, mayHaveRowLabels: false };
}
