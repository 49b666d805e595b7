import { doAll, type Steps } from '../../base/pace/steps.js';
import { formatFloatPlain, formatSeconds } from '../../base/time/index.js';
import type { Point, SampleResult, SeriesResult } from '../../logql/metric/work.js';
import type { ApiRequest } from '../api/request.js';
import { addList, BodyParts } from './packed.js';
import type {
  Answer,
  AnswerStats,
  DetectedField,
  DetectedLabel,
  EncodedAnswer,
  PatternResult,
  ShardResult,
  VolumeAnswer,
  Warned,
} from './types.js';
import { addCategorized, addMerged } from './encode-streams.js';
import { noStats } from './merge/shared.js';

const cacheCounters =
  '{"entriesFound":0,"entriesRequested":0,"entriesStored":0,"bytesReceived":0,"bytesSent":0,"requests":0,"downloadTime":0,"queryLengthServed":0}';
const cacheKinds = [
  'chunk',
  'index',
  'result',
  'statsResult',
  'volumeResult',
  'seriesResult',
  'labelResult',
  'instantMetricResult',
  'logResult',
  'taskResult',
];
const store =
  '{"totalChunksRef":0,"totalChunksDownloaded":0,"chunksDownloadTime":0,"queryReferencedStructuredMetadata":false,"queryUsedV2Engine":false,' +
  '"chunk":{"headChunkBytes":0,"headChunkLines":0,"decompressedBytes":0,"decompressedLines":0,"compressedBytes":0,"totalDuplicates":0,' +
  '"postFilterLines":0,"headChunkStructuredMetadataBytes":0,"decompressedStructuredMetadataBytes":0},"chunkRefsFetchTime":0,' +
  '"congestionControlLatency":0,"pipelineWrapperFilteredLines":0,"dataobj":{}}';
const cache = cacheKinds.map((kind) => `"${kind}":${cacheCounters}`).join(',');
// Statistics of Loki's own storage: always zero here, but readers expect the keys.
const storage =
  `"ingester":{"totalReached":0,"totalChunksMatched":0,"totalBatches":0,"totalLinesSent":0,"store":${store},"recvWaitTime":0},` +
  `"cache":{${cache}},` +
  '"index":{"totalChunks":0,"postFilterChunks":0,"shardsDuration":0,"usedBloomFilters":false,"totalStreams":0,"chunkRefsLookupTime":0,"bloomFilterTime":0}';

/** `data.stats` with the numbers of this answer (docs/protocol/answers.md#envelope); times in seconds. */
export function encodeStats(stats: AnswerStats): string {
  const seconds = stats.execTimeMs / 1000;
  const perSecond = (amount: number): number => (seconds > 0 ? Math.round(amount / seconds) : 0);
  const summary = {
    bytesProcessedPerSecond: perSecond(stats.bytesProcessed),
    linesProcessedPerSecond: perSecond(stats.linesProcessed),
    totalBytesProcessed: stats.bytesProcessed,
    totalLinesProcessed: stats.linesProcessed,
    execTime: seconds,
    queueTime: 0,
    subqueries: 0,
    totalEntriesReturned: stats.entriesReturned,
    splits: stats.splits,
    shards: 1,
    totalPostFilterLines: stats.postFilterLines,
    totalStructuredMetadataBytesProcessed: stats.structuredMetadataBytes,
  };
  return `{"summary":${JSON.stringify(summary)},"querier":{"store":${store},"querierExecTime":${seconds}},${storage}}`;
}

/**
 * The warnings as the last member of a body. Loki puts them beside the data of queries; its other bodies have none, and their readers
 * ignore additional members.
 */
export function warningsText({ warnings }: Warned): string {
  return warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
}

/** A volume is a vector unless a series has more than one sample. */
function* addVolume(body: BodyParts, answer: VolumeAnswer): Steps<void> {
  const { series, stats } = answer;
  const isVector = series.every(({ points }) => points.length === 1);
  body.push(`{"status":"success","data":{"resultType":"${isVector ? 'vector' : 'matrix'}","result":`);
  yield* addList(body, series, ({ labels, points }) => {
    const texts = points.map(pointText);
    return `{"metric":${labels.json},${isVector ? `"value":${texts.join('')}` : `"values":[${texts.join(',')}]`}}`;
  });
  body.push(`,"stats":${encodeStats(stats)}}${warningsText(answer)}}`);
}

