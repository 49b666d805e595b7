/** Periodically pushes all metrics to an OpenTelemetry receiver (docs/protocol/operation.md#pushed-metrics). */
import type { Clock } from '../../../base/clock.js';
import { Encodings } from '../../../base/encoding.js';
import { memberOf } from '../../../base/json-member.js';
import type { Logger } from '../../../base/logger.js';
import type { Meters } from '../../../base/meters.js';
import type { TelemetryOptions } from '../../../base/options.gen.js';
import { fieldsOf } from '../../../base/protobuf-fields.js';
import { withinBound } from '../../bounded.js';
import type { LoggerFactory } from '../logger.js';
import type { MeterRegistry } from '../meters.js';
import { otlpMetrics } from '../metrics-table.js';
import type { Measurements } from '../series.js';
import { headersOf, resourceOf, signalUrl } from './receiver.js';
import { startTimer } from '../../../base/time/waits.js';

/** Maximum number of points in one request, which is encoded in one turn of the event loop; a push may take several requests. */
const maxPoints = 500;
/** Maximum number of bytes of a response that are read. */
const maxAnswerBytes = 64 * 1024;
const maxShown = 300;
/** Maximum time that a stop waits for the last push. */
const maxStopMs = 2_000;
/** The pause before a retry starts at one second and doubles; a longer `Retry-After` is respected. */
const retries = { limit: 8, backoffLimit: 8_000 };
/** Statuses after which the protocol allows retries. */
const passingStatuses = [429, 502, 503, 504];

interface OtlpNeeds {
  readonly registry: MeterRegistry;
  readonly loggers: LoggerFactory;
  readonly clock: Clock;
  readonly measurements: () => Promise<Measurements>;
}

/**
 * The push configured by the options; undefined without `-otlp-endpoint`.
 * @throws Error for a compression that this Node does not support
 */
export function createOtlpPush(options: TelemetryOptions, needs: OtlpNeeds): OtlpPush | undefined {
  const { otlpEndpoint, otlpCompression } = options;
  if (otlpEndpoint === undefined) return undefined;
  const encodings = new Encodings();
  if (otlpCompression !== 'none' && !encodings.has(otlpCompression))
    throw new Error(
      `-otlp-compression: ${otlpCompression} needs Node 22.15 or newer, and this is Node ${process.versions.node}; use gzip`,
    );
  return new OtlpPush(signalUrl(otlpEndpoint, 'metrics'), options, needs, encodings);
}

/**
 * Pushes metrics one push after another, each within `-otlp-timeout`. A failed push is reported and discarded, because the next one
 * contains everything.
 */
export class OtlpPush {
  readonly #url: URL;
  readonly #options: TelemetryOptions;
  readonly #measurements: () => Promise<Measurements>;
  readonly #meters: Meters<typeof otlpMetrics>;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #encodings: Encodings;
  readonly #resource: readonly (readonly [key: string, value: string])[];
  readonly #headers: Readonly<Record<string, string>>;
  readonly #startNs: bigint;
  /** Loaded only if metrics are pushed, because the libraries take a tenth of a second to load. */
  readonly #points = import('./points.js');
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isStarted = false;
  #isFailing = false;

