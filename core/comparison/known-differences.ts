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

/** Two answers, with what most kinds of difference look at. */
function seenIn(differing: DifferingAnswers) {
  const { request, reference, candidate } = differing;
  const { query = '', 'match[]': match = '' } = request.params;
  return {
    ...differing,
    query: [query, match].flat().join(' '),
    route: request.path.replace(/^\/(?:loki|ref)\/api\/v1\//, ''),
    /** The error texts of both answers; empty for an answer without an error. */
    errors: [reference, candidate].map(({ status, body }) => (status === 200 ? '' : errorText(body))),
    labels: () => differingLabels(reference, candidate),
  };
}

type Seen = ReturnType<typeof seenIn>;

/** A kind of difference that docs/differences.md explains. */
interface KnownDifference {
  /** Words of the row that explains it. */
  readonly phrase: string;
  readonly matches: (seen: Seen) => boolean;
}

/** The explanation in docs/differences.md of a difference between a Loki and this proxy, by words of its row; undefined for others. */
export function knownDifference(differing: DifferingAnswers): string | undefined {
  const seen = seenIn(differing);
  return knownDifferences.find(({ matches }) => matches(seen))?.phrase;
}

/** Only the reference has more items in its list: those of chunks that span the range. */
function hasLess({ difference }: Seen): boolean {
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

const brokenBytes = '\ufffd';
const makesBrokenBytes = /b64dec|substr|trunc/;
const matchingErrors = /^(?:found duplicate series|multiple matches for labels)/;
const tooManySeries = 'maximum number of series';

const knownDifferences: readonly KnownDifference[] = [
  {
    phrase: 'Structured metadata that is named like a label of its stream',
    matches: ({ query, labels }) =>
      /_over_time|rate/.test(query) && labels() === 'labels missing *_extracted',
  },
  {
    phrase: 'names and values of labels, and detected labels, in a part of a day',
    matches: (seen) => seen.route.startsWith('label') && hasLess(seen),
  },
  {
    phrase: 'volumes, bytes and chunks of statistics',
    matches: ({ route, reference, candidate }) =>
      route === 'index/volume_range' && sameSums(reference, candidate),
  },
  {
    phrase: 'volumes of a regular expression with one alternative twice',
    matches: ({ query, route }) => route.startsWith('index/volume') && hasAlternativeTwice(query),
  },
  {
    phrase: 'series that the limit of `volume_range` leaves',
    matches: ({ route, request }) => route === 'index/volume_range' && 'limit' in request.params,
  },
  {
    phrase: 'series of a range in which a stream is silent',
    matches: (seen) => seen.route === 'series' && hasLess(seen),
  },
  {
    phrase: '`topk`, `bottomk` among equal values',
    matches: ({ query, reference, candidate }) =>
      /\b(?:topk|bottomk)\b/.test(query) && sameValues(reference, candidate),
  },
  {
    phrase: '`first_over_time`, `last_over_time`, `rate_counter` over lines of one instant',
    matches: ({ query, difference }) =>
      /\b(?:first_over_time|last_over_time|rate_counter)\b/.test(query) && difference.kind === 'value',
  },
  {
    phrase: "`interval` over streams that a query's shards divide",
    matches: ({ request }) => 'interval' in request.params,
  },
  {
    phrase: 'labels that a parser makes with U+FFFD in them',
    matches: ({ labels, reference, candidate, hasTenants }) =>
      errorText(reference.body).includes('failed to parse series labels') ||
      (canonical(candidate.body).includes(brokenBytes) &&
        (labels() === 'labels extra' ||
          (hasTenants === true && labels()?.startsWith('labels extra') === true))),
  },
  {
    phrase: 'labels that `b64dec`, `substr` or `trunc` make with broken bytes',
    matches: ({ query, reference }) =>
      makesBrokenBytes.test(query) && canonical(reference.body).includes(brokenBytes),
  },
  {
    phrase: '`bytes_over_time` and `bytes_rate` of lines that `b64dec`, `substr` or `trunc` make',
    matches: ({ query }) => makesBrokenBytes.test(query) && /bytes_/.test(query),
  },
  {
    phrase: 'an average by the label that is unwrapped',
    matches: ({ query, labels }) => labels() === 'labels extra' && isAverageByUnwrapped(query),
  },
  {
    phrase: 'instant queries over more than an hour that Loki splits by the hour but cannot evaluate',
    matches: ({ errors }) => errors[0]?.startsWith('SelectSamples unimplemented') === true,
  },
  {
    phrase: 'which error a range query reports if its series do not match in several ways',
    matches: ({ route, errors }) =>
      route === 'query_range' && errors.every((text) => matchingErrors.test(text)),
  },
  {
    phrase: 'sums, rates, averages and deviations of decimals',
    matches: ({ query, reference, candidate }) =>
      /avg|std(?:dev|var)|sum|rate/.test(query) && isNearly(reference, candidate, / % /.test(query)),
  },
  {
    phrase: 'series whose labels differ only in one that is empty in one and missing in the other',
    matches: ({ query, reference, candidate, hasTenants }) =>
      /--keep-empty|\| (?:json|logfmt) .*="/.test(query) &&
      (hasTenants === true || /\bwithout\b|label_replace/.test(query)) &&
      hasAllOf(reference, candidate),
  },
  {
    phrase: 'which of several series a pipeline error names',
    matches: ({ errors }) => errors.every((text) => text.startsWith('pipeline error')),
  },
  {
    phrase:
      'series of a grouped range aggregation that another aggregation sums up, beyond `max_query_series`',
    matches: ({ errors }) => errors.includes('') && errors.some((error) => error.startsWith(tooManySeries)),
  },
  {
    phrase: 'a query over `max_query_series` that also needs more memory than `-max-query-memory`',
    matches: ({ errors }) =>
      errors.some((error) => error.startsWith(tooManySeries)) &&
      errors.some((error) => error.startsWith('query exceeded the memory limit')),
  },
  {
    phrase: 'a label named twice in a grouping (`sum by (a, a)`)',
    matches: ({ query }) => /by \((?:.*, )?(\w+), (?:.*, )?\1\b/.test(query),
  },
  {
    phrase: '`| logfmt` with one key for two labels',
    matches: ({ query }) => /\| logfmt .*="([^"]*)".*="\1"/.test(query),
  },
  {
    phrase: 'averages grouped by labels (`avg_over_time(...) by (x)`) over several tenants',
    matches: ({ query, hasTenants }) => hasTenants === true && query.includes('avg_over_time'),
  },
];

/** The phrases, so that a test can look them up in the page. */
export const knownPhrases: readonly string[] = knownDifferences.map(({ phrase }) => phrase);
