import { differing, listDifference, type Difference } from './difference.js';
import { compareDetectedFields, compareDetectedLabels, comparePatterns } from './discovery.js';
import { asArray, asObject, asText, canonical, type Json } from './json.js';
import { compareSamples } from './samples.js';
import { compareStreams } from './streams.js';
import { compareStatistics, compareVolumes } from './volumes.js';

/** A request whose answers are compared. */
export interface ComparedRequest {
  /** Path with `/loki/api/v1/`, without parameters. */
  readonly path: string;
  readonly params: Readonly<Record<string, string | readonly string[]>>;
  /** True when series come in an order that counts: of an instant query whose outermost function sorts. */
  readonly ordered?: boolean;
}

/** An answer of a Loki API: its HTTP status and its body, as parsed JSON or, where it is none, as text. */
export interface Answered {
  readonly status: number;
  readonly body: unknown;
}

/** The query string of a request's parameters. */
export function queryString(params: ComparedRequest['params']): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    for (const one of typeof value === 'string' ? [value] : value) search.append(name, one);
  return search.toString();
}

/** A body as `Answered` has it. */
export function parsedBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** True for an answer that holds anything; two empty answers are equal, and prove little. */
export function hasData({ status, body }: Answered): boolean {
  if (status !== 200) return false;
  const answer = asObject(body);
  const { data } = answer;
  if (typeof data === 'string' || Array.isArray(data)) return data.length > 0;
  const { result } = asObject(data);
  if (result !== undefined) return asArray(result).length > 0;
  const lists = [answer['fields'], answer['values'], answer['detectedLabels']];
  return lists.some((list) => asArray(list).length > 0) || Number(answer['entries'] ?? 0) > 0;
}

/**
 * Compares two answers of Loki APIs value by value: label sets, times, values (equal to nine digits), lines, order where it counts, errors
 * with their texts. Statistics of a query, and what Loki itself leaves open, do not count. Volumes and patterns are about equal.
 * @returns the first difference; undefined when the answers are equal
 */
export function compareAnswers(
  request: ComparedRequest,
  reference: Answered,
  candidate: Answered,
): Difference | undefined {
  if (reference.status !== candidate.status)
    return differing('status', statusText(reference), statusText(candidate));
  if (reference.status !== 200)
    return reference.status === 404 ? undefined : compareErrors(reference.body, candidate.body);
  return compareBodies(request, asObject(reference.body), asObject(candidate.body));
}

function statusText({ status, body }: Answered): string {
  return status === 200 ? String(status) : `${status} ${errorText(body)}`;
}

function compareErrors(reference: unknown, candidate: unknown): Difference | undefined {
  const [text, other] = [withoutSeries(errorText(reference)), withoutSeries(errorText(candidate))];
  return text === other ? undefined : differing('error text', text, other);
}

/** The text of an error: Loki's plain text, or the member of a JSON body. */
export function errorText(body: unknown): string {
  if (typeof body === 'string') return body.trim();
  const { error, message } = asObject(body);
  return asText(error ?? message).trim();
}

/** A pipeline error names one of the series that failed, and any of them is right. */
function withoutSeries(text: string): string {
  return text.replace(/(pipeline error: '[^']*' for series: ').*?('\.\nUse a label filter)/s, '$1$2');
}

type Compare = (reference: Json, candidate: Json, request: ComparedRequest) => Difference | undefined;

/** Comparisons by path behind `/loki/api/v1/`. */
const comparisons: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ...(['query', 'query_range'] as const).map((path) => [path, compareQueries] as const),
  ...(['labels', 'label', 'series', 'label/values'] as const).map((path) => [path, listIn('data')] as const),
  ['detected_field/values', listIn('values')],
  ['detected_labels', compareDetectedLabels],
  ['detected_fields', compareDetectedFields],
  ['index/stats', compareStatistics],
  ['index/volume', compareVolumes],
  ['index/volume_range', compareVolumes],
  ['patterns', comparePatterns],
  ['format_query', compareTexts],
  ['status/buildinfo', (_reference, candidate) => ('version' in candidate ? undefined : noVersion)],
]);

const noVersion = differing('members', 'version', 'no version');

function compareBodies(request: ComparedRequest, reference: Json, candidate: Json): Difference | undefined {
  const route = request.path
    .replace(/^\/(?:loki|ref)\/api\/v1\//, '')
    .replace(/^(label|detected_field)\/.*\/values$/, '$1/values');
  const compare = comparisons.get(route);
  return compare === undefined
    ? listDifference('members', Object.keys(reference), Object.keys(candidate))
    : compare(reference, candidate, request);
}

function listIn(member: string): Compare {
  return (reference, candidate) =>
    listDifference(
      'list',
      asArray(reference[member]).map(canonical),
      asArray(candidate[member]).map(canonical),
    );
}

function compareTexts(reference: Json, candidate: Json): Difference | undefined {
  const [text, other] = [asText(reference['data']), asText(candidate['data'])];
  return text === other ? undefined : differing('query text', text, other);
}

function compareQueries(reference: Json, candidate: Json, request: ComparedRequest): Difference | undefined {
  const [data, otherData] = [asObject(reference['data']), asObject(candidate['data'])];
  if (data['resultType'] !== otherData['resultType'])
    return differing('result type', asText(data['resultType']), asText(otherData['resultType']));
  const beside =
    listDifference(
      'encoding flags',
      asArray(data['encodingFlags']).map(asText),
      asArray(otherData['encodingFlags']).map(asText),
    ) ??
    listDifference(
      'warnings',
      asArray(reference['warnings']).map(asText),
      asArray(candidate['warnings']).map(asText),
    );
  if (beside !== undefined) return beside;
  if (data['resultType'] !== 'streams') return compareSamples(request.ordered === true, data, otherData);
  const asked = {
    limit: Number(request.params['limit'] ?? 100),
    isForward: asText(request.params['direction']).toLowerCase() === 'forward',
  };
  return compareStreams(asked, data['result'], otherData['result']);
}
