import type { ApiRequest } from '../api/request.js';
import { discoveryText } from './encode-discovery.js';
import { encodeStats } from './encode-stats.js';
import { BodyParts } from './body-parts.js';
import { doAll, type Steps } from '../pace/steps.js';
import { addCategorized, addMerged } from './encode-streams.js';
import { formatSampleValue, formatSeconds } from './encode-values.js';
import type { Answer, EncodedAnswer, Point, SampleResult, SeriesResult } from './types.js';

/** What the bytes depend on besides the answer. */
export interface EncodeOptions {
  /** 3-tuples instead of 2-tuples in log answers. */
  readonly categorizeLabels: boolean;
  /** What was asked; decides the order of merged streams. Without it they are taken as backward. */
  readonly request?: ApiRequest;
}

/** An answer's bytes, for an HTTP body. */
export type EncodedBody = Pick<EncodedAnswer, 'status' | 'contentType' | 'body'>;

type PlainAnswer = Exclude<Answer, EncodedAnswer>;
type SeriesAnswer = Extract<PlainAnswer, { readonly kind: 'series' }>;
type QueryResult = Extract<PlainAnswer, { readonly kind: 'streams' | 'matrix' | 'vector' | 'scalar' }>;

const queryType = 'application/json; charset=UTF-8';
const formatType = 'application/json; charset=utf-8';

/** Makes the bytes of an answer in the reference's shape and key order (spec-gaps: Full JSON envelope, Response bodies). */
export function encodeAnswer(answer: Answer, options: EncodeOptions): EncodedBody {
  return doAll(encodeSteps(answer, options));
}

/** The same bit by bit, for answers that are large. */
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
      // The longest of the listings.
      body.push('{"status":"success","data":');
      yield* addList(body, answer.series, ({ json }) => json);
      body.push(`${warningsText(answer.warnings)}}`);
      return;
    default:
      body.push(textOf(answer));
  }
}

function textOf(answer: Exclude<PlainAnswer, QueryResult | SeriesAnswer>): string {
  switch (answer.kind) {
    case 'names':
      // The reference leaves out `data` when there are no names.
      return successText(
        answer.values.length === 0 ? undefined : JSON.stringify(answer.values),
        answer.warnings,
      );
    case 'index-stats': {
      const { streams, chunks, bytes, entries } = answer;
      return JSON.stringify({ streams, chunks, bytes, entries });
    }
    case 'volume':
    case 'detected-fields':
    case 'detected-field-values':
    case 'detected-labels':
    case 'patterns':
    case 'shards':
      return discoveryText(answer);
    case 'formatted':
      return successText(JSON.stringify(answer.query), []);
    case 'tenant':
      throw new Error('a tenant is no body: the endpoint that asked makes one');
    case 'live':
      throw new Error('a live answer has no body: its frames are made by core/tail');
  }
}

function successText(data: string | undefined, warnings: readonly string[]): string {
  return `{"status":"success"${data === undefined ? '' : `,"data":${data}`}${warningsText(warnings)}}`;
}

/** Readers that stream the answer depend on the order: resultType, encodingFlags, result, stats. */
function* addQueryText(body: BodyParts, answer: QueryResult, options: EncodeOptions): Steps<void> {
  const flags =
    answer.kind === 'streams' && options.categorizeLabels ? '"encodingFlags":["categorize-labels"],' : '';
  body.push(`{"status":"success","data":{"resultType":"${answer.kind}",${flags}"result":`);
  yield* addResult(body, answer, options);
  body.push(`,"stats":${encodeStats(answer.stats)}}${warningsText(answer.warnings)}}`);
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
      // Whole milliseconds, unlike everywhere else: the reference's own quirk.
      body.push(`[${Math.trunc(answer.point.timestampMs)},"${formatSampleValue(answer.point.value)}"]`);
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

/** Members that are made into text in one step. */
const stepItems = 500;

function* addList<Item>(
  body: BodyParts,
  items: readonly Item[],
  textFor: (item: Item) => string,
): Steps<void> {
  body.push('[');
  for (let from = 0; from < items.length; from += stepItems) {
    const part = items.length <= stepItems ? items : items.slice(from, from + stepItems);
    body.push(from === 0 ? '' : ',', part.map(textFor).join(','));
    if (body.isFull) {
      body.flush();
      yield;
    }
  }
  body.push(']');
}

function sampleText({ labels, point }: SampleResult): string {
  return `{"metric":${labels.json},"value":${pointText(point)}}`;
}

function pointText({ timestampMs, value }: Point): string {
  return `[${formatSeconds(timestampMs)},"${formatSampleValue(value)}"]`;
}

function warningsText(warnings: readonly string[]): string {
  return warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
}
