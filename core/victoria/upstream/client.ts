import type { Clock } from '../../base/clock.js';
import { apiError } from '../../base/errors/table.js';
import {
  CircuitBreaker,
  breakerGaugeValue,
  type BreakerFlags,
  type BreakerPermit,
} from '../../base/admission/circuit-breaker.js';
import type { Logger } from '../../base/logger.js';
import type { Gauge } from '../../base/meters.js';
import {
  BackendHttp,
  throwIfEnded,
  type BackendAnswer,
  type BackendCall,
  type BackendOptions,
} from './exchange.js';
import { CallGate } from './gate.js';
import type { Owner, HeldPermit } from '../../base/admission/fair-queue.js';

export type { BackendAnswer, BackendCall } from './exchange.js';

export interface ClientOptions extends BackendOptions {
  /** Notified when the number of running or waiting calls changes. */
  readonly onCalls?: (running: number, waiting: number) => void;
}

/** A call that is admitted now and made elsewhere. */
export interface AdmittedCall {
  readonly call: PlainCall;
  readonly backend: BackendOptions;
  /** Receives the state of the backend as shown by the head of the answer. */
  readonly breakerPermit: BreakerPermit;
  /** Ends the call. */
  readonly signal: AbortSignal;
}

/** A call as plain data. */
export type PlainCall = Omit<BackendCall, 'signal' | 'owner'>;

function plainOf(call: BackendCall): PlainCall {
  const { path, method, form, headers, statusRule, isJson, mayBePartial } = call;
  const others = mayBePartial === undefined ? {} : { mayBePartial };
  return { path, method, form, headers, statusRule, isJson, ...others };
}

const noVerdict: BreakerPermit = {
  succeed: () => undefined,
  fail: () => undefined,
  release: () => undefined,
};
const noPermit: HeldPermit = { pause: () => () => undefined, leave: () => undefined };
const noOwner: Owner = [''];
const maxWaitingCalls = 10_000;

/** Makes calls to VictoriaLogs, with limited concurrency, and none while the circuit breaker is open. Errors are ApiError. */
export class BackendClient {
  readonly #backend: BackendOptions;
  readonly #http: BackendHttp;
  readonly #breaker: CircuitBreaker;
  readonly #gate: CallGate;

  constructor({ onCalls, ...backend }: ClientOptions, breaker: CircuitBreaker) {
    this.#backend = backend;
    this.#http = new BackendHttp(backend);
    this.#breaker = breaker;
    this.#gate = new CallGate({
      limit: backend.maxConcurrent,
      waitMs: backend.timeout,
      nowMs: () => performance.now(),
      maxWaiting: maxWaitingCalls,
      full: (limit, waiting) => apiError('tooManyCalls', { limit, waiting }),
      onChange: onCalls ?? (() => undefined),
    });
  }

  /**
   * Sends a call and waits for the head of its answer.
   * @throws ApiError with the statuses of docs/protocol/errors-and-limits.md#error-body
   */
  async call(call: BackendCall): Promise<BackendAnswer> {
    throwIfEnded(call.signal);
    const isLook = call.isProbe === true;
    const permit = isLook || call.liveWithinMs !== undefined ? noPermit : await this.#enter(call);
    try {
      const breakerPermit = isLook ? noVerdict : this.#breaker.admit();
      return await this.#http.exchange(call, breakerPermit, permit);
    } catch (error) {
      permit.leave();
      throw error;
    }
  }

  /** As `call`, for a call that is made elsewhere, such as in another thread. It ends when its parts end. */
  async *callBy<Part>(
    call: BackendCall,
    make: (admitted: AdmittedCall) => AsyncIterable<Part>,
  ): AsyncGenerator<Part> {
    throwIfEnded(call.signal);
    const permit = await this.#enter(call);
    let breakerPermit = noVerdict;
    try {
      breakerPermit = this.#breaker.admit();
      yield* make({ call: plainOf(call), backend: this.#backend, breakerPermit, signal: call.signal });
    } catch (error) {
      throwIfEnded(call.signal);
      throw error;
    } finally {
      breakerPermit.release();
      permit.leave();
    }
  }

  async #enter({ owner = noOwner, signal }: BackendCall): Promise<HeldPermit> {
    try {
      return await this.#gate.enter(owner, signal);
    } catch (error) {
      throwIfEnded(signal);
      throw error;
    }
  }

  /** Closes all connections; calls in flight fail. */
  close(): Promise<void> {
    this.#http.close();
    return Promise.resolve();
  }
}

/** The options of a client among those of a stage. */
export function clientOptions(url: string, options: ClientFlags): BackendOptions {
  const { timeout, compression, tlsSkipVerify, maxConcurrent } = options;
  const { maxBufferedResponseBytes, maxRowBytes, showsRawErrors, hidesAddresses } = options;
  return {
    ...{ url, timeout, compression, tlsSkipVerify, maxConcurrent },
    ...{ maxBufferedResponseBytes, maxRowBytes, showsRawErrors, hidesAddresses },
  };
}

type ClientFlags = Required<Omit<BackendOptions, 'url'>>;

/** The surroundings of a client with a breaker of its own. */
export interface OwnBreaker {
  /** The name of the server in log records. */
  readonly name: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly calls: Gauge<{ readonly state: string }>;
  readonly state: Gauge<Readonly<Record<never, string>>>;
}

/** Creates a client of a server beside the backend, with a circuit breaker of its own; both are shown by gauges. */
export function clientWithBreaker(
  url: string,
  flags: ClientFlags & BreakerFlags,
  { name, clock, log, calls, state: gauge }: OwnBreaker,
): BackendClient {
  const breaker = new CircuitBreaker(flags, clock, (state) => {
    gauge.set(breakerGaugeValue[state], {});
    log.warn(`circuit breaker of the ${name} is ${state}`);
  });
  const onCalls = (running: number, waiting: number): void => {
    calls.set(running, { state: 'running' });
    calls.set(waiting, { state: 'waiting' });
  };
  return new BackendClient({ ...clientOptions(url, flags), onCalls }, breaker);
}
