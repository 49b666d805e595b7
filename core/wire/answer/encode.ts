import type { ApiRequest } from '../api/request.js';
import { addDiscovery } from './encode-discovery.js';
import { encodeStats } from './encode-stats.js';
import { warningsText } from './encode-warnings.js';
import { addList, BodyParts } from './body-parts.js';
import { doAll, type Steps } from '../../base/pace/steps.js';
import { addCategorized, addMerged } from './encode-streams.js';
import { formatFloatPlain, formatSeconds } from '../../base/time/index.js';
import type { Point, SampleResult, SeriesResult } from '../../logql/metric/types.js';
import type { Answer, EncodedAnswer } from './types.js';

/** Inputs of the encoding of an answer, besides the answer. */
export interface EncodeOptions {
  /** True for 3-tuples instead of 2-tuples in log answers. */
  readonly categorizeLabels: boolean;
  /** The request, which determines the order of merged streams; backward by default. */
  readonly request?: ApiRequest;
}

export type EncodedBody = Pick<EncodedAnswer, 'status' | 'contentType' | 'body'>;

type PlainAnswer = Exclude<Answer, EncodedAnswer>;
type QueryResult = Extract<PlainAnswer, { readonly kind: 'streams' | 'matrix' | 'vector' | 'scalar' }>;

const queryType = 'application/json; charset=UTF-8';
const formatType = 'application/json; charset=utf-8';

/** Encodes an answer in Loki's format and key order (docs/protocol/answers.md#envelope, docs/protocol/answers.md#bodies-by-endpoint). */
export function encodeAnswer(answer: Answer, options: EncodeOptions): EncodedBody {
  return doAll(encodeSteps(answer, options));
}

/** As `encodeAnswer`, in steps for large answers. */
export function* encodeSteps(answer: Answer, options: EncodeOptions): Steps<EncodedBody> {
  if (answer.kind === 'encoded') return answer;
  const contentType = answer.kind === 'formatted' ? formatType : queryType;
  const body = new BodyParts();
  yield* addText(body, answer, options);
  return { status: 200, contentType, body: yield* body.bytes() };
}

function* addText(body: BodyParts, answer: PlainAnswer, options: EncodeOptions): Steps<void> {
  switch (answer.kind) {
    case 'streams':
    case 'matrix':
    case 'vector':
    case 'scalar':
      yield* addQueryText(body, answer, options);
      return;
    case 'series':
      yield* addSuccess(body, answer.series, ({ json }) => json);
      body.push(`${warningsText(answer)}}`);
      return;
    case 'names':
      // Loki omits `data` if there are no names.
      if (answer.values.length === 0) body.push('{"status":"success"');
      else yield* addSuccess(body, answer.values, (value) => JSON.stringify(value));
      body.push(`${warningsText(answer)}}`);
      return;
    case 'index-stats': {
      const { streams, chunks, bytes, entries } = answer;
      body.push(JSON.stringify({ streams, chunks, bytes, entries }).slice(0, -1), `${warningsText(answer)}}`);
      return;
    }
    case 'volume':
    case 'detected-fields':
    case 'detected-field-values':
    case 'detected-labels':
    case 'patterns':
    case 'shards':
      yield* addDiscovery(body, answer);
      return;
    case 'formatted':
      body.push(`{"status":"success","data":${JSON.stringify(answer.query)}}`);
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

/** Adds the start and the list of a listing; warnings may follow. */
function* addSuccess<Item>(
  body: BodyParts,
  items: readonly Item[],
  textFor: (item: Item) => string,
): Steps<void> {
  body.push('{"status":"success","data":');
  yield* addList(body, items, textFor);
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
