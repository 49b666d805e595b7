import { differing, listDifference, type Difference } from './difference.js';
import { asArray, asObject, asText, canonical, type Json } from './json.js';
import { compareSamples, pointsOf, seriesKey } from './samples.js';
import { compareStreams } from './streams.js';

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

/** Loki's volumes depend on how it compresses and cuts chunks. */
const valueTolerance = 0.25;
const timeToleranceSeconds = 1;

/** Compares index statistics: streams and entries exactly, bytes about. */
function compareStatistics(reference: Json, candidate: Json): Difference | undefined {
  const isSame =
    reference['streams'] === candidate['streams'] && reference['entries'] === candidate['entries'];
  // Loki rounds the bytes of each chunk to KiB.
  const rounding = 512 * Number(reference['chunks']);
  const { bytes } = reference;
  return isSame && (bytes === undefined || isAsBig(Number(bytes), Number(candidate['bytes']), rounding))
    ? undefined
    : differing('statistics', canonical(reference), canonical(candidate));
}

/** Compares volumes: the same label sets and number of points; values within 25 %, times of ranges within a second. */
function compareVolumes(reference: Json, candidate: Json): Difference | undefined {
  const [data, otherData] = [asObject(reference['data']), asObject(candidate['data'])];
  if (data['resultType'] !== otherData['resultType'])
    return differing('result type', asText(data['resultType']), asText(otherData['resultType']));
  const [series, others] = [
    asArray(data['result']).map(asObject),
    asArray(otherData['result']).map(asObject),
  ];
  const labels = listDifference('series', series.map(seriesKey), others.map(seriesKey));
  if (labels !== undefined) return labels;
  const byKey = new Map(others.map((other) => [seriesKey(other), other]));
  for (const one of series) {
    const key = seriesKey(one);
    const [points, otherPoints] = [pointsOf(one), pointsOf(byKey.get(key) ?? {})];
    if (points.length !== otherPoints.length)
      return differing('number of points', String(points.length), String(otherPoints.length), key);
    for (const [index, point] of points.entries())
      if (!isNear(point, otherPoints[index], 'values' in one))
        return differing('volume', canonical(point), canonical(otherPoints[index]), key);
  }
  return undefined;
}

function isNear(reference: unknown, candidate: unknown, isTimed: boolean): boolean {
  const [time = NaN, value = NaN] = asArray(reference).map(Number);
  const [otherTime = NaN, other = NaN] = asArray(candidate).map(Number);
  const isAtTime = !isTimed || Math.abs(otherTime - time) <= timeToleranceSeconds;
  return isAtTime && isAsBig(value, other);
}

/** True when a number of bytes is within 25 % of the reference, and within what rounding can add. */
function isAsBig(reference: number, candidate: number, rounding = 0): boolean {
  return Math.abs(candidate - reference) <= valueTolerance * reference + rounding;
}

/** Compares detected labels: the same names, and about the same number of values, which Loki estimates. */
function compareDetectedLabels(reference: Json, candidate: Json): Difference | undefined {
  const [items, others] = [byLabel(reference['detectedLabels']), byLabel(candidate['detectedLabels'])];
  const names = listDifference('list', [...items.keys()], [...others.keys()]);
  if (names !== undefined) return names;
  for (const [name, item] of items) {
    const [expected, found] = [Number(item['cardinality']), Number(others.get(name)?.['cardinality'])];
    if (!(Math.abs(found - expected) <= Math.max(1, 0.1 * expected)))
      return differing('field', `${expected} values`, `${found} values`, name);
  }
  return undefined;
}

/** Compares detected fields: the same names, types, parsers and paths. */
function compareDetectedFields(reference: Json, candidate: Json): Difference | undefined {
  const [items, others] = [byLabel(reference['fields']), byLabel(candidate['fields'])];
  const names = listDifference('list', [...items.keys()], [...others.keys()]);
  if (names !== undefined) return names;
  for (const [name, item] of items) {
    const [expected, found] = [describe(item), describe(others.get(name) ?? {})];
    if (expected !== found) return differing('field', expected, found, name);
  }
  return undefined;
}

function byLabel(items: unknown): ReadonlyMap<string, Json> {
  return new Map(asArray(items).map((item) => [asText(asObject(item)['label']), asObject(item)]));
}

function describe(item: Json): string {
  const parsers = item['parsers'] === null ? null : asArray(item['parsers']).map(asText).sort();
  return canonical({ type: item['type'], parsers, jsonPath: item['jsonPath'] ?? null });
}

/** Compares patterns, which depend on the order of arrival: both have some, numbers of lines agree within 20 %, a third of the texts is shared. */
function comparePatterns(reference: Json, candidate: Json): Difference | undefined {
  const [items, others] = [
    asArray(reference['data']).map(asObject),
    asArray(candidate['data']).map(asObject),
  ];
  const counts = differing('patterns', `${items.length} patterns`, `${others.length} patterns`);
  if ((items.length === 0) !== (others.length === 0)) return counts;
  if (items.length === 0) return undefined;
  const [lines, otherLines] = [linesIn(items), linesIn(others)];
  if (Math.abs(otherLines - lines) > 0.2 * lines)
    return differing('patterns', `patterns of ${lines} lines`, `patterns of ${otherLines} lines`);
  const texts = new Set(others.map((item) => asText(item['pattern'])));
  const shared = items.filter((item) => texts.has(asText(item['pattern']))).length;
  return shared >= 0.3 * items.length
    ? undefined
    : differing('patterns', `${items.length} patterns`, `${shared} of them`);
}

function linesIn(items: readonly Json[]): number {
  return items
    .flatMap((item) => asArray(item['samples']))
    .reduce<number>((sum, sample) => sum + Number(asArray(sample)[1]), 0);
}
