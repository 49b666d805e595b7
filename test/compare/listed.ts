import { compareAnswers, type Answered } from '../../core/comparison/answers.js';
import { asArray, asObject, canonical } from '../../core/comparison/json.js';
import { knownDifference, knownPhrases } from '../../core/comparison/known-differences.js';
import type { PlacedEntry } from './lines.js';
import { caseOf, type Question } from './question.js';
import type { Different } from './verdict.js';

/**
 * The origin of a listed difference: Loki's storage (chunk boundaries, flush state, or the shard of a stream), data that the backend does
 * not keep, or the proxy; only the last one counts as listed.
 */
export type ListedOutcome = 'storage' | 'lost' | 'listed';

/** A difference that only the lines of the question reveal. */
interface ByLines {
  readonly outcome: ListedOutcome;
  /** A phrase from the place in docs/differences.md that describes it. */
  readonly phrase: string;
  readonly matches: (question: Question, difference: Different, lines: readonly PlacedEntry[]) => boolean;
}

/** The default of `-detected-fields-max-scan-lines`. */
const mostScanned = 2000;

/** True if the line limit separates lines with equal timestamps. */
function isCutWithinInstant({ params }: Question, lines: readonly PlacedEntry[]): boolean {
  const limit = Number(params['line_limit']);
  const newestFirst = lines.map(({ entry }) => entry.ns).sort((a, b) => (a > b ? -1 : 1));
  return newestFirst[limit] !== undefined && newestFirst[limit] === newestFirst[limit - 1];
}

/** The minimum number of lines of a pattern that Loki shows. */
const fewestLines = 30;

const byLines: readonly ByLines[] = [
  {
    outcome: 'storage',
    phrase: 'lines that `detected_fields` looks at',
    matches: ({ path }, _difference, lines) =>
      path.startsWith('detected_field') && lines.length > mostScanned,
  },
  {
    outcome: 'storage',
    phrase: 'which of several lines of one instant a limit or an interval cuts off',
    matches: (question, _difference, lines) =>
      question.path.startsWith('detected_field') && isCutWithinInstant(question, lines),
  },
  {
    outcome: 'lost',
    phrase: 'patterns of lines that arrive after newer ones of their stream',
    matches: ({ path }, { wanted, got }, lines) =>
      path === 'patterns' &&
      hasLatePatterns(
        wanted,
        got,
        lines.reduce((sum, { entry }) => sum + entry.late, 0),
      ),
  },
];

/** Known differences that are not caused by Loki's storage. */
const outcomes: ReadonlyMap<string, ListedOutcome> = new Map<string, ListedOutcome>([
  ['Structured metadata that is named like a label of its stream', 'lost'],
  ['`first_over_time`, `last_over_time`, `rate_counter` over lines of one instant', 'lost'],
  ['labels that a parser makes with U+FFFD in them', 'listed'],
  ['labels that `b64dec`, `substr` or `trunc` make with broken bytes', 'listed'],
  ['`bytes_over_time` and `bytes_rate` of lines that `b64dec`, `substr` or `trunc` make', 'listed'],
  ['which of several series a pipeline error names', 'listed'],
  [
    'series of a grouped range aggregation that another aggregation sums up, beyond `max_query_series`',
    'listed',
  ],
  ['averages grouped by labels (`avg_over_time(...) by (x)`) over several tenants', 'listed'],
]);

/** The phrases, so that a test can verify that the docs contain them. */
export const listedPhrases: readonly string[] = [
  ...knownPhrases,
  ...byLines.map(({ phrase }) => phrase),
  ...outcomes.keys(),
];

/** The origin of a difference over these lines and the phrase of docs/differences.md that lists it, or undefined. */
export function listedAs(
  question: Question,
  different: Different,
  lines: readonly PlacedEntry[],
): readonly [ListedOutcome, string] | undefined {
  const told = byLines.find(({ matches }) => matches(question, different, lines));
  if (told !== undefined) return [told.outcome, told.phrase];
  const request = caseOf(question);
  const { wanted: reference, got: candidate } = different;
  const difference = compareAnswers(request, reference, candidate);
  if (difference === undefined) return undefined;
  const hasTenants = question.tenants.length > 1;
  const phrase = knownDifference({ request, difference, reference, candidate, hasTenants });
  return phrase === undefined ? undefined : [outcomes.get(phrase) ?? 'storage', phrase];
}

/** True if the proxy has Loki's patterns, with no more extra lines in each than arrived late. */
export function hasLatePatterns(wanted: Answered, got: Answered, late: number): boolean {
  const [wantedLines, gotLines] = [linesByPattern(wanted), linesByPattern(got)];
  return (
    [...wantedLines.keys()].every((key) => gotLines.has(key)) &&
    [...gotLines].every(([key, lines]) => {
      const more = lines - (wantedLines.get(key) ?? fewestLines - 1);
      return more >= 0 && more <= late;
    })
  );
}

function linesByPattern({ body }: Answered): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const item of asArray(asObject(body)['data']).map(asObject)) {
    const { pattern, level, samples } = item;
    const sum = asArray(samples).reduce<number>((before, sample) => before + Number(asArray(sample)[1]), 0);
    const key = canonical([level, pattern]);
    lines.set(key, (lines.get(key) ?? 0) + sum);
  }
  return lines;
}
