import { errorText, type Answered, type ComparedRequest } from './answers.js';
import { nothingMore, type Difference } from './difference.js';
import { canonical } from './json.js';
import { differingLabels, hasAllOf, isNearly, sameSums, sameValues } from './likeness.js';

/** Two answers to a request that differ. */
export interface DifferingAnswers {
  readonly request: ComparedRequest;
  readonly difference: Difference;
  readonly reference: Answered;
  readonly candidate: Answered;
  /** True when several tenants were asked at once. */
  readonly hasTenants?: boolean;
}

/** A kind of difference that docs/differences.md explains. */
interface KnownDifference {
  /** Words of the row that explains it. */
  readonly phrase: string;
  readonly matches: (differing: DifferingAnswers) => boolean;
}

/** The explanation in docs/differences.md of a difference between a Loki and this proxy, by words of its row; undefined for others. */
export function knownDifference(differing: DifferingAnswers): string | undefined {
  return knownDifferences.find(({ matches }) => matches(differing))?.phrase;
}

function queryOf({ request }: DifferingAnswers): string {
  const { query = '', 'match[]': match = '' } = request.params;
  return [query, match].flat().join(' ');
}

function routeOf({ request }: DifferingAnswers): string {
  return request.path.replace(/^\/(?:loki|ref)\/api\/v1\//, '');
}

/** Only the reference has more items in its list: those of chunks that span the range. */
function hasLess({ difference }: DifferingAnswers): boolean {
  return difference.kind === 'list' && difference.candidate === nothingMore;
}

/** True for a regular expression that has one alternative twice. */
function hasAlternativeTwice(text: string): boolean {
  return [...text.matchAll(/=~(["`])(.*?)\1/g)].some(([, , pattern = '']) => {
    const alternatives = pattern.split('|');
    return new Set(alternatives).size < alternatives.length;
  });
}

/** True for an average that is grouped by a label that it unwraps. */
function isAverageByUnwrapped(text: string): boolean {
  const unwrapped = new Set([...text.matchAll(/\| unwrap (?:\w+\()?(\w+)/g)].map(([, label]) => label));
  const groupings = [...text.matchAll(/\bavg by \(([^)]*)\)/g)].map(([, labels = '']) => labels);
  return groupings.some((labels) => labels.split(/, ?/).some((label) => unwrapped.has(label)));
}

/** True if one of the two answers is an error with this beginning. */
function hasError(differing: DifferingAnswers, beginning: string): boolean {
  return errorsOf(differing).some((error) => error.startsWith(beginning));
}

/** The error texts of both answers; empty for an answer without an error. */
function errorsOf({ reference, candidate }: DifferingAnswers): readonly string[] {
  return [reference, candidate].map(({ status, body }) => (status === 200 ? '' : errorText(body)));
}

function labelsOf({ reference, candidate }: DifferingAnswers): string | undefined {
  return differingLabels(reference, candidate);
}

const brokenBytes = '\ufffd';
const makesBrokenBytes = /b64dec|substr|trunc/;
const matchingErrors = /^(?:found duplicate series|multiple matches for labels)/;

const knownDifferences: readonly KnownDifference[] = [
  {
    phrase: 'Structured metadata that is named like a label of its stream',
    matches: (differing) =>
      /_over_time|rate/.test(queryOf(differing)) && labelsOf(differing) === 'labels missing *_extracted',
  },
  {
    phrase: 'names and values of labels, and detected labels, in a part of a day',
    matches: (differing) => routeOf(differing).startsWith('label') && hasLess(differing),
  },
  {
    phrase: 'volumes, bytes and chunks of statistics',
    matches: (differing) =>
      routeOf(differing) === 'index/volume_range' && sameSums(differing.reference, differing.candidate),
  },
  {
    phrase: 'volumes of a regular expression with one alternative twice',
    matches: (differing) =>
      routeOf(differing).startsWith('index/volume') && hasAlternativeTwice(queryOf(differing)),
  },
  {
    phrase: 'series that the limit of `volume_range` leaves',
    matches: (differing) =>
      routeOf(differing) === 'index/volume_range' && 'limit' in differing.request.params,
  },
  {
    phrase: 'series of a range in which a stream is silent',
    matches: (differing) => routeOf(differing) === 'series' && hasLess(differing),
  },
  {
    phrase: '`topk`, `bottomk` among equal values',
    matches: (differing) =>
      /\b(?:topk|bottomk)\b/.test(queryOf(differing)) && sameValues(differing.reference, differing.candidate),
  },
  {
    phrase: '`first_over_time`, `last_over_time`, `rate_counter` over lines of one instant',
    matches: (differing) =>
      /\b(?:first_over_time|last_over_time|rate_counter)\b/.test(queryOf(differing)) &&
      differing.difference.kind === 'value',
  },
  {
    phrase: "`interval` over streams that a query's shards divide",
    matches: ({ request }) => 'interval' in request.params,
  },
  {
    phrase: 'labels that a parser makes with U+FFFD in them',
    matches: (differing) =>
      errorText(differing.reference.body).includes('failed to parse series labels') ||
      (canonical(differing.candidate.body).includes(brokenBytes) &&
        (labelsOf(differing) === 'labels extra' ||
          (differing.hasTenants === true && labelsOf(differing)?.startsWith('labels extra') === true))),
  },
  {
    phrase: 'labels that `b64dec`, `substr` or `trunc` make with broken bytes',
    matches: (differing) =>
      makesBrokenBytes.test(queryOf(differing)) && canonical(differing.reference.body).includes(brokenBytes),
  },
  {
    phrase: '`bytes_over_time` and `bytes_rate` of lines that `b64dec`, `substr` or `trunc` make',
    matches: (differing) => makesBrokenBytes.test(queryOf(differing)) && /bytes_/.test(queryOf(differing)),
  },
  {
    phrase: 'an average by the label that is unwrapped',
    matches: (differing) =>
      labelsOf(differing) === 'labels extra' && isAverageByUnwrapped(queryOf(differing)),
  },
  {
    phrase: 'instant queries over more than an hour that Loki splits by the hour but cannot evaluate',
    matches: (differing) => errorsOf(differing)[0]?.startsWith('SelectSamples unimplemented') === true,
  },
  {
    phrase: 'which error a range query reports if its series do not match in several ways',
    matches: (differing) =>
      routeOf(differing) === 'query_range' && errorsOf(differing).every((text) => matchingErrors.test(text)),
  },
  {
    phrase: 'sums, rates, averages and deviations of decimals',
    matches: (differing) =>
      /avg|std(?:dev|var)|sum|rate/.test(queryOf(differing)) &&
      isNearly(differing.reference, differing.candidate, / % /.test(queryOf(differing))),
  },
  {
    phrase: 'series whose labels differ only in one that is empty in one and missing in the other',
    matches: (differing) =>
      /--keep-empty|\| (?:json|logfmt) .*="/.test(queryOf(differing)) &&
      (differing.hasTenants === true || /\bwithout\b|label_replace/.test(queryOf(differing))) &&
      hasAllOf(differing.reference, differing.candidate),
  },
  {
    phrase: 'which of several series a pipeline error names',
    matches: (differing) => errorsOf(differing).every((text) => text.startsWith('pipeline error')),
  },
  {
    phrase:
      'series of a grouped range aggregation that another aggregation sums up, beyond `max_query_series`',
    matches: (differing) =>
      errorsOf(differing).includes('') && hasError(differing, 'maximum number of series'),
  },
  {
    phrase: 'a query over `max_query_series` that also needs more memory than `-max-query-memory`',
    matches: (differing) =>
      hasError(differing, 'maximum number of series') &&
      hasError(differing, 'query exceeded the memory limit'),
  },
  {
    phrase: 'a label named twice in a grouping (`sum by (a, a)`)',
    matches: (differing) => /by \((?:.*, )?(\w+), (?:.*, )?\1\b/.test(queryOf(differing)),
  },
  {
    phrase: '`| logfmt` with one key for two labels',
    matches: (differing) => /\| logfmt .*="([^"]*)".*="\1"/.test(queryOf(differing)),
  },
  {
    phrase: 'averages grouped by labels (`avg_over_time(...) by (x)`) over several tenants',
    matches: (differing) => differing.hasTenants === true && queryOf(differing).includes('avg_over_time'),
  },
];

/** The phrases, so that a test can look them up in the page. */
export const knownPhrases: readonly string[] = knownDifferences.map(({ phrase }) => phrase);
