import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and } from '../../../victoria/logsql/build.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import { atPace, Pacer } from '../../../base/pace/steps.js';
import { comparedLabels, extractionOf } from '../../plan/columns.js';
import type { LeafPlan, LeafPush } from '../../plan/types.js';
import type { LeafContext, ReadStrategy } from '../context.js';
import { costOfCounting, decline, type Declined, isDeclined } from '../cost.js';
import { countedTable, type BegunCount } from './counting.js';
import { unitedRows, type SelectionProfile } from './profile.js';
import {
  labelSourceFields,
  groupByLabels,
  groupAroundOverrides,
  fieldsBesideLevels,
  readsLevels,
  rewrittenRows,
  rowsWithoutLevel,
  severityByPresence,
  streamsWithoutLevel,
} from './grouping.js';
import { fieldsByOutcome, fieldsToHold, type StreamListing } from './stream-listing.js';
import { digestByOutcome, labelsQuestion, levelsInLines, openNames, labelsOf } from './labels/questions.js';
import { rowsOfStreams } from './time-segments.js';
import { levelQuestion } from './level-digest.js';
import { joinUncertainLines, type LineQuestion } from './line-digests.js';
import { withLinesDecided } from './rebuilt-lines.js';
import type { InspectedProfile, StatisticsInput } from './statistics-input.js';
import { Statistics } from './statistics.js';
import { levellessRows } from './uncertain-rows.js';

type Pushed = LeafPlan & { readonly push: LeafPush };

/**
 * Lets the backend count. Groups of rows are evaluated like rows. Rows that groups cannot decide are read (rows without a line, rows with
 * the level in the line), and rows that were pushed twice are subtracted.
 */
export const statisticsStrategy: ReadStrategy = {
  name: 'statistics',
  summary: 'the backend counts rows by the columns that determine their labels',
  namesFailedEntry: 'no',
  usesBuckets: true,
  estimate({ push, ...leaf }, known) {
    if (push === undefined) return decline('not-countable');
    const { parsed, dropsErrors } = push;
    if (parsed !== undefined && dropsErrors !== true && leaf.hasStreamLabelsOnly === true)
      return decline('no-parsed-labels');
    return {
      cost: costOfCounting(known, {
        firstCalls: push.looksAtLines ? 2 : 1,
        splitsLines: parsed !== undefined,
      }),
      read: (request, context) => {
        const plan = { ...leaf, push };
        return countedTable(plan, request, context, {
          // Without a sample of the lines, it would have to wait for one.
          isReady: (before) => knowsLines(plan, before, context),
          begin: (of, streamListing, buckets) =>
            begin({ plan, request, context: of, buckets }, streamListing),
        });
      },
    };
  },
};

/** The leaf to count. */
type Asked = Pick<StatisticsInput, 'plan' | 'request' | 'context' | 'buckets'>;

/** The question about lines; undefined if lines need not be read, because parsers can add no label and their errors are dropped. */
function lineQuestion(plan: Pushed, streamListing: StreamListing): LineQuestion | Declined | undefined {
  const { names, parsed, dropsErrors, looksAtLines } = plan.push;
  if (!looksAtLines || parsed === undefined) return undefined;
  const open = openNames(parsed.names, streamListing, names);
  if (open.length === 0 && dropsErrors === true) return undefined;
  return labelsQuestion(labelsOf(parsed), open, comparedLabels(plan, plan.push));
}

function knowsLines(plan: Pushed, streamListing: StreamListing, context: LeafContext): boolean {
  const { naming, digests } = context;
  const isKnown = (question: LineQuestion, selection: LogsqlFilter): boolean =>
    digests.known(question, { ...context, selection }) !== undefined;
  const question = lineQuestion(plan, streamListing);
  if (question !== undefined && !isDeclined(question) && !isKnown(question, plan.selection)) return false;
  if (!readsLevels(plan.push, naming) || streamsWithoutLevel(streamListing.streams).length === 0) return true;
  return isKnown(levelQuestion, and(plan.selection, rowsWithoutLevel(streamListing.streams)));
}