function fieldText({ label, type, parsers, jsonPath, values }: DetectedField): string {
  return JSON.stringify({
    label,
    type,
    cardinality: values.length,
    // Clients do not show a field with an empty list, so null is written, as in Loki.
    parsers: parsers.length === 0 ? null : parsers,
    jsonPath,
  });
}

function labelText({ label, values }: DetectedLabel): string {
  return JSON.stringify({ label, cardinality: values.length });
}

const htmlCharacters = /[<>&]/g;

function patternText({ pattern, level, samples }: PatternResult): string {
  const text = JSON.stringify(pattern).replace(
    htmlCharacters,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
  const ofLevel = level === undefined ? '' : `"level":${JSON.stringify(level)},`;
  return `{"pattern":${text},${ofLevel}"samples":${JSON.stringify(samples)}}`;
}

function shardText({ min, max, streams, chunks, bytes, entries }: ShardResult): string {
  // Bounds are 64-bit numbers, which JSON.stringify cannot write.
  const stats = JSON.stringify({ streams, chunks, bytes, entries });
  return `{"bounds":{"min":${String(min)},"max":${String(max)}},"stats":${stats}}`;
}

/** Inputs of the encoding of an answer, besides the answer. */
export interface EncodeOptions {
  /** True for 3-tuples instead of 2-tuples in log answers. */
  readonly categorizeLabels: boolean;
  /** The request, which determines the order of merged streams; backward by default. */
  readonly request?: ApiRequest;
}

type PlainAnswer = Exclude<Answer, EncodedAnswer>;
type QueryResult = Extract<PlainAnswer, { readonly kind: 'streams' | 'matrix' | 'vector' | 'scalar' }>;

const queryType = 'application/json; charset=UTF-8';
const formatType = 'application/json; charset=utf-8';

/** Encodes an answer in Loki's format and key order (docs/protocol/answers.md#envelope, docs/protocol/answers.md#bodies-by-endpoint). */
export function encodeAnswer(answer: Answer, options: EncodeOptions): EncodedAnswer {
  return doAll(encodeSteps(answer, options));
}

/** As `encodeAnswer`, in steps for large answers. */
export function* encodeSteps(answer: Answer, options: EncodeOptions): Steps<EncodedAnswer> {
  if (answer.kind === 'encoded') return answer;
  const contentType = answer.kind === 'formatted' ? formatType : queryType;
  const body = new BodyParts();
  yield* addText(body, answer, options);
  return finishedAnswer(200, yield* body.bytes(), contentType);
}

const success = '{"status":"success","data":';

/** Adds the body of an answer in Loki's format (docs/protocol/answers.md#bodies-by-endpoint, docs/protocol/answers.md#patterns). */
function* addText(body: BodyParts, answer: PlainAnswer, options: EncodeOptions): Steps<void> {
  const end = `${'warnings' in answer ? warningsText(answer) : ''}}`;
  switch (answer.kind) {
    case 'streams':
    case 'matrix':
    case 'vector':
    case 'scalar':
      yield* addQueryText(body, answer, options);
      return;
    case 'series':
      yield* addAround(body, [success, end], answer.series, ({ json }) => json);
      return;
    case 'names':
      // Loki omits `data` if there are no names.
      if (answer.values.length === 0) body.push('{"status":"success"', end);
      else yield* addAround(body, [success, end], answer.values, (value) => JSON.stringify(value));
      return;
    case 'index-stats': {
      const { streams, chunks, bytes, entries } = answer;
      body.push(JSON.stringify({ streams, chunks, bytes, entries }).slice(0, -1), end);
      return;
    }
    case 'volume':
      yield* addVolume(body, answer);
      return;
    case 'detected-fields':
      // Loki omits empty members, here and in the next two.
      if (answer.fields.length === 0) body.push('{', end.replace(/^,/, ''));
      else yield* addAround(body, ['{"fields":', `,"limit":${answer.limit}${end}`], answer.fields, fieldText);
      return;
    case 'detected-field-values':
      if (answer.values.length === 0) body.push('{', end.replace(/^,/, ''));
      else
        yield* addAround(body, [`{"limit":${answer.limit},"values":`, end], answer.values, (value) =>
          JSON.stringify(value),
        );
      return;
    case 'detected-labels':
      if (answer.labels.length === 0) body.push('{', end.replace(/^,/, ''));
      else yield* addAround(body, ['{"detectedLabels":', end], answer.labels, labelText);
      return;
    case 'patterns':
      yield* addAround(body, [success, end], answer.patterns, patternText);
      return;
    case 'shards': {
      const after = `,"statistics":${encodeStats(noStats)}${end}`;
      yield* addAround(body, ['{"shards":', after], answer.shards, shardText);
      return;
    }
    case 'formatted':
      body.push(success, JSON.stringify(answer.query), end);
      return;
    case 'several':
      throw new Error(
        'answers to gathered questions are no body: the stage that gathered them takes them apart',
      );
    case 'tenant':
      throw new Error('a tenant is no body: the endpoint that asked makes one');
    case 'live':
      throw new Error('a live answer has no body: its frames are made by core/engine/tail');
  }
}

/** Adds a list, and what precedes and follows it. */
function* addAround<Item>(
  body: BodyParts,
  [before, after]: readonly [string, string],
  items: readonly Item[],
  textFor: (item: Item) => string,
): Steps<void> {
  body.push(before);
  yield* addList(body, items, textFor);
  body.push(after);
}

/** Streaming readers depend on the order: resultType, encodingFlags, result, stats. */
function* addQueryText(body: BodyParts, answer: QueryResult, options: EncodeOptions): Steps<void> {
  const flags =
    answer.kind === 'streams' && options.categorizeLabels ? '"encodingFlags":["categorize-labels"],' : '';
  body.push(`{"status":"success","data":{"resultType":"${answer.kind}",${flags}"result":`);
  yield* addResult(body, answer, options);
  body.push(`,"stats":${encodeStats(answer.stats)}}${warningsText(answer)}}`);
}

function* addResult(body: BodyParts, answer: QueryResult, options: EncodeOptions): Steps<void> {
  switch (answer.kind) {
    case 'streams': {
      const { request } = options;
      const isForward =
        (request?.op === 'query_range' || request?.op === 'query') && request.direction === 'forward';
      if (options.categorizeLabels) yield* addCategorized(body, answer.streams);
      else yield* addMerged(body, answer.streams, isForward);
      return;
    }
    case 'matrix':
      yield* addMatrix(body, answer.series);
      return;
    case 'vector':
      yield* addList(body, answer.samples, sampleText);
      return;
    case 'scalar':
      body.push(pointText(answer.point));
      return;
  }
}

function* addMatrix(body: BodyParts, all: readonly SeriesResult[]): Steps<void> {
  body.push('[');
  let before = '';
  for (const { labels, points } of all) {
    body.push(`${before}{"metric":${labels.json},"values":`);
    yield* addList(body, points, pointText);
    body.push('}');
    before = ',';
  }
  body.push(']');
}

function sampleText({ labels, point }: SampleResult): string {
  return `{"metric":${labels.json},"value":${pointText(point)}}`;
}

function pointText({ timestampMs, value }: Point): string {
  return `[${formatSeconds(timestampMs)},"${formatFloatPlain(value)}"]`;
}

const noHeaders: ReadonlyMap<string, string> = new Map();

/** An encoded plain-text answer. */
export function textAnswer(
  status: number,
  body: string,
  contentType = 'text/plain; charset=utf-8',
): EncodedAnswer {
  return finishedAnswer(status, Buffer.from(body), contentType);
}

/** An encoded JSON answer with status 200. */
export function jsonAnswer(
  body: object | string,
  contentType = 'application/json; charset=utf-8',
): EncodedAnswer {
  return finishedAnswer(200, Buffer.from(JSON.stringify(body)), contentType);
}

/** An encoded answer from bytes; with an empty content type, the header is not sent. */
export function finishedAnswer(
  status: number,
  body: Buffer,
  contentType: string,
  headers: ReadonlyMap<string, string> = noHeaders,
): EncodedAnswer {
  return { kind: 'encoded', status, contentType, headers, body };
}
