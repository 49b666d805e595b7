import { sampleEndMs } from './sample-logs.js';

/** Request latencies in milliseconds. */
export interface Latencies {
  readonly count: number;
  readonly failed: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  /** The p99 of each kind, as text. */
  readonly slowest: string;
}

interface Probe {
  readonly name: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
}

const everyMs = 100;
const hourAgo = `${sampleEndMs - 3_600_000}000000`;
const end = `${sampleEndMs}000000`;

/** `{nonce}` makes each request new to caches. */
const probes: readonly Probe[] = [
  { name: 'labels', path: '/loki/api/v1/labels', params: { start: hourAgo, end } },
  {
    name: 'lines',
    path: '/loki/api/v1/query_range',
    params: { query: '{pod="pod-3"} != "{nonce}"', limit: '100', direction: 'backward', start: hourAgo, end },
  },
  {
    name: 'instant',
    path: '/loki/api/v1/query',
    params: { query: 'sum(count_over_time({pod="pod-5"} != "{nonce}" [5m]))', time: end },
  },
];

/** Sends a small request every 100 ms, even if the previous one is still in flight. */
export class Probes {
  readonly #taken = new Map<string, number[]>();
  readonly #pending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #sent = 0;
  #failed = 0;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#timer = setInterval(() => {
      const pending = this.#send(url, headers).finally(() => this.#pending.delete(pending));
      this.#pending.add(pending);
    }, everyMs);
  }

  /** Stops sending and waits for the in-flight requests. */
  async end(): Promise<Latencies> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
    const all = [...this.#taken.values()].flat();
    return {
      count: this.#sent,
      failed: this.#failed,
      p50: quantile(all, 0.5),
      p95: quantile(all, 0.95),
      p99: quantile(all, 0.99),
      max: Math.max(0, ...all),
      slowest: [...this.#taken]
        .map(([name, taken]) => `${name} p99 ${quantile(taken, 0.99).toFixed(0)}`)
        .join(', '),
    };
  }

  async #send(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const probe = probes[this.#sent % probes.length];
    if (probe === undefined) return;
    this.#sent += 1;
    const nonce = `nonce${process.pid}x${this.#sent}`;
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(probe.params))
      form.set(name, value.replaceAll('{nonce}', nonce));
    const startedAt = performance.now();
    try {
      const answer = await fetch(new URL(probe.path, url), { method: 'POST', headers, body: form });
      await answer.arrayBuffer();
      if (answer.status !== 200) this.#failed += 1;
    } catch {
      this.#failed += 1;
    }
    const taken = this.#taken.get(probe.name) ?? [];
    taken.push(performance.now() - startedAt);
    this.#taken.set(probe.name, taken);
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