  constructor(url: URL, options: TelemetryOptions, needs: OtlpNeeds, encodings: Encodings) {
    this.#url = url;
    this.#options = options;
    this.#measurements = needs.measurements;
    this.#meters = needs.registry.create(otlpMetrics);
    this.#log = needs.loggers.component('otlp_metrics');
    this.#clock = needs.clock;
    this.#encodings = encodings;
    this.#startNs = needs.clock.nowNs();
    this.#resource = resourceOf(options);
    const { otlpCompression } = options;
    this.#headers = {
      'user-agent': 'ref-proxy',
      ...headersOf(options),
      'content-type': 'application/x-protobuf',
      ...(otlpCompression === 'none' ? {} : { 'content-encoding': otlpCompression }),
    };
  }

  start(): void {
    this.#isStarted = true;
    this.#in(this.#options.otlpInterval);
  }

  /** Cancels a running push, and sends a last one; the process waits for it up to `maxStopMs`. */
  async stop(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort(new Error('stopped'));
    clearTimeout(this.#timer);
    if (this.#isStarted) await this.#push(new AbortController().signal, maxStopMs);
  }

  #in(ms: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#timer = startTimer(() => void this.#push(this.#stopped.signal), ms);
    this.#timer.unref();
  }

  async #push(stopped: AbortSignal, mostMs = Infinity): Promise<void> {
    const [clock, log, meters] = [this.#clock, this.#log, this.#meters];
    const { otlpInterval, otlpTimeout } = this.#options;
    const begunMs = clock.monotonicMs();
    try {
      const refused = await withinBound(
        Math.min(otlpTimeout, mostMs),
        (signal) => this.#send(signal),
        stopped,
      );
      meters.otlp_pushes_total.add(1, { outcome: refused === undefined ? 'ok' : 'partial' });
      if (refused !== undefined) log.warn('the OTLP receiver rejected some of the pushed metrics', refused);
      if (this.#isFailing) log.info('the push of metrics works again');
      this.#isFailing = false;
    } catch (error) {
      if (stopped.aborted) return;
      meters.otlp_pushes_total.add(1, { outcome: 'failed' });
      log.warn('the push of metrics failed', {
        // The address and its query may contain credentials.
        'url.full': this.#url.origin + this.#url.pathname,
        ...failureOf(error),
      });
      this.#isFailing = true;
    } finally {
      this.#in(Math.max(1, otlpInterval - (clock.monotonicMs() - begunMs)));
    }
  }

  /** Sends all metrics; returns what the receiver rejected. */
  async #send(signal: AbortSignal): Promise<Readonly<Record<string, unknown>> | undefined> {
    const measurements = await this.#measurements();
    const times = { startNs: this.#startNs, nowNs: this.#clock.nowNs() };
    const { batches, requestOf } = await this.#points;
    let points = 0;
    let reason = '';
    for await (const metrics of batches(measurements, times, maxPoints)) {
      const body = await this.#compressed(requestOf(this.#resource, metrics));
      const refused = refusedIn(await this.#post(body, signal));
      points += refused.points;
      reason ||= refused.reason;
    }
    return points === 0 && reason === ''
      ? undefined
      : { 'otlp.rejected_data_points': points, 'error.message': shortened(reason) };
  }

  #compressed(bytes: Buffer): Buffer | Promise<Buffer> {
    const { otlpCompression } = this.#options;
    return otlpCompression === 'none' ? bytes : this.#encodings.compress(otlpCompression, bytes);
  }

  async #post(body: Buffer, signal: AbortSignal): Promise<Buffer> {
    // Imported lazily, because every start of the program would pay for it.
    const { got } = await import('got');
    const tooLong = new AbortController();
    const sent = got.post(this.#url, {
      body,
      headers: this.#headers,
      responseType: 'buffer',
      followRedirect: false,
      https: { rejectUnauthorized: !this.#options.otlpTlsSkipVerify },
      retry: {
        ...retries,
        methods: ['POST'],
        statusCodes: passingStatuses,
        maxRetryAfter: this.#options.otlpTimeout,
      },
      hooks: { beforeRetry: [() => this.#meters.otlp_push_retries_total.add(1, {})] },
      signal: AbortSignal.any([signal, tooLong.signal]),
    });
    void sent.on('downloadProgress', ({ transferred }) => {
      if (transferred > maxAnswerBytes)
        tooLong.abort(new Error(`its answer is larger than ${maxAnswerBytes} bytes`));
    });
    try {
      const { body: answer, statusCode } = await sent;
      // Redirects are not followed: they would receive headers with credentials.
      if (statusCode >= 300) throw new Error(`it answered with status ${statusCode}`);
      return answer;
    } catch (error) {
      throw tooLong.signal.aborted ? tooLong.signal.reason : error;
    }
  }
}

/** Number of points that a receiver rejected (`ExportMetricsPartialSuccess`), which most receivers do not report. */
function refusedIn(answer: Buffer): { readonly points: number; readonly reason: string } {
  const partial = fieldsOf(answer)?.get(1);
  const fields = Buffer.isBuffer(partial) ? fieldsOf(partial) : undefined;
  const [points, reason] = [fields?.get(1), fields?.get(2)];
  return {
    points: typeof points === 'number' && points > 0 ? points : 0,
    reason: Buffer.isBuffer(reason) ? reason.toString('utf8') : '',
  };
}

/** The reason for a receiver's failure, from a `google.rpc.Status` or text. */
function saidIn(body: Buffer): string {
  const message = fieldsOf(body)?.get(2);
  return (Buffer.isBuffer(message) ? message : body).toString('utf8').trim();
}

function failureOf(error: unknown): Readonly<Record<string, unknown>> {
  const response = memberOf(error, 'response');
  const status = memberOf(response, 'statusCode');
  const body = memberOf(response, 'body');
  const message = error instanceof Error ? error.message : 'unknown error';
  if (typeof status !== 'number') return { 'error.message': shortened(message) };
  const said = Buffer.isBuffer(body) ? shortened(saidIn(body)) : '';
  return {
    'http.response.status_code': status,
    'error.message': `it answered with status ${status}${said === '' ? '' : `: ${said}`}`,
  };
}

function shortened(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}
