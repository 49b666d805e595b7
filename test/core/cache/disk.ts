import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { DiskObserver, DiskTierOptions, DiskTierSettings } from '../../../core/cache/disk-space.js';
import type { Engine } from '../../../core/cache/disk-engine/engine.js';
import { openDiskFile } from '../../../core/cache/disk-file.js';
import { DiskTier } from '../../../core/cache/disk-tier.js';
import { makeHost, type FakeHost } from '../../../core/testing/index.js';

/** Records what a disk tier reports to its observer. */
export class Told implements DiskObserver {
  hits = 0;
  misses = 0;
  flushes = 0;
  failures = 0;
  entries = 0;
  bytes = 0;
  isOn = false;
  readonly drops = new Map<string, number>();

  looked(ageMs: number | undefined): void {
    if (ageMs !== undefined) this.hits += 1;
    else this.misses += 1;
  }
  dropped(reason: string, count: number): void {
    this.drops.set(reason, (this.drops.get(reason) ?? 0) + count);
  }
  resized(entries: number, bytes: number): void {
    this.entries = entries;
    this.bytes = bytes;
  }
  flushed(): void {
    this.flushes += 1;
  }
  failed(): void {
    this.failures += 1;
  }
  switched(isOn: boolean): void {
    this.isOn = isOn;
  }
}

export interface TierUnderTest {
  readonly tier: DiskTier;
  readonly told: Told;
  readonly host: FakeHost;
}

export interface TierSettings extends Partial<Omit<DiskTierSettings, 'options'>> {
  readonly engine: Engine;
  readonly path: string;
  readonly options?: Partial<DiskTierOptions>;
  readonly host?: FakeHost;
}

/** A disk tier that writes only on request or when it is closed. */
export async function openTier({
  engine,
  path,
  options,
  host = makeHost(),
  ...rest
}: TierSettings): Promise<TierUnderTest> {
  const told = new Told();
  const tier = await DiskTier.open({
    options: {
      diskCachePath: path,
      diskCacheCompress: true,
      diskCacheFlushSize: 1_000_000,
      diskCacheFlushInterval: 1_000_000,
      diskCacheMinTtl: 30_000,
      diskCacheMaxBytes: 0,
      ...options,
    },
    largest: 10_000_000,
    keepExpiredMs: 0,
    clock: host.clock,
    log: host.log,
    observer: told,
    open: (file, isFresh) => openDiskFile(file, isFresh, engine),
    ...rest,
  });
  return { tier, told, host };
}

/** A file for a test, in a folder that is removed after the test. */
export async function fileFor(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-disk-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'cache.db');
}
