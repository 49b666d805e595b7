import type { Unwrap } from '../../../logql/ast.js';
import { atPace, Pacer } from '../../../base/pace/steps.js';
import type { TimeRange } from '../../../base/time/range.js';
import { comparedLabels, filtersErrors } from '../../plan/columns.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import type { LeafPlan, ValuesPlan } from '../../plan/types.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, isSet, not, nothing, or } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import type { LeafContext } from '../context.js';
import { decline, type Declined, isDeclined } from '../cost.js';
import { mayBeFilledIn } from '../../../victoria/names/otlp-fill.js';
import { rowsOfStreams } from './time-segments.js';
import {
  fieldsBesideLevels,
  groupByLabels,
  readsLevels,
  labelSourceFields,
  noFields,
  rewrittenRows,
  severityByPresence,
  type LabelSourceFields,
  type RowGrouping,
} from './grouping.js';
import {
  labelsOf,
  digestByOutcome,
  levelsInLines,
  openNames,
  valuesByLevel,
  valuesQuestion,
  type ValueDigest,
} from './labels/questions.js';
import { noLevel } from './line-digests.js';
import { unitedRows, type ProfileRequest } from './profile.js';
import { fieldDigest, fieldsByLabel } from './rebuilt-rows.js';
import { fieldsByOutcome, fieldsToHold, type StreamListing } from './stream-listing.js';

/** A leaf with values that `unwrap` takes from labels. */
export type Unwrapping = LeafPlan & { readonly values: ValuesPlan; readonly unwrap: Unwrap };

/** Facts about a selection that the request for its values depends on. */
export interface ValueFacts {
  readonly grouping: RowGrouping;
  /** The fields of rows that the grouping contains. */
  readonly sources: LabelSourceFields;
  readonly digest: ValueDigest;
  readonly profileRequest: ProfileRequest;
  /** True if rows may have a field that hides a label of the parser. Such rows count as misparsed, unless they have no line. */
  readonly mayHaveRowLabels: boolean;
}

/** The memory key for the fact that rows with a line have fields that hide labels of the parser. */
export function rowLabels({ selection, values: { names } }: Unwrapping): readonly unknown[] {
  return ['row labels', printFilter(selection), ...(names === 'all' ? [names] : names)];
}

/** True if a stream has the label. */
function isStreamLabel(name: string, { streams }: StreamListing): boolean {
  return [...streams.values()].some(({ labelNames }) => labelNames.has(name));
}

/** True if no row without a line has the label: its fields are its line, and no labels as well. */
export function isMissingWithoutLines(name: string, listing: StreamListing): boolean {
  if (name.startsWith('__') || name === detectedLevelName || isStreamLabel(name, listing)) return false;
  return [...listing.streams.values()].every(({ metadata }) => metadata.length === 0);
}

/** The rows whose values are gathered. */
interface Rows {
  readonly plan: Unwrapping;
  readonly streamListing: StreamListing;
  readonly range: TimeRange;
}

/** Derives the facts from a sample of lines. */
export async function valueFactsOf(
  plan: Unwrapping,
  streamListing: StreamListing,
  range: TimeRange,
  context: LeafContext,
): Promise<ValueFacts | Declined> {
  const { values, unwrap, selection } = plan;
  const { names, parsed } = values;
  const { naming, declines } = context;
  const rows = { plan, streamListing, range };
  if (isStreamLabel(unwrap.name, streamListing)) return decline('row-labels');
  if (parsed === undefined) return storedFactsOf(rows, context);
  const labels = labelsOf(parsed);
  const open = openNames(parsed.names, streamListing, names);
  if (!open.includes(unwrap.name)) return decline('row-labels');
  const hiding = labelSourceFields(new Set(open), streamListing, naming).all;
  const known = hiding.length > 0 ? declines.of(...rowLabels(plan)) : undefined;
  if (known !== undefined) return known;
  const compared = comparedLabels(plan, plan.values);
  const question = valuesQuestion(labels, open, unwrap.name, compared);
  if (isDeclined(question)) return question;
  const sampled = { ...context, selection, range, rows: rowsOfStreams(streamListing.listed) };
  const anyDigest = await context.digests.of(question, sampled);
  if (isDeclined(anyDigest)) return anyDigest;
  const digest = digestByOutcome(anyDigest, compared);
  // Where errors do not pass, lines that cannot be parsed do not matter, whatever their fields.
  const { unparsed } = labels;
  const dropped = unparsed !== undefined && filtersErrors(values.stages) ? unparsed.filter : nothing;
  const hidden = and(or(...hiding.map(isSet)), not(or(missingLineRows(naming), dropped)));
  const misparsed = unitedRows([labels.misparsedRows, hiding.length > 0 ? hidden : undefined]);
  return factsOf(rows, without(labelSourceFields(names, streamListing, naming), hiding), context, {
    digest,
    misparsed,
    mayHaveRowLabels: hiding.length > 0,
  });
}

