import type { ExecutionContext } from 'ava';
import type { SharedObserver } from '../../../core/cache/shared-observer.js';
import { Patience } from '../../../core/cache/patience.js';
import { SharedStoreTier, type SharedStoreSettings } from '../../../core/cache/shared-store.js';
import { FakeClock, makeHost, type CapturedRecord } from '../../../core/testing/index.js';

/** What a shared store told its observer. */
export class Told implements SharedObserver {
  hits = 0;
  misses = 0;
  wrotes = 0;
  isOn = false;
  mostWaiting = 0;
  readonly drops = new Map<string, number>();
  readonly failures = new Map<string, number>();
  readonly purges = { this: 0, another: 0 };

  looked(_tookMs: number, ageMs: number | undefined): void {
    if (ageMs === undefined) this.misses += 1;
    else this.hits += 1;
  }
  wrote(): void {
    this.wrotes += 1;
  }
  dropped(reason: string, count: number): void {
    this.drops.set(reason, (this.drops.get(reason) ?? 0) + count);
  }
  failed(reason: string): void {
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
  }
  switched(isOn: boolean): void {
    this.isOn = isOn;
  }
  waiting(bytes: number): void {
    this.mostWaiting = Math.max(this.mostWaiting, bytes);
  }
  purged(by: 'this' | 'another'): void {
    this.purges[by] += 1;
  }
}

export interface Replica {
  readonly tier: SharedStoreTier;
  readonly told: Told;
  readonly clock: FakeClock;
  readonly records: readonly CapturedRecord[];
  /** Tenants of purges that it was told of; `*` for all. */
  readonly purged: string[];
}

/** A process that shares a store and has reached it. */
export async function replicaOf(
  t: ExecutionContext,
  url: string,
  clock?: FakeClock,
  settings?: Partial<SharedStoreSettings>,
): Promise<Replica> {
  const replica = await startedOf(t, url, clock, settings);
  await eventually(() => Promise.resolve(replica.told.isOn));
  return replica;
}

/** A process whose store need not be there. */
export async function startedOf(
  t: ExecutionContext,
  url: string,
  clock = new FakeClock(),
  settings: Partial<SharedStoreSettings> = {},
): Promise<Replica> {
  const host = makeHost({ clock });
  const told = new Told();
  const purged: string[] = [];
  const tier = new SharedStoreTier({
    url,
    prefix: 'ref-proxy:',
    secret: undefined,
    largest: 100_000_000,
    clock,
    log: host.log,
    observer: told,
    patience: new EndlessPatience(() => 0),
    purge: async (tenant) => {
      purged.push(tenant ?? '*');
      // As the house does, by way of the caches that this process has.
      await (tenant === undefined ? tier.purge() : tier.purgeBeginning(`${tenant}:`));
    },
    ...settings,
  });
  t.teardown(() => tier.close());
  await tier.start();
  return { tier, told, clock, records: host.records, purged };
}

/** Waits for every answer. */
class EndlessPatience extends Patience {
  override wait<Value>(answer: Promise<Value>): Promise<Value> {
    return answer;
  }
}

/** Asks until the store knows the tenant of the key, as the first requests do. */
export async function acquaint({ tier }: Replica, key: string): Promise<void> {
  await tier.get(key);
  await eventually(async () => {
    await tier.tick();
    return tier.isReadyFor(key);
  });
}

/** Writes an answer and waits for the store to have it. */
export async function put(replica: Replica, key: string, packed: Buffer, ttlMs = 60_000): Promise<void> {
  const before = replica.told.wrotes;
  while (replica.told.wrotes === before) await tryPut(replica, key, packed, ttlMs);
}

/** Writes an answer and waits for the store to have it, or for it to be dropped. */
export async function tryPut(
  { tier, told }: Replica,
  key: string,
  packed: Buffer,
  ttlMs = 60_000,
): Promise<void> {
  const ends = (): number => told.wrotes + dropsOf(told);
  const before = ends();
  tier.set(key, packed, ttlMs);
  await eventually(() => Promise.resolve(ends() > before));
}

function dropsOf({ drops }: Told): number {
  return [...drops.values()].reduce((sum, count) => sum + count, 0);
}

/** Waits for something that comes in its time; the limit of the test ends it otherwise. */
export async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}
