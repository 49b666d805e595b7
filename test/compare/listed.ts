import { asObject } from '../../core/comparison/json.js';
import type { Answered } from '../../core/comparison/answers.js';
import { hasAllOf, isNearly, sameSums, sameValues, hasLatePatterns } from './likeness.js';
import { nothingMore } from '../../core/comparison/difference.js';
import type { PlacedEntry } from './lines.js';
import type { Question } from './question.js';
import { natureOf } from './signature.js';
import type { Different } from './verdict.js';

/**
 * Whose doing a listed difference is: that of Loki's storage (where chunks were cut, what is flushed, which shard has a stream), of what the
 * backend keeps, or of the proxy, which only then counts as one that is listed.
 */
export type ListedOutcome = 'storage' | 'lost' | 'listed';

/** A difference that docs/differences.md tells. */
interface Listed {
  readonly outcome: ListedOutcome;
  /** A phrase of the place where it stands. */
  readonly phrase: string;
  readonly matches: (question: Question, difference: Different, lines: readonly PlacedEntry[]) => boolean;
}

function queryOf({ query }: Question): string {
  return query?.text ?? '';
}

function errorOf({ body }: Answered): string {
  if (typeof body === 'string') return body;
  const { error } = asObject(body);
  return typeof error === 'string' ? error : '';
}

/** The default of `-detected-fields-max-scan-lines`. */
const mostScanned = 2000;

/** Whether the limit of lines falls between lines of one instant. */
function isCutWithinInstant({ params }: Question, lines: readonly PlacedEntry[]): boolean {
  const limit = Number(params['line_limit']);
  const newestFirst = lines.map(({ entry }) => entry.ns).sort((a, b) => (a > b ? -1 : 1));
  return newestFirst[limit] !== undefined && newestFirst[limit] === newestFirst[limit - 1];
}

/** Whether an average is grouped by a label that it unwraps. */
function isAverageByUnwrapped(text: string): boolean {
  const unwrapped = new Set([...text.matchAll(/\| unwrap (?:\w+\()?(\w+)/g)].map(([, label]) => label));
  const groupings = [...text.matchAll(/\bavg by \(([^)]*)\)/g)].map(([, labels = '']) => labels);
  return groupings.some((labels) => labels.split(/, ?/).some((label) => unwrapped.has(label)));
}

