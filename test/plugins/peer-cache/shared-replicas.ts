import type { ExecutionContext } from 'ava';
import { FakeClock, makeHost, type FakeHost } from '../../../core/testing/index.js';
import { SharedStore, type SharedStoreSettings } from '../../../plugins/peer-cache/shared-store.js';
import { sharedMetrics } from '../../../plugins/peer-cache/shared-metrics.js';

export interface Replica {
  readonly tier: SharedStore;
  readonly host: FakeHost<typeof sharedMetrics>;
  readonly clock: FakeClock;
  /** Tenants of the purges that it received; `*` for all. */
  readonly purged: string[];
}

interface ReplicaSettings extends Partial<SharedStoreSettings> {
  readonly clock?: FakeClock;
  readonly forget?: (tenant: string | undefined) => void;
}

/** A replica whose store may be unavailable. */
export async function startedOf(
  t: ExecutionContext,
  url: string,
  { clock = new FakeClock(), forget, ...settings }: ReplicaSettings = {},
): Promise<Replica> {
  const host = makeHost({ clock, metrics: sharedMetrics });
  const purged: string[] = [];
  // Like the real host, which purges the caches of this process.
  const purgeHere = async (_: string, tenant?: string): Promise<void> => {
    purged.push(tenant ?? '*');
    forget?.(tenant);
    await (tenant === undefined ? tier.purge() : tier.purgeBeginning(`${tenant}:`));
  };
  const tier = new SharedStore(
    { url, prefix: 'ref-proxy:', secret: undefined, mostWaitMs: 10_000, ...settings },
    { ...host, purgeHere },
  );
  t.teardown(() => tier.close());
  await tier.start();
  return { tier, host, clock, purged };
}

/** A replica that shares a store and has connected to it. */
export async function replicaOf(
  t: ExecutionContext,
  url: string,
  settings?: ReplicaSettings,
): Promise<Replica> {
  const replica = await startedOf(t, url, settings);
  await eventually(() => isUp(replica));
  return replica;
}

/** Polls until the condition holds; the timeout of the test ends it otherwise. */
export async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export async function isUp({ tier, host }: Replica): Promise<boolean> {
  await tier.tick();
  return (await host.metric('shared_cache_up')) === 1;
}

export async function counted(
  { host }: Replica,
  name: string,
  labels?: Record<string, string>,
): Promise<number> {
  return (await host.metric(`shared_cache_${name}`, labels)) ?? 0;
}

async function dropsOf({ host }: Replica): Promise<number> {
  const reasons = ['off', 'refused', 'lost'];
  const drops = await Promise.all(
    reasons.map((reason) => host.metric('shared_cache_drops_total', { reason })),
  );
  return drops.reduce<number>((sum, drop) => sum + (drop ?? 0), 0);
}

/** Writes an answer, and waits until it is stored or dropped. */
export async function tryPut(
  replica: Replica,
  key: string,
  packed: Buffer,
  ttlMs = 3_600_000,
): Promise<void> {
  const ends = async (): Promise<number> => (await counted(replica, 'sets_total')) + (await dropsOf(replica));
  const before = await ends();
  replica.tier.set(key, packed, ttlMs);
  await eventually(async () => (await ends()) > before);
}

/** Looks up the key, as every request does first, and writes the missing value. */
export async function put(replica: Replica, key: string, packed: Buffer, ttlMs?: number): Promise<void> {
  const sets = await counted(replica, 'sets_total');
  while ((await counted(replica, 'sets_total')) === sets) {
    await replica.tier.get(key);
    await tryPut(replica, key, packed, ttlMs);
  }
}

export async function found({ tier }: Replica, key: string): Promise<boolean> {
  return (await tier.get(key)) !== undefined;
}

export function saidOf({ host }: Replica, text: string): number {
  return host.records.filter(({ body }) => body.includes(text)).length;
}

/** Advances the clock until the store is retried and works. */
export async function backOf(replica: Replica): Promise<void> {
  await eventually(async () => {
    replica.clock.advance(10_000);
    return isUp(replica);
  });
}
