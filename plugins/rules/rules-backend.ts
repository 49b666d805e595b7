import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Got } from 'got';
import { withoutAddresses } from '../../core/victoria/upstream/redact.js';
import { apiError } from '../../core/base/errors/table.js';
import { errorIn } from '../../core/base/json-member.js';
import { timeoutSignal } from '../../core/base/time/waits.js';

export interface RulesCall {
  /** The name of the service in its path and in error texts. */
  readonly service: 'rules' | 'alerts';
  /** Address of the service. */
  readonly base: string;
  readonly params: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Maximum size of an answer, larger than any set of rules; it is held in memory. */
const maxBytes = 16 * 1024 * 1024;
const maxShown = 500;

/** Reads from the services that evaluate rules and alerts, with a timeout and a size limit. Errors are ApiError. */
export class RulesBackend {
  /** Agents without keep-alive: calls are few, and an idle connection may be closed just when the next call uses it. */
  readonly #agents = { http: new HttpAgent(), https: new HttpsAgent() };
  /** The HTTP client, loaded on the first call: most proxies have no ruler, and it is large. */
  #client: Promise<Got> | undefined;
  readonly #timeoutMs: number;
  readonly #worded: (text: string) => string;

  constructor(timeoutMs: number, hidesAddresses: boolean) {
    this.#worded = (text) => shortened(hidesAddresses ? withoutAddresses(text) : text);
    this.#timeoutMs = timeoutMs;
  }

  async #load(): Promise<Got> {
    const { got } = await import('got');
    return got.extend({
      agent: this.#agents,
      headers: { accept: 'application/json', 'user-agent': undefined },
      throwHttpErrors: false,
      followRedirect: false,
      retry: { limit: 0 },
    });
  }

  /**
   * Fetches a JSON document.
   * @throws ApiError 400 for a parameter that the service rejects, 504 for a timeout, 502 for anything else
   */
  async fetchJson(call: RulesCall): Promise<{ readonly bytes: Buffer; readonly document: unknown }> {
    const deadline = timeoutSignal(this.#timeoutMs);
    let answer: { readonly status: number; readonly bytes: Buffer };
    try {
      answer = await this.#fetch(call, AbortSignal.any([call.signal, deadline]));
    } catch (error) {
      call.signal.throwIfAborted();
      if (deadline.aborted) throw failed(call, `no answer within ${this.#timeoutMs} ms`, 504, error);
      throw failed(call, error instanceof Error ? this.#worded(error.message) : 'unknown error', 502, error);
    }
    const { status, bytes } = answer;
    if (status === 400 || status === 422)
      throw apiError('rulesBackendRefused', { cause: this.#worded(errorIn(bytes.toString('utf8').trim())) });
    if (status !== 200) throw failed(call, `it answered with status ${status}`, 502);
    try {
      const document: unknown = JSON.parse(bytes.toString('utf8'));
      return { bytes, document };
    } catch (error) {
      throw failed(call, 'its answer is not JSON', 502, error);
    }
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  async #fetch(
    { service, base, params, headers }: RulesCall,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly bytes: Buffer }> {
    const url = new URL(base);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/v1/${service}`;
    url.search = new URLSearchParams(
      params.map(([name, value]): [string, string] => [name, value]),
    ).toString();
    const tooLong = new AbortController();
    const client = await (this.#client ??= this.#load());
    const call = client.get(url, {
      headers,
      signal: AbortSignal.any([signal, tooLong.signal]),
      responseType: 'buffer',
    });
    void call.on('downloadProgress', ({ transferred }) => {
      if (transferred > maxBytes) tooLong.abort();
    });
    try {
      const { statusCode, body } = await call;
      // The last piece may be reported only when the whole is there.
      if (body.length <= maxBytes) return { status: statusCode, bytes: body };
    } catch (error) {
      if (!tooLong.signal.aborted) throw error;
    }
    throw new Error(`its answer is larger than ${maxBytes} bytes`);
  }
}

function failed({ service }: RulesCall, cause: string, status: number, error?: unknown): Error {
  return apiError('rulesBackendFailed', { service, cause }, { status, cause: error });
}

function shortened(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}
