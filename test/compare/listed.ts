import { compareAnswers, type Answered } from '../../core/comparison/answers.js';
import { asArray, asObject, canonical } from '../../core/comparison/json.js';
import { knownDifference, knownPhrases } from '../../core/comparison/known-differences.js';
import type { PlacedEntry } from './lines.js';
import { caseOf, type Question } from './question.js';
import type { Different } from './verdict.js';

/**
 * Whose doing a listed difference is: that of Loki's storage (where chunks were cut, what is flushed, which shard has a stream), of what the
 * backend keeps, or of the proxy, which only then counts as one that is listed.
 */
export type ListedOutcome = 'storage' | 'lost' | 'listed';

/** A difference that only the lines of the question tell. */
interface ByLines {
  readonly outcome: ListedOutcome;
  /** A phrase of the place in docs/differences.md where it stands. */
  readonly phrase: string;
  readonly matches: (question: Question, difference: Different, lines: readonly PlacedEntry[]) => boolean;
}

/** The default of `-detected-fields-max-scan-lines`. */
const mostScanned = 2000;

/** Whether the limit of lines falls between lines of one instant. */
function isCutWithinInstant({ params }: Question, lines: readonly PlacedEntry[]): boolean {
  const limit = Number(params['line_limit']);
  const newestFirst = lines.map(({ entry }) => entry.ns).sort((a, b) => (a > b ? -1 : 1));
  return newestFirst[limit] !== undefined && newestFirst[limit] === newestFirst[limit - 1];
}

/** The least number of lines of a pattern that Loki shows. */
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

/** Known differences that are not Loki's storage's doing. */
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

/** The phrases, so that a test can look them up. */
export const listedPhrases: readonly string[] = [
  ...knownPhrases,
  ...byLines.map(({ phrase }) => phrase),
  ...outcomes.keys(),
];

/** Where docs/differences.md tells a difference over these lines, and whose doing it is. */
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

/** Whether the proxy has the patterns of Loki, and no more lines in each than arrived late. */
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
