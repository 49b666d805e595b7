import { request } from 'undici';
import { endNs, startNs } from './data.js';

/** The results of other requests during a hostile query. */
export interface Fared {
  readonly count: number;
  readonly failed: readonly string[];
  readonly slowestMs: number;
}

const everyMs = 50;
/** A separate tenant with only small data. */
const tenant = '700';

/** Sends a small request every 50 ms, without waiting for the previous response. */
export class Neighbours {
  readonly #timer: NodeJS.Timeout;
  readonly #pending = new Set<Promise<void>>();
  readonly #failed: string[] = [];
  #sent = 0;
  #slowestMs = 0;

  constructor(url: string) {
    this.#timer = setInterval(() => {
      const pending = this.#send(url).finally(() => this.#pending.delete(pending));
      this.#pending.add(pending);
    }, everyMs);
  }

  async end(): Promise<Fared> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
    return { count: this.#sent, failed: this.#failed, slowestMs: this.#slowestMs };
  }

  async #send(url: string): Promise<void> {
    const query = `{app="small"} |= "${(this.#sent += 1)}"`;
    const params = new URLSearchParams({ query, start: String(startNs), end: String(endNs), limit: '10' });
    const startedAt = performance.now();
    try {
      const { statusCode, body } = await request(`${url}/loki/api/v1/query_range?${params.toString()}`, {
        headers: { 'X-Scope-OrgID': tenant },
        headersTimeout: 30_000,
      });
      const text = await body.text();
      if (statusCode !== 200) this.#failed.push(`${statusCode} ${text.slice(0, 200)}`);
    } catch (error) {
      this.#failed.push(String(error));
    }
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - startedAt);
  }
}
