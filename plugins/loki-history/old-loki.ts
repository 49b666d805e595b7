import { breakerGaugeValue } from '../../core/base/admission/circuit-breaker.js';
import type { Tenant } from '../../core/base/caller.js';
import { ApiError } from '../../core/base/errors/api-error.js';
import { apiError, errorTable } from '../../core/base/errors/table.js';
import type { LokiHistoryOptions } from '../../core/base/options.gen.js';
import type { MemoryAccount } from '../../core/base/memory/account.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import type { Answer, ApiRequest, Host } from '../../core/plugin/index.js';
import { isMatchingError } from '../../core/logql/metric/index.js';
import { clientWithBreaker, type BackendClient } from '../../core/victoria/upstream/client.js';
import { isCallError, isRefusal } from '../../core/victoria/upstream/failures.js';
import { decodeSteps } from '../../core/wire/answer/decode.js';
import { lokiRequest, type LokiRequest } from '../../core/wire/api/loki-request.js';
import type { historyMetrics } from './metrics.js';

/** Length of parameters from which they are sent as a form: servers bound the length of addresses. */
const longParameters = 2000;

/** Statuses with which Loki refuses a query; its text is then meant for the client. */
const queryRefusals: ReadonlySet<number> = new Set([400, 422]);
/** Statuses with which something refuses the proxy, which is no fault of the client. */
const ownRefusals: ReadonlySet<number> = new Set([401, 403, 407]);

/** The Loki that has the data from before the move. */
export class OldLoki {
  readonly #client: BackendClient;
  readonly #host: Host<typeof historyMetrics>;
  readonly #maxAnswerBytes: number;

  constructor(url: string, options: LokiHistoryOptions, host: Host<typeof historyMetrics>) {
    const { meters, log, clock } = host;
    this.#host = host;
    this.#maxAnswerBytes = options.maxAnswerBytes;
    const maxBytes = {
      maxBufferedResponseBytes: options.maxAnswerBytes,
      maxRowBytes: options.maxAnswerBytes,
    };
    this.#client = clientWithBreaker(
      url,
      { ...options, ...maxBytes, compression: 'auto' },
      {
        ...{ name: 'old Loki', clock, log },
        ...{ calls: meters.loki_history_calls, state: meters.loki_history_circuit_breaker_state },
      },
    );
  }

  start(): void {
    this.#host.meters.loki_history_circuit_breaker_state.set(breakerGaugeValue.closed, {});
  }

  stop(): Promise<void> {
    return this.#client.close();
  }

  /**
   * Asks for the answer to a request.
   * @throws ApiError `oldLoki`, `oldLokiRefused`, `oldLokiTooLarge`
   */
  async ask(
    request: ApiRequest,
    tenant: Pick<Tenant, 'id'>,
    memory: MemoryAccount,
    signal: AbortSignal,
  ): Promise<Answer> {
    const asked = lokiRequest(request);
    if (asked === undefined) throw new Error(`a Loki cannot be asked for ${request.op}`);
    const text = await this.#observed(signal, () => this.#text(asked, tenant, signal));
    memory.charge(text.length, 'the bytes of the answer');
    try {
      return await atPace(decodeSteps(text, request), new Pacer(signal));
    } catch (error) {
      signal.throwIfAborted();
      throw apiError('oldLoki', { cause: `unexpected answer to ${asked.path}` }, { cause: error });
    } finally {
      memory.release(text.length, 'the bytes of the answer');
    }
  }

  async #text(
    { path, params }: LokiRequest,
    { id }: Pick<Tenant, 'id'>,
    signal: AbortSignal,
  ): Promise<string> {
    const form = Object.entries(params).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, each]),
    );
    const length = form.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    const answer = await this.#client.call({
      path,
      method: length > longParameters ? 'POST' : 'GET',
      form,
      headers: {
        ...(id === '' ? {} : { 'x-scope-orgid': id }),
        'x-loki-response-encoding-flags': 'categorize-labels',
      },
      signal,
      owner: [id],
      statusRule: 'keep',
      isJson: true,
    });
    return answer.text();
  }

  async #observed<Value>(signal: AbortSignal, call: () => Promise<Value>): Promise<Value> {
    const ended = (outcome: 'answered' | 'refused' | 'failed' | 'given_up'): void =>
      this.#host.meters.loki_history_calls_total.add(1, { outcome });
    let value: Value;
    try {
      value = await call();
    } catch (error) {
      const isTooLarge = error instanceof ApiError && error.entry === errorTable.bufferLimit;
      if (signal.aborted || !(isTooLarge || isCallError(error))) {
        ended('given_up');
        throw error;
      }
      ended(isRefusal(error) ? 'refused' : 'failed');
      throw isTooLarge
        ? apiError('oldLokiTooLarge', { limit: this.#maxAnswerBytes }, { cause: error })
        : named(error);
    }
    ended('answered');
    return value;
  }
}

/** The error of a call, which says that the old Loki is meant. */
function named(error: ApiError): ApiError {
  const { message, status, entry } = error;
  const cause = error.cause instanceof Error ? error.cause.message : message;
  if (isMatchingError(cause)) return apiError('oldLokiRefused', { cause }, { cause: error, status: 500 });
  if (isRefusal(error) && queryRefusals.has(status))
    // The text is about the query of the client, who would get it from Loki too.
    return apiError('oldLokiRefused', { cause }, { cause: error, status });
  if (entry === errorTable.queryTimeout)
    return apiError(
      'oldLoki',
      { cause: 'no answer within -loki-history-timeout' },
      { cause: error, status: 504 },
    );
  if (ownRefusals.has(status)) {
    const refusal = `status ${status}; check the user and the password in -loki-history-url`;
    return apiError('oldLoki', { cause: refusal }, { cause: error });
  }
  if (isRefusal(error) && status < 500) {
    const refusal = status === 404 ? 'status 404; check the address in -loki-history-url' : message;
    return apiError('oldLoki', { cause: refusal }, { cause: error, status });
  }
  const failure = entry === errorTable.unexpectedAnswer ? 'its answer is not that of a Loki' : message;
  return apiError('oldLoki', { cause: failure }, { cause: error });
}

/** True if the old Loki could not be read. */
export function isOldLokiFailure(error: unknown): boolean {
  return error instanceof ApiError && error.entry === errorTable.oldLoki && !isNotFound(error);
}

/** True if the old Loki refused a query for what it asks. */
export function isRefusedPart(error: unknown): boolean {
  return error instanceof ApiError && error.entry === errorTable.oldLokiRefused;
}

/** True if the old Loki does not have what was asked for, such as patterns. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.entry === errorTable.oldLoki && error.status === 404;
}
