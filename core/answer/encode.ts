import type { ApiRequest } from '../api/request.js';
import { discoveryText } from './encode-discovery.js';
import { encodeStats } from './encode-stats.js';
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
function queryText(answer: QueryResult, options: EncodeOptions): string {
  const flags =
    answer.kind === 'streams' && options.categorizeLabels ? '"encodingFlags":["categorize-labels"],' : '';
  const parts = [`{"status":"success","data":{"resultType":"${answer.kind}",${flags}"result":`];
  addResult(parts, answer, options);
  parts.push(`,"stats":${encodeStats(answer.stats)}}${warningsText(answer.warnings)}}`);
  return parts.join('');
}

function addResult(parts: string[], answer: QueryResult, options: EncodeOptions): void {
  switch (answer.kind) {
    case 'streams': {
      const { request } = options;
      const isForward =
        (request?.op === 'query_range' || request?.op === 'query') && request.direction === 'forward';
      if (options.categorizeLabels) addCategorized(parts, answer.streams);
      else addMerged(parts, answer.streams, isForward);
      return;
    }
    case 'matrix':
      parts.push(`[${answer.series.map(seriesText).join(',')}]`);
      return;
    case 'vector':
      parts.push(`[${answer.samples.map(sampleText).join(',')}]`);
      return;
    case 'scalar':
      // Whole milliseconds, unlike everywhere else: the reference's own quirk.
      parts.push(`[${Math.trunc(answer.point.timestampMs)},"${formatSampleValue(answer.point.value)}"]`);
      return;
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
