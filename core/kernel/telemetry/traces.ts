/**
 * Traces, pushed to an OpenTelemetry receiver (docs/protocol/operation.md#traces). Loaded only if configured, because the libraries take a
 * tenth of a second to load.
 */
import {
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace as api,
  type Context,
  type Span,
  type TextMapGetter,
  type Tracer,
} from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '../../base/logger.js';
import type { Meters } from '../../base/meters.js';
import type { TelemetryOptions } from '../../base/options.gen.js';
import type { OpenSpan, SpanAttributes } from '../../base/trace.js';
import { withinBound } from '../bounded.js';
import type { traceMetrics } from './metrics-table.js';
import { headersOf, resourceOf, signalUrl } from './otlp/receiver.js';
import { digestQuery, type RequestObserver, type RequestRecord } from './request-log.js';

/** Maximum number of spans waiting for a push; more are dropped and counted. */
const maxWaiting = 4_096;
const maxInPush = 512;
const pauseMs = 2_000;
/** Maximum time that a stop waits for the last push. */
const maxStopMs = 2_000;
const limits = { attributeCountLimit: 32, attributeValueLengthLimit: 1_024, eventCountLimit: 4 };
/** Maximum number of concurrent pushes: at a stop, all waiting spans are pushed at once. */
const maxPushes = maxWaiting / maxInPush;

interface TracesNeeds {
  readonly meters: Meters<typeof traceMetrics>;
  readonly log: Logger;
}

type Settings = TelemetryOptions & { readonly otlpTracesEndpoint: string };

const propagator = new W3CTraceContextPropagator();
const headersOfCaller: TextMapGetter<ReadonlyMap<string, string>> = {
  get: (headers, name) => headers.get(name),
  keys: (headers) => [...headers.keys()],
};

/** Starts the span of each request, ends it with the outcome, and pushes spans in the background. */
export class Traces implements RequestObserver {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #maySayQueries: boolean;

  constructor(options: Settings, needs: TracesNeeds) {
    const exporter = new OTLPTraceExporter({
      url: signalUrl(options.otlpTracesEndpoint, 'traces').href,
      headers: headersOf(options),
      timeoutMillis: options.otlpTimeout,
      concurrencyLimit: maxPushes,
      httpAgentOptions: { rejectUnauthorized: !options.otlpTlsSkipVerify },
    });
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes(Object.fromEntries(resourceOf(options))),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.otlpTracesSampleRatio) }),
      spanLimits: limits,
      spanProcessors: [new BoundedProcessor(exporter, needs, options.otlpTimeout)],
    });
    this.#tracer = this.#provider.getTracer('ref-proxy');
    this.#maySayQueries = options.debugLogRawQueries;
  }

  started(record: RequestRecord): void {
    const outside = propagator.extract(ROOT_CONTEXT, record.caller.headers, headersOfCaller);
    record.trace.span = new OtelSpan(this.#tracer, outside, record.method, SpanKind.SERVER);
  }

  finished(record: RequestRecord, status: number): void {
    const { span, tenantId, cacheResult } = record.trace;
    if (!(span instanceof OtelSpan)) return;
    const { query } = record;
    span.rename(`${record.method} ${record.route}`);
    span.end(
      {
        'http.request.method': record.method,
        'http.route': record.route,
        'url.path': record.path,
        'http.response.status_code': status,
        'http.response.body.size': record.responseBytes,
        'ref.request.type': record.requestType,
        'ref.tenant.id': tenantId ?? record.caller.orgId,
        'ref.query': query === undefined || this.#maySayQueries ? query : digestQuery(query),
        'cache.result': cacheResult,
        'upstream.calls': record.trace.upstreamCalls.length,
      },
      status >= 500 ? (record.error ?? `status ${status}`) : undefined,
    );
  }

  /** Pushes the waiting spans; the process waits for that up to `maxStopMs`. */
  async stop(): Promise<void> {
    try {
      await withinBound(maxStopMs, () => this.#provider.shutdown());
    } catch {
      // Either it was already reported when the push failed, or it takes longer than a stop may.
    }
  }
}

class OtelSpan implements OpenSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;
  #headers: Readonly<Record<string, string>> | undefined;

  constructor(tracer: Tracer, within: Context, name: string, kind: SpanKind) {
    this.#tracer = tracer;
    this.#span = tracer.startSpan(name, { kind }, within);
    this.#context = api.setSpan(within, this.#span);
  }

  get headers(): Readonly<Record<string, string>> {
    if (this.#headers === undefined) {
      const headers: Record<string, string> = {};
      propagator.inject(this.#context, headers, defaultTextMapSetter);
      this.#headers = headers;
    }
    return this.#headers;
  }

  child(name: string, isCall = false): OpenSpan {
    return new OtelSpan(this.#tracer, this.#context, name, isCall ? SpanKind.CLIENT : SpanKind.INTERNAL);
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  end(attributes: SpanAttributes, error?: unknown): void {
    for (const [name, value] of Object.entries(attributes))
      if (value !== undefined) this.#span.setAttribute(name, value);
    // The message may quote a query, so only its kind is recorded, as in the log.
    if (error !== undefined) {
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
      this.#span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
    }
    this.#span.end();
  }
}

/** A span processor with a bounded queue that reports drops and the outcome of pushes, which the library's processor does not. */
class BoundedProcessor implements SpanProcessor {
  readonly #inner: BatchSpanProcessor;
  readonly #needs: TracesNeeds;
  /** Number of spans passed to the inner processor and not pushed yet. */
  #waiting = 0;
  #isFailing = false;

  constructor(exporter: SpanExporter, needs: TracesNeeds, timeoutMs: number) {
    this.#needs = needs;
    this.#inner = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) =>
          exporter.export(spans, (result) => {
            this.#pushed(spans.length, result);
            done(result);
          }),
        forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
        shutdown: () => exporter.shutdown(),
      },
      maxQueueSize: maxWaiting,
      maxExportBatchSize: maxInPush,
      scheduledDelayMillis: pauseMs,
      exportTimeoutMillis: timeoutMs,
    });
  }

  onStart(): void {
    // The span has no outcome yet.
  }

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (this.#waiting >= maxWaiting) {
      this.#needs.meters.trace_spans_total.add(1, { outcome: 'dropped' });
      return;
    }
    this.#waiting += 1;
    this.#inner.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#inner.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  #pushed(spans: number, { code, error }: ExportResult): void {
    const { meters, log } = this.#needs;
    const isDone = code === ExportResultCode.SUCCESS;
    this.#waiting -= spans;
    meters.trace_spans_total.add(spans, { outcome: isDone ? 'pushed' : 'failed' });
    if (!isDone && !this.#isFailing)
      log.warn('the push of traces failed', { 'error.message': error?.message.slice(0, 300) });
    else if (isDone && this.#isFailing) log.info('the push of traces works again');
    this.#isFailing = !isDone;
  }
}
