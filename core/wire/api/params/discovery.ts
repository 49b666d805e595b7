/** Parameters of the discovery endpoints (docs/protocol/requests.md#parameters-by-endpoint), parsed as Loki does. */
import { apiError } from '../../../base/errors/table.js';
import {
  fits64,
  maxInt64,
  nanosPerSecond,
  parseGoInt,
  parseMoment,
  parseTimestamp,
} from '../../../base/time/index.js';
import {
  type DetectedFieldsRequest,
  type DetectedFieldValuesRequest,
  type DetectedLabelsRequest,
  type PatternSearch,
  type PatternsRequest,
  Query,
  Selector,
  type VolumeAggregation,
  type VolumeRangeRequest,
  type VolumeRequest,
} from '../request.js';
import type { TimeRange } from '../../../base/time/range.js';
import {
  first,
  hourNs,
  type ParamContext,
  type Params,
  readDirection,
  readInterval,
  readLimit,
  readStep,
  readTime,
  readTimeRange,
} from './reader.js';

const defaultVolumeLimit = 100;
const defaultLineLimit = 100;
const defaultFieldLimit = 1000;
/** Maximum number of patterns in an answer (docs/protocol/answers.md#patterns). */
const maxPatterns = 1000;
/** Minimum length of pattern buckets, which are whole seconds. */
const minPatternStepNs = 10n * nanosPerSecond;

export function parseVolume(params: Params, context: ParamContext): VolumeRequest {
  // Loki validates and ignores `time` here, and for both volumes the other parameters of a query.
  readTime(params, 'time', context);
  readDirection(params);
  return { op: 'volume', ...readVolume(params, context) };
}

export function parseVolumeRange(params: Params, context: ParamContext): VolumeRangeRequest {
  const volume = readVolume(params, context);
  readDirection(params);
  readInterval(params);
  return { op: 'volume_range', ...volume, stepNs: readStep(params, volume.range) };
}

export function parseDetectedLabels(params: Params, context: ParamContext): DetectedLabelsRequest {
  const range = readOrderedRange(params, context);
  const text = first(params, 'query');
  return {
    op: 'detected_labels',
    range,
    ...(text === '' ? {} : { query: new Selector(text, context.dottedNames) }),
  };
}

export function parseDetectedFields(params: Params, context: ParamContext): DetectedFieldsRequest {
  return { op: 'detected_fields', ...readScan(params, context) };
}

export function parseDetectedFieldValues(
  name: string,
  params: Params,
  context: ParamContext,
): DetectedFieldValuesRequest {
  return { op: 'detected_field_values', name, ...readScan(params, context) };
}

/** `limit` and `line_limit` are extensions that Loki does not read, so bad values are not errors. */
export function parsePatterns(params: Params, context: ParamContext, search: PatternSearch): PatternsRequest {
  const named = withAlias(withAlias(params, 'start', 'from'), 'end', 'to');
  const range = readTimeRange(named, context, hourNs);
  const lineLimit = readOptional(params, 'line_limit');
  return {
    op: 'patterns',
    range,
    query: new Selector(first(params, 'query'), context.dottedNames),
    stepNs: patternStep(readStep(named, range)),
    limit: Math.min(readOptional(params, 'limit') ?? maxPatterns, maxPatterns),
    search: lineLimit === undefined ? search : { ...search, maxRows: Math.min(lineLimit, search.maxRows) },
  };
}

/** The usual request of a client that sends a selector and a range and uses the defaults for everything else. */
export function usualPatterns(query: Selector, range: TimeRange, search: PatternSearch): PatternsRequest {
  const stepNs = patternStep(readStep(new Map(), range));
  return { op: 'patterns', range, query, stepNs, limit: maxPatterns, search };
}

function patternStep(stepNs: bigint): bigint {
  return stepNs < minPatternStepNs ? minPatternStepNs : stepNs - (stepNs % nanosPerSecond);
}

type VolumeBase = Omit<VolumeRequest, 'op'>;

/** Maximum number of target labels. Each becomes a matcher of the query; this number is planned within a few milliseconds. */
const maxTargetLabels = 1_000;

function readVolume(params: Params, context: ParamContext): VolumeBase {
  const asked = readOrderedRange(params, context, parseMoment);
  // As in Loki, a range that reaches a time beyond 64 bits of nanoseconds has no volumes.
  const range = fits64(asked.startNs) && fits64(asked.endNs) ? asked : { startNs: maxInt64, endNs: maxInt64 };
  // Zero means the default.
  const limit =
    first(params, 'limit') === '0' ? defaultVolumeLimit : readLimit(params, 'limit', defaultVolumeLimit);
  const targetLabels = first(params, 'targetLabels')
    .split(',')
    .filter((name) => name !== '');
  if (targetLabels.length > maxTargetLabels)
    throw apiError('tooManyTargetLabels', { limit: maxTargetLabels, count: targetLabels.length });
  const aggregateBy = readAggregation(first(params, 'aggregateBy'));
  const query = new Selector(first(params, 'query'), context.dottedNames);
  return { range, query, limit, targetLabels, aggregateBy };
}

function readAggregation(text: string): VolumeAggregation {
  switch (text) {
    case '':
    case 'series':
      return 'series';
    case 'labels':
      return 'labels';
    default:
      throw apiError('badAggregation', {});
  }
}

function readScan(params: Params, context: ParamContext): Omit<DetectedFieldsRequest, 'op'> {
  const range = readOrderedRange(params, context);
  const lineLimit = readLimit(params, 'line_limit', defaultLineLimit);
  const name = first(params, 'limit') === '' ? 'field_limit' : 'limit';
  const limit = readLimit(params, name, defaultFieldLimit);
  // The step is not used, but Loki rejects an invalid one.
  readStep(params, range);
  return { range, query: readQuery(params, context), lineLimit, limit };
}

function readOrderedRange(params: Params, context: ParamContext, parse = parseTimestamp): TimeRange {
  const range = readTimeRange(params, context, hourNs, parse);
  if (range.endNs < range.startNs) throw apiError('endBeforeStart', {});
  return range;
}

function readQuery(params: Params, context: ParamContext): Query {
  return new Query(first(params, 'query'), context.dottedNames);
}

function withAlias(params: Params, name: string, alias: string): Params {
  const values = params.get(alias);
  return first(params, name) !== '' || values === undefined ? params : new Map([...params, [name, values]]);
}

function readOptional(params: Params, name: string): number | undefined {
  const parsed = parseGoInt(first(params, name));
  if (parsed.kind === 'bad' || parsed.value <= 0n) return undefined;
  return parsed.value > 0xffff_ffffn ? 0xffff_ffff : Number(parsed.value);
}
