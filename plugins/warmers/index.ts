/** Service `warmers`: requests the usual label listings in advance. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WarmersOptions } from '../../core/base/options.gen.js';
import { ApiError } from '../../core/base/errors/api-error.js';
import { defineService, type Host, type Lifecycle, type RequestRecord } from '../../core/plugin/index.js';

const metrics = {
  label_warmups_total: {
    type: 'counter',
    help: 'Prefetched label listings, by outcome: warmed, skipped because the backend is busy, or failed.',
    labels: ['outcome'],
  },
} as const;

export default defineService<WarmersOptions, typeof metrics>({
  name: 'warmers',
  summary: 'Refreshes common label listings in the background.',
  component: 'cache_warmer',
  metrics,
  create: (options, host) => (options.labelsCacheWarm ? new LabelWarmer(options, host) : {}),
});

const hourMs = 3_600_000;
const msNs = 1_000_000n;
/** Ranges offered by time pickers (`-labels-cache-warm`). */
const presetsMs = [1, 6, 24, 168].map((hours) => hours * hourMs);
const builtInTtlMs = 300_000;
/** Share of the TTL after which listings are requested again. */
const renewal = 0.75;
const pauseMs = 500;
/** Maximum delay of a timer; longer ones fire at once. */
const maxTimerMs = 2 ** 31 - 1;
/** Tenants that opened a picker within this time are kept warm, up to this number. */
const rememberedMs = hourMs;
const maxTenants = 20;
const listings: ReadonlySet<string> = new Set(['labels', 'label_values', 'series']);

/** Keeps listings warm for the tenant without a header first, then for the most recent tenants. */
class LabelWarmer implements Lifecycle {
  readonly #options: WarmersOptions;
  readonly #host: Host<typeof metrics>;
  readonly #stopped = new AbortController();
  /** Time of the last request by header; the most recent is last. */
  readonly #tenants = new Map<string, { atMs: number }>();
  #running: Promise<void> | undefined;

  constructor(options: WarmersOptions, host: Host<typeof metrics>) {
    this.#options = options;
    this.#host = host;
  }

  start(): void {
    this.#host.observeRequests({
      started: () => undefined,
      finished: (record, status) => this.#saw(record, status),
    });
    this.#running = this.#run().catch((error: unknown) => {
      if (!this.#stopped.signal.aborted)
        this.#host.log.error('the prefetch of label listings has stopped', { error });
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  #saw({ requestType, caller: { orgId } }: RequestRecord, status: number): void {
    if (orgId === undefined || status !== 200 || !listings.has(requestType)) return;
    const atMs = this.#host.clock.monotonicMs();
    const known = this.#tenants.get(orgId);
    if (known !== undefined) {
      known.atMs = atMs;
      return;
    }
    this.#tenants.set(orgId, { atMs });
    if (this.#tenants.size <= maxTenants) return;
    const byAge = [...this.#tenants].sort(([, one], [, other]) => one.atMs - other.atMs);
    for (const [tenant] of byAge.slice(0, Math.ceil(maxTenants / 10))) this.#tenants.delete(tenant);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    const { labelsCacheTtl, warmupMaxJitter } = this.#options;
    // Random delay, so that replicas started together do not all send requests at once.
    await sleep(Math.min(maxTimerMs, Math.random() * warmupMaxJitter), undefined, { signal, ref: false });
    const everyMs = renewal * (labelsCacheTtl === 0 ? builtInTtlMs : labelsCacheTtl);
    for (;;) {
      const outcomes = new Map<string, number>();
      for (const orgId of [undefined, ...this.#remembered()])
        for (const lengthMs of presetsMs) {
          const outcome = await this.#warm(orgId, lengthMs);
          if (outcome === 'refused') break;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          this.#host.meters.label_warmups_total.add(1, { outcome });
          await sleep(pauseMs, undefined, { signal, ref: false });
        }
      this.#host.log.debug('label listings prefetched', Object.fromEntries(outcomes));
      await sleep(Math.min(maxTimerMs, everyMs), undefined, { signal, ref: false });
    }
  }

  #remembered(): readonly string[] {
    const sinceMs = this.#host.clock.monotonicMs() - rememberedMs;
    return [...this.#tenants].filter(([, { atMs }]) => atMs >= sinceMs).map(([orgId]) => orgId);
  }

  async #warm(
    orgId: string | undefined,
    lengthMs: number,
  ): Promise<'warmed' | 'skipped' | 'failed' | 'refused'> {
    const { signal } = this.#stopped;
    const endNs = BigInt(this.#host.clock.nowMs()) * msNs;
    const range = { startNs: endNs - BigInt(lengthMs) * msNs, endNs };
    try {
      await this.#host.ask({ op: 'labels', range, browse: {} }, { orgId, signal });
      return 'warmed';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The default tenant is not allowed, or the id is no longer a tenant: none of its listings are needed.
      if (error.status === 401 || error.status === 403) return 'refused';
      // The backend is busy, or a tenant without a header has no data here; a client's request would get the same answer.
      return error.status === 429 || error.status === 503 ? 'skipped' : 'failed';
    }
  }
}
