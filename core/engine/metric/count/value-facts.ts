import type { LeafRequest } from '../../../logql/metric/index.js';
import type { Unwrap } from '../../../logql/ast.js';
import { atPace, Pacer } from '../../../base/pace/steps.js';
import type { TimeRange } from '../../../base/time/range.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import type { LeafPlan, ShortLinesPlan, StoredValuesPlan } from '../../plan/types.js';
import { and, isSet, not, or } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import type { LeafContext } from '../context.js';
import { decline, type Declined, isDeclined } from '../cost.js';
import { mayBeFilledIn } from '../../../victoria/names/otlp-fill.js';
import { rowsOfStreams } from './time-segments.js';
import {
  labelSourceFields,
  groupByLabels,
  noFields,
  type LabelSourceFields,
  type RowGrouping,
} from './grouping.js';
import { labelsOf } from './labels/parsers.js';
import { noLevel } from './line-digests.js';
import { openNames, valuesQuestion, type ValueDigest } from './labels/parsed-labels.js';
import { unitedRows, type ProfileRequest } from './profile.js';
import { fieldDigest, fieldsByLabel } from './rebuilt-rows.js';
import type { StreamListing } from './stream-listing.js';

/** A leaf with values that `unwrap` takes from labels. */
export type Unwrapping = LeafPlan & { readonly values: ValuesPlan; readonly unwrap: Unwrap };

/** A plan for values from lines, or for stored ones. */
export type ValuesPlan = ShortLinesPlan | (StoredValuesPlan & { readonly parsed?: undefined });

/** Facts about a selection that the request for its values depends on. */
export interface ValueFacts {
  readonly grouping: RowGrouping;
  /** The fields of rows that the grouping contains. */
  readonly sources: LabelSourceFields;
  readonly digest: ValueDigest;
  readonly profileRequest: ProfileRequest;
  /** True if rows may have one of the labels as a field. Such rows count as misparsed, unless they have no line. */
  readonly mayHaveRowLabels: boolean;
}

/** The memory key for the fact that rows with a line have labels as fields. */
export function rowLabels({ selection, values }: Unwrapping): readonly unknown[] {
  return ['row labels', printFilter(selection), ...values.names];
}

/** True if a stream has the label. */
function isStreamLabel(name: string, { streams }: StreamListing): boolean {
  return [...streams.values()].some(({ labelNames }) => labelNames.has(name));
}

/** Derives the facts from a sample of lines. */
export async function valueFactsOf(
  plan: Unwrapping,
  streamListing: StreamListing,
  range: TimeRange,
  { signal }: LeafRequest,
  context: LeafContext,
): Promise<ValueFacts | Declined> {
  const { values, unwrap, selection } = plan;
  if (values.parsed === undefined) return storedFactsOf(plan, streamListing, signal, context);
  const { naming, declines } = context;
  const { listed } = streamListing;
  const labels = labelsOf(values.parsed);
  const open = openNames(values.parsed.names, streamListing);
  const sources = labelSourceFields(values.names, streamListing, naming);
  if (isStreamLabel(unwrap.name, streamListing) || !open.includes(unwrap.name)) return decline('row-labels');
  const mayHaveRowLabels = sources.all.length > 0;
  const known = mayHaveRowLabels ? declines.of(...rowLabels(plan)) : undefined;
  if (known !== undefined) return known;
  const question = valuesQuestion(labels, open, unwrap.name);
  if (isDeclined(question)) return question;
  const pacer = new Pacer(signal);
  const grouping = await atPace(groupByLabels(values.names, streamListing, noFields, naming), pacer);
  const sampled = { ...context, selection, range, rows: rowsOfStreams(listed) };
  const digest = await context.digests.of(question, sampled);
  if (isDeclined(digest)) return digest;
  const profileRequest = {
    ...{ ...context, selection, columns: grouping.streamKeyColumns },
    misparsedRows: unitedRows([
      labels.misparsedRows,
      mayHaveRowLabels ? and(or(...sources.all.map(isSet)), not(missingLineRows(naming))) : undefined,
    ]),
    uncertainLines: digest.proven?.uncertainLines,
  };
  return { grouping, sources: noFields, digest, profileRequest, mayHaveRowLabels };
}

/** Derives the facts for a label that is stored with rows, under one field that is not filled in. */
async function storedFactsOf(
  { values: { names }, unwrap, selection }: Unwrapping,
  streamListing: StreamListing,
  signal: AbortSignal,
  context: LeafContext,
): Promise<ValueFacts | Declined> {
  const { naming } = context;
  const sourcesOf = (some: ReadonlySet<string>): LabelSourceFields =>
    labelSourceFields(some, streamListing, naming);
  const [valueColumn, another] = sourcesOf(new Set([unwrap.name])).all.filter(
    (field) => field !== 'severity_number' || unwrap.name === field,
  );
  const sources = sourcesOf(new Set([...names].filter((name) => name !== unwrap.name)));
  if (valueColumn === undefined || another !== undefined) return decline('row-labels');
  if (mayBeFilledIn(valueColumn) || sources.all.includes(valueColumn)) return decline('row-labels');
  if (isStreamLabel(unwrap.name, streamListing)) return decline('row-labels');
  const grouping = await atPace(groupByLabels(names, streamListing, sources, naming), new Pacer(signal));
  const digest: ValueDigest = {
    ...{ pipes: [], columns: [], valueColumn },
    representativeOf: () => undefined,
    undecidedLine: () => '',
    lineOf: () => noLevel,
    fieldsOf: (get, value) => [
      ...sources.all.map((field) => [field, get(field) ?? ''] as const),
      [valueColumn, value],
    ],
  };
  const profileRequest = { ...context, selection, columns: grouping.streamKeyColumns };
  return { grouping, sources, digest, profileRequest, mayHaveRowLabels: false };
}

/**
 * As `valueFactsOf`, for rows without a line, where `| json` finds exactly the fields, and an expression of it one of them: no value is
 * nested.
 */
export async function fieldFactsOf(
  { values: { names, parsed }, unwrap, selection }: Unwrapping,
  streamListing: StreamListing,
  { signal }: LeafRequest,
  context: LeafContext,
): Promise<ValueFacts | Declined> {
  const fieldsOf = parsed && fieldsByLabel(parsed.parser, streamListing);
  const found =
    isStreamLabel(unwrap.name, streamListing) || fieldsOf === undefined
      ? undefined
      : fieldDigest(names, unwrap.name, streamListing, fieldsOf);
  if (found === undefined) return decline('row-labels');
  const pacer = new Pacer(signal);
  const grouping = await atPace(groupByLabels(names, streamListing, noFields, context.naming), pacer);
  const columns = [...new Set([...grouping.streamKeyColumns, ...found.streamFields])];
  const profileRequest = { ...context, selection, columns };
  return { grouping, sources: noFields, digest: found.digest, profileRequest, mayHaveRowLabels: false };
}
