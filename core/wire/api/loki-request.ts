import type { TimeRange } from '../../base/time/range.js';
import type { ApiRequest } from './request.js';

/** A request as another Loki is asked for it. */
export interface LokiRequest {
  /** Path with `/loki/api/v1/`. */
  readonly path: string;
  readonly params: Readonly<Record<string, string | readonly string[]>>;
}

const api = '/loki/api/v1';
const nanosPerSecond = 1_000_000_000n;

/**
 * The request that asks a Loki for the same. Times and steps are those that this request was read to, so that both evaluate at the same
 * moments. Undefined for requests that Loki does not have, that change something, or whose answer never ends.
 */
export function lokiRequest(request: ApiRequest): LokiRequest | undefined {
  switch (request.op) {
    case 'query_range': {
      const { query, stepNs, intervalNs, range } = request;
      const interval = intervalNs > 0n ? { interval: seconds(intervalNs) } : {};
      return to('query_range', {
        query: query.text,
        ...times(range),
        step: seconds(stepNs),
        ...interval,
        ...lines(request),
      });
    }
    case 'query':
      return to('query', { query: request.query.text, time: String(request.timeNs), ...lines(request) });
    case 'labels':
      return to('labels', { ...optional(request.query), ...times(request.range) });
    case 'label_values':
      return to(`label/${encodeURIComponent(request.name)}/values`, {
        ...optional(request.query),
        ...times(request.range),
      });
    case 'series':
      return to('series', { 'match[]': request.selectors.map(({ text }) => text), ...times(request.range) });
    case 'index_stats':
      return to('index/stats', { query: request.query.text, ...times(request.range) });
    case 'volume':
    case 'volume_range': {
      const { query, range, limit, targetLabels, aggregateBy } = request;
      const step = request.op === 'volume_range' ? { step: seconds(request.stepNs) } : {};
      const labels = targetLabels.length > 0 ? { targetLabels: targetLabels.join(',') } : {};
      return to(request.op === 'volume' ? 'index/volume' : 'index/volume_range', {
        ...{ query: query.text, ...times(range), ...step, limit: String(limit) },
        ...{ ...labels, aggregateBy },
      });
    }
    case 'detected_labels':
      return to('detected_labels', { ...optional(request.query), ...times(request.range) });
    case 'detected_fields':
      return to('detected_fields', { query: request.query.text, ...times(request.range), ...scan(request) });
    case 'detected_field_values':
      return to(`detected_field/${encodeURIComponent(request.name)}/values`, {
        ...{ query: request.query.text, ...times(request.range), ...scan(request) },
      });
    case 'patterns':
      return to('patterns', {
        query: request.query.text,
        ...times(request.range),
        step: seconds(request.stepNs),
      });
    case 'format_query':
      return to('format_query', { query: request.query.text });
    case 'index_shards':
    case 'tail':
    case 'delete':
    case 'deletions':
    case 'tenant':
      return undefined;
  }
}

function to(path: string, params: LokiRequest['params']): LokiRequest {
  return { path: `${api}/${path}`, params };
}

function times({ startNs, endNs }: TimeRange): { readonly start: string; readonly end: string } {
  return { start: String(startNs), end: String(endNs) };
}

/** Seconds with as many decimals as the nanoseconds need. */
function seconds(ns: bigint): string {
  const fraction = String(ns % nanosPerSecond)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${ns / nanosPerSecond}${fraction === '' ? '' : `.${fraction}`}`;
}

function lines({ limit, direction }: { readonly limit: number; readonly direction: string }) {
  return { limit: String(limit), direction };
}

function optional(query: { readonly text: string } | undefined): { readonly query?: string } {
  return query === undefined ? {} : { query: query.text };
}

function scan({ lineLimit, limit }: { readonly lineLimit: number; readonly limit: number }) {
  return { line_limit: String(lineLimit), limit: String(limit) };
}