async function begin(
  { plan: leaf, ...asked }: Asked,
  streamListing: StreamListing,
): Promise<BegunCount | Declined> {
  const { context, buckets } = asked;
  const whole = withLinesDecided(leaf, streamListing, context.naming);
  const question = lineQuestion(whole, streamListing);
  if (question !== undefined && isDeclined(question)) return question;
  const withoutParser = whole.push.stages.filter((stage) => extractionOf(stage) === undefined);
  const plan = question === undefined ? { ...whole, push: { ...whole.push, stages: withoutParser } } : whole;
  const { selection } = plan;
  const rows = rowsOfStreams(streamListing.listed);
  const digest =
    question && (await context.digests.of(question, { ...context, selection, range: buckets.range, rows }));
  if (digest !== undefined && isDeclined(digest)) return digest;
  const compared = comparedLabels(plan, plan.push);
  const lines = question && digest && { question, digest: digestByOutcome(digest, compared) };
  const { naming } = context;
  const { names } = plan.push;
  const sources = labelSourceFields(names, streamListing, naming);
  const selected = { selection, range: buckets.range };
  const isLevelVisible = readsLevels(plan.push, naming);
  const levels = await levelsInLines(isLevelVisible, sources, streamListing, selected, context);
  const pacer = new Pacer(context.signal);
  await pacer.due();
  const byLabels = await atPace(groupByLabels(names, streamListing, sources, naming), pacer);
  const areMissing = [digest, levels.digest].some(
    (one) => one !== undefined && !isDeclined(one) && one.areMissing === true,
  );
  const profileRequest = {
    ...context,
    selection,
    columns: fieldsToHold(names, byLabels.streamKeyColumns, streamListing),
    misparsedRows: unitedRows([
      lines && plan.push.parsed && labelsOf(plan.push.parsed).misparsedRows,
      rewrittenRows(sources.all),
    ]),
    uncertainLines: areMissing
      ? undefined
      : joinUncertainLines([digest?.proven?.uncertainLines, levels.uncertainLines]),
  };
  const outcomes = [
    ...fieldsByOutcome(
      { fields: fieldsBesideLevels(sources), names, stages: plan.range.range.query.stages, compared },
      streamListing,
      naming,
    ),
    ...severityByPresence(names, sources),
  ];
  const inspected = async <Profile extends SelectionProfile>(
    profile: Profile,
  ): Promise<Profile & InspectedProfile> => ({
    ...profile,
    levelless: await atPace(levellessRows(profile, streamListing), pacer),
  });
  const make = async (profile: InspectedProfile): Promise<Statistics | Declined> => {
    const around = groupAroundOverrides({ ...byLabels, outcomes }, profile, streamListing, sources);
    const grouping = await atPace(around, pacer);
    if (profile.misparsedRows > 0)
      return decline(lines === undefined ? 'rewritten-numbers' : 'lenient-numbers');
    if (names === 'all' && profile.hasOverrides) return decline('hidden-fields');
    return new Statistics({
      ...{ ...asked, plan, streamListing, sources, profile, grouping, lines, levels: levels.digest },
      hasRowLabels: hasRowLabels(plan.push, streamListing, context),
    });
  };
  const { profiler } = context;
  const latest = profiler.lastKnown(profileRequest);
  const isGuessed = !latest.isKnown && areMissing;
  const expected = await inspected(isGuessed ? { ...latest, hasLines: false, missing: rows } : latest);
  const statistics = await make(expected);
  if (isDeclined(statistics)) return statistics;
  // If many rows repeat, a count for the times of another range would be useless, and so would one whose lines turn out to differ.
  const isProven =
    profileRequest.uncertainLines === undefined ||
    (expected.isKnown && (expected.levelless === undefined || context.assumptions === undefined));
  const counting = statistics.distinguishesRows || !isProven ? undefined : statistics.count();
  // Handled, because the count may fail before it is awaited.
  counting?.catch(() => undefined);
  return async (listing) => {
    // The profile is read in parallel with the statistics; if it contradicts the guess, they are repeated.
    const profile = await inspected(await profiler.of(profileRequest, buckets.range, listing));
    const isRight = statistics.isRight(profile);
    const valid = isRight ? statistics : await make(profile);
    if (isDeclined(valid)) return valid;
    const [counted, duplicates] = await Promise.all([
      (isRight ? counting : undefined) ?? valid.count(),
      valid.duplicates(profile),
    ]);
    if (isDeclined(counted)) return counted;
    if (isDeclined(duplicates)) return duplicates;
    const selectedRows = rowsOfStreams(listing.listed);
    return (into) => valid.addTo(into, counted, { duplicates, profile, selectedRows });
  };
}

/** True if a label that only stages use may have as many values as rows, because it comes neither from streams nor from levels. */
function hasRowLabels(
  { stageNames }: LeafPush,
  streamListing: StreamListing,
  { naming }: LeafContext,
): boolean {
  const others = new Set([...stageNames].filter((name) => name !== detectedLevelName));
  return labelSourceFields(others, streamListing, naming).all.length > 0;
}
