/** Service `warmers`: requests the usual label listings in advance. */
import type { WarmersOptions } from '../../core/base/options.gen.js';
import { ApiError } from '../../core/base/errors/api-error.js';
import { defineService, type Host, type Lifecycle, type RequestRecord } from '../../core/plugin/index.js';
import { sleep } from '../../core/base/time/waits.js';

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
  create: (options, host) => (options.labelsCacheWarm ? labelWarmer(options, host) : {}),
});

const hourMs = 3_600_000;
const msNs = 1_000_000n;
/** Ranges offered by time pickers (`-labels-cache-warm`). */
const presetsMs = [1, 6, 24, 168].map((hours) => hours * hourMs);
const builtInTtlMs = 300_000;
/** Share of the TTL after which listings are requested again. */
const renewal = 0.75;
const pauseMs = 500;
/** Tenants that opened a picker within this time are kept warm, up to this number. */
const rememberedMs = hourMs;
const maxTenants = 20;
const listings: ReadonlySet<string> = new Set(['labels', 'label_values', 'series']);

/** Keeps listings warm for the tenant without a header first, then for the most recent tenants. */
function labelWarmer(options: WarmersOptions, host: Host<typeof metrics>): Lifecycle {
  const { clock, log, meters } = host;
  const stopped = new AbortController();
  const { signal } = stopped;
  /** Time of the last request by header; the most recent is last. */
  const tenants = new Map<string, { atMs: number }>();
  let running: Promise<void> | undefined;

  function saw({ requestType, caller: { orgId } }: RequestRecord, status: number): void {
    if (orgId === undefined || status !== 200 || !listings.has(requestType)) return;
    const atMs = clock.monotonicMs();
    const known = tenants.get(orgId);
    if (known !== undefined) {
      known.atMs = atMs;
      return;
    }
    tenants.set(orgId, { atMs });
    if (tenants.size <= maxTenants) return;
    const byAge = [...tenants].sort(([, one], [, other]) => one.atMs - other.atMs);
    for (const [tenant] of byAge.slice(0, Math.ceil(maxTenants / 10))) tenants.delete(tenant);
  }

  async function run(): Promise<void> {
    const { labelsCacheTtl, warmupMaxJitter } = options;
    // Random delay, so that replicas started together do not all send requests at once.
    await sleep(Math.random() * warmupMaxJitter, { signal, ref: false });
    const everyMs = renewal * (labelsCacheTtl === 0 ? builtInTtlMs : labelsCacheTtl);
    for (;;) {
      const outcomes = new Map<string, number>();
      for (const orgId of [undefined, ...remembered()])
        for (const lengthMs of presetsMs) {
          const outcome = await warm(orgId, lengthMs);
          if (outcome === 'refused') break;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          meters.label_warmups_total.add(1, { outcome });
          await sleep(pauseMs, { signal, ref: false });
        }
      log.debug('label listings prefetched', Object.fromEntries(outcomes));
      await sleep(everyMs, { signal, ref: false });
    }
  }

  function remembered(): readonly string[] {
    const sinceMs = clock.monotonicMs() - rememberedMs;
    return [...tenants].filter(([, { atMs }]) => atMs >= sinceMs).map(([orgId]) => orgId);
  }

  async function warm(
    orgId: string | undefined,
    lengthMs: number,
  ): Promise<'warmed' | 'skipped' | 'failed' | 'refused'> {
    const endNs = BigInt(clock.nowMs()) * msNs;
    const range = { startNs: endNs - BigInt(lengthMs) * msNs, endNs };
    try {
      await host.ask({ op: 'labels', range, browse: {} }, { orgId, signal });
      return 'warmed';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The default tenant is not allowed, or the id is no longer a tenant: none of its listings are needed.
      if (error.status === 401 || error.status === 403) return 'refused';
      // The backend is busy, or a tenant without a header has no data here; a client's request would get the same answer.
      return error.status === 429 || error.status === 503 ? 'skipped' : 'failed';
    }
  }

  return {
    start() {
      host.observeRequests({ started: () => undefined, finished: saw });
      running = run().catch((error: unknown) => {
        if (!signal.aborted) log.error('the prefetch of label listings has stopped', { error });
      });
    },
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