/** Whether a regular expression has one alternative twice. */
function hasAlternativeTwice(text: string): boolean {
  return [...text.matchAll(/=~(["`])(.*?)\1/g)].some(([, , pattern = '']) => {
    const alternatives = pattern.split('|');
    return new Set(alternatives).size < alternatives.length;
  });
}

const matchingErrors = /^(?:found duplicate series|multiple matches for labels)/;

/** One of several lists has more: Loki's, while a chunk spans the time. */
function hasMoreInLoki({ text }: Different): boolean {
  return text.includes(`: ${nothingMore} |`);
}

const listed: readonly Listed[] = [
  {
    outcome: 'lost',
    phrase: 'Structured metadata that is named like a label of its stream',
    matches: (question, difference) =>
      /_over_time|rate/.test(queryOf(question)) && natureOf(difference) === 'labels missing *_extracted',
  },
  {
    outcome: 'storage',
    phrase: 'names and values of labels, and detected labels, in a part of a day',
    matches: ({ path }, difference) => /^label/.test(path) && hasMoreInLoki(difference),
  },
  {
    outcome: 'storage',
    phrase: 'volumes, bytes and chunks of statistics',
    matches: ({ path }, { wanted, got }) => path === 'index/volume_range' && sameSums(wanted, got),
  },
  {
    outcome: 'storage',
    phrase: 'volumes of a regular expression with one alternative twice',
    matches: (question) => question.path.startsWith('index/volume') && hasAlternativeTwice(queryOf(question)),
  },
  {
    outcome: 'storage',
    phrase: 'series that the limit of `volume_range` leaves',
    matches: ({ path, params }) => path === 'index/volume_range' && 'limit' in params,
  },
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
  {
    outcome: 'storage',
    phrase: 'series of a range in which a stream is silent',
    matches: ({ path }, difference) => path === 'series' && hasMoreInLoki(difference),
  },
  {
    outcome: 'storage',
    phrase: '`topk`, `bottomk` among equal values',
    matches: (question, { wanted, got }) =>
      /\b(?:topk|bottomk)\b/.test(queryOf(question)) && sameValues(wanted, got),
  },
  {
    outcome: 'lost',
    phrase: '`first_over_time`, `last_over_time`, `rate_counter` over lines of one instant',
    matches: (question, { text }) =>
      /\b(?:first_over_time|last_over_time|rate_counter)\b/.test(queryOf(question)) &&
      text.startsWith('value '),
  },
  {
    outcome: 'storage',
    phrase: "`interval` over streams that a query's shards divide",
    matches: ({ params }) => 'interval' in params,
  },
  {
    outcome: 'listed',
    phrase: 'labels that a parser makes with U+FFFD in them',
    matches: (_question, difference) =>
      errorOf(difference.wanted).includes('failed to parse series labels') ||
      (natureOf(difference) === 'labels extra' && JSON.stringify(difference.got.body).includes('\ufffd')),
  },
  {
    outcome: 'listed',
    phrase: 'labels that `b64dec`, `substr` or `trunc` make with broken bytes',
    matches: (question, { wanted }) =>
      /b64dec|substr|trunc/.test(queryOf(question)) && JSON.stringify(wanted.body).includes('\ufffd'),
  },
  {
    outcome: 'listed',
    phrase: '`bytes_over_time` and `bytes_rate` of lines that `b64dec`, `substr` or `trunc` make',
    matches: (question) => /b64dec|substr|trunc/.test(queryOf(question)) && /bytes_/.test(queryOf(question)),
  },
  {
    outcome: 'storage',
    phrase: 'an average by the label that is unwrapped',
    matches: (question, difference) =>
      natureOf(difference) === 'labels extra' && isAverageByUnwrapped(queryOf(question)),
  },
  {
    outcome: 'storage',
    phrase: 'instant queries over more than an hour that Loki splits by the hour but cannot evaluate',
    matches: (_question, { wanted }) => errorOf(wanted).startsWith('SelectSamples unimplemented'),
  },
  {
    outcome: 'storage',
    phrase: 'which error a range query reports if its series do not match in several ways',
    matches: ({ path }, { wanted, got }) =>
      path === 'query_range' && [wanted, got].every((answer) => matchingErrors.test(errorOf(answer))),
  },
  {
    outcome: 'storage',
    phrase: 'sums and rates of decimals whose windows overlap, averages and deviations of them',
    matches: (question, { wanted, got }) =>
      /avg|std(?:dev|var)|sum|rate/.test(queryOf(question)) &&
      isNearly(wanted, got, / % /.test(queryOf(question))),
  },
  {
    outcome: 'storage',
    phrase: 'series whose labels differ only in one that is empty in one and missing in the other',
    matches: (question, { wanted, got }) =>
      /--keep-empty|\| (?:json|logfmt) .*="/.test(queryOf(question)) &&
      (question.tenants.length > 1 || /\bwithout\b|label_replace/.test(queryOf(question))) &&
      hasAllOf(wanted, got),
  },
  {
    outcome: 'listed',
    phrase: 'which of several series a pipeline error names',
    matches: (_question, { wanted, got }) =>
      [wanted, got].every((answer) => errorOf(answer).startsWith('pipeline error')),
  },
  {
    outcome: 'listed',
    phrase:
      'series of a grouped range aggregation that another aggregation sums up, beyond `max_query_series`',
    matches: (_question, { wanted, got }) =>
      [wanted, got].some((answer) => errorOf(answer).startsWith('maximum number of series')),
  },
  {
    outcome: 'storage',
    phrase: 'a label named twice in a grouping (`sum by (a, a)`)',
    matches: (question) => /by \((?:.*, )?(\w+), (?:.*, )?\1\b/.test(queryOf(question)),
  },
  {
    outcome: 'storage',
    phrase: '`| logfmt` with one key for two labels',
    matches: (question) => /\| logfmt .*="([^"]*)".*="\1"/.test(queryOf(question)),
  },
  {
    outcome: 'listed',
    phrase: 'averages grouped by labels (`avg_over_time(...) by (x)`) over several tenants',
    matches: (question) => question.tenants.length > 1 && queryOf(question).includes('avg_over_time'),
  },
];

/** The phrases, so that a test can look them up. */
export const listedPhrases: readonly string[] = listed.map(({ phrase }) => phrase);

/** Where docs/differences.md tells a difference over these lines, and whose doing it is. */
export function listedAs(
  question: Question,
  difference: Different,
  lines: readonly PlacedEntry[],
): readonly [ListedOutcome, string] | undefined {
  const found = listed.find(({ matches }) => matches(question, difference, lines));
  return found === undefined ? undefined : [found.outcome, found.phrase];
}