/** Derives the facts for a label that is stored with rows, under one field that is not filled in. */
async function storedFactsOf(rows: Rows, context: LeafContext): Promise<ValueFacts | Declined> {
  const { plan, streamListing } = rows;
  const { unwrap, values } = plan;
  const { naming } = context;
  const sourcesOf = (some: ReadonlySet<string> | 'all'): LabelSourceFields =>
    labelSourceFields(some, streamListing, naming);
  const [valueColumn, another] = sourcesOf(new Set([unwrap.name])).all.filter(
    (field) => field !== 'severity_number' || unwrap.name === field,
  );
  if (valueColumn === undefined || another !== undefined || mayBeFilledIn(valueColumn))
    return decline('row-labels');
  const areAll = values.names === 'all';
  const others = areAll ? 'all' : new Set([...values.names].filter((name) => name !== unwrap.name));
  const sources = sourcesOf(others);
  // A level is seen as `detected_level` and as the label of its field.
  const isShownTwice =
    sources.levels.includes(valueColumn) ||
    [false, true].some((fromOtlp) => naming.metadataNames(valueColumn, fromOtlp).length > 1);
  if (areAll ? isShownTwice : sources.all.includes(valueColumn)) return decline('row-labels');
  const digest: ValueDigest = {
    ...{ pipes: [], columns: [], valueColumn, isStored: true },
    representativeOf: () => undefined,
    undecidedLine: () => '',
    lineOf: () => noLevel,
  };
  const ofRows = without(sources, [valueColumn]);
  return factsOf(rows, ofRows, context, { digest, misparsed: undefined, mayHaveRowLabels: false });
}

function without({ all, levels, hasOtlp }: LabelSourceFields, fields: readonly string[]): LabelSourceFields {
  const isOther = (field: string): boolean => !fields.includes(field);
  return { all: all.filter(isOther), levels: levels.filter(isOther), hasOtlp };
}

/** Groups rows by their stream's labels, by these fields, and by the level in their line if it is visible. */
async function factsOf(
  { plan, streamListing, range }: Rows,
  sources: LabelSourceFields,
  context: LeafContext,
  found: Pick<ValueFacts, 'digest' | 'mayHaveRowLabels'> & { readonly misparsed: LogsqlFilter | undefined },
): Promise<ValueFacts | Declined> {
  const { selection } = plan;
  const { names } = plan.values;
  const { naming } = context;
  const labels = groupByLabels(names, streamListing, sources, naming);
  const grouping = await atPace(labels, new Pacer(context.signal));
  const isLevelVisible = readsLevels({ names, looksAtLines: true }, naming);
  const levels = await levelsInLines(isLevelVisible, sources, streamListing, { selection, range }, context);
  if (levels.digest !== undefined && isDeclined(levels.digest)) return levels.digest;
  const digest = levels.digest ? valuesByLevel(found.digest, levels.digest, levels) : found.digest;
  const profileRequest = {
    ...{ ...context, selection },
    columns: fieldsToHold(names, grouping.streamKeyColumns, streamListing),
    misparsedRows: unitedRows([found.misparsed, rewrittenRows(sources.all)]),
    uncertainLines: digest.proven?.uncertainLines,
  };
  const outcomes = [
    ...outcomesOf(plan, fieldsBesideLevels(sources), streamListing, context),
    ...severityByPresence(names, sources),
  ];
  const { mayHaveRowLabels } = found;
  return { grouping: { ...grouping, outcomes }, sources, digest, profileRequest, mayHaveRowLabels };
}

function outcomesOf(
  plan: Unwrapping,
  fields: readonly string[],
  streamListing: StreamListing,
  { naming }: LeafContext,
): readonly LogsqlPipe[] {
  const { names, stages } = plan.values;
  const compared = comparedLabels(plan, plan.values);
  return fieldsByOutcome({ fields, names, stages, compared }, streamListing, naming);
}

/**
 * As `valueFactsOf`, for rows without a line, where `| json` finds exactly the fields, and an expression of it one of them: no value is
 * nested.
 */
export async function fieldFactsOf(
  plan: Unwrapping,
  streamListing: StreamListing,
  context: LeafContext,
): Promise<ValueFacts | Declined> {
  const { unwrap, selection } = plan;
  const { names, parsed } = plan.values;
  // Fields are not labels of such rows as well, and decide their level.
  if (names === 'all' || names.has(detectedLevelName)) return decline('row-labels');
  const fieldsOf = parsed && fieldsByLabel(parsed.parser, streamListing);
  const found =
    isStreamLabel(unwrap.name, streamListing) || fieldsOf === undefined
      ? undefined
      : fieldDigest(names, unwrap.name, streamListing, fieldsOf);
  if (found === undefined) return decline('row-labels');
  const pacer = new Pacer(context.signal);
  const grouping = await atPace(groupByLabels(names, streamListing, noFields, context.naming), pacer);
  const columns = [...new Set([...grouping.streamKeyColumns, ...found.streamFields])];
  const profileRequest = { ...context, selection, columns };
  const outcomes = outcomesOf(plan, found.digest.columns, streamListing, context);
  return {
    ...{ grouping: { ...grouping, outcomes }, sources: noFields, digest: found.digest, profileRequest },
    mayHaveRowLabels: false,
  };
}
