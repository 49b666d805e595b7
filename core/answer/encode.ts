import type { ApiRequest } from '../api/request.js';
import { discoveryText } from './encode-discovery.js';
import { encodeStats } from './encode-stats.js';
import { encodeCategorized, encodeMerged } from './encode-streams.js';
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
type QueryResult = Extract<PlainAnswer, { readonly kind: 'streams' | 'matrix' | 'vector' | 'scalar' }>;

const queryType = 'application/json; charset=UTF-8';
const formatType = 'application/json; charset=utf-8';

/** Makes the bytes of an answer in the reference's shape and key order (spec-gaps: Full JSON envelope, Response bodies). */
export function encodeAnswer(answer: Answer, options: EncodeOptions): EncodedBody {
  if (answer.kind === 'encoded') return answer;
  const contentType = answer.kind === 'formatted' ? formatType : queryType;
  return { status: 200, contentType, body: Buffer.from(textOf(answer, options), 'utf8') };
}

function textOf(answer: PlainAnswer, options: EncodeOptions): string {
  switch (answer.kind) {
    case 'streams':
    case 'matrix':
    case 'vector':
    case 'scalar':
      return queryText(answer, options);
    case 'names':
      // The reference leaves out `data` when there are no names.
      return successText(
        answer.values.length === 0 ? undefined : JSON.stringify(answer.values),
        answer.warnings,
      );
    case 'series':
      return successText(`[${answer.series.map((labels) => labels.json).join(',')}]`, answer.warnings);
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
    case 'live':
      throw new Error('a live answer has no body: its frames are made by core/tail');
  }
}

function successText(data: string | undefined, warnings: readonly string[]): string {
  return `{"status":"success"${data === undefined ? '' : `,"data":${data}`}${warningsText(warnings)}}`;
}

/** Readers that stream the answer depend on the order: resultType, encodingFlags, result, stats. */
function queryText(answer: QueryResult, options: EncodeOptions): string {
  const flags =
    answer.kind === 'streams' && options.categorizeLabels ? '"encodingFlags":["categorize-labels"],' : '';
  const result = resultText(answer, options);
  const stats = encodeStats(answer.stats);
  return `{"status":"success","data":{"resultType":"${answer.kind}",${flags}"result":${result},"stats":${stats}}${warningsText(answer.warnings)}}`;
}

function resultText(answer: QueryResult, options: EncodeOptions): string {
  switch (answer.kind) {
    case 'streams': {
      if (options.categorizeLabels) return encodeCategorized(answer.streams);
      const { request } = options;
      const isForward =
        (request?.op === 'query_range' || request?.op === 'query') && request.direction === 'forward';
      return encodeMerged(answer.streams, isForward);
    }
    case 'matrix':
      return `[${answer.series.map(seriesText).join(',')}]`;
    case 'vector':
      return `[${answer.samples.map(sampleText).join(',')}]`;
    case 'scalar':
      // Whole milliseconds, unlike everywhere else: the reference's own quirk.
      return `[${Math.trunc(answer.point.timestampMs)},"${formatSampleValue(answer.point.value)}"]`;
  }
}

function seriesText({ labels, points }: SeriesResult): string {
  return `{"metric":${labels.json},"values":[${points.map(pointText).join(',')}]}`;
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
