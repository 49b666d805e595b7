import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import {
  LabelIndex,
  type IndexKey,
  type IndexBounds,
} from '../../../../core/cache/label-index/label-index.js';
import { keptIndex } from '../../../../core/cache/label-index/snapshot.js';
import type { KeptSnapshot } from '../../../../core/base/files/kept-snapshot.js';
import type { Browse } from '../../../../core/wire/api/request.js';
import { FakeClock, makeHost, type FakeHost } from '../../../../core/testing/index.js';

export const maxEntries = 100_000;

export class Told {
  labels = 0;
  entries = 0;
  bytes = 0;
  readonly evicted = new Map<string, number>();
  readonly refused: string[] = [];
  readonly written: number[] = [];
  failures = 0;
}

export interface Made {
  readonly index: LabelIndex;
  readonly told: Told;
  readonly clock: FakeClock;
  /** Learns values that were just fetched. */
  readonly learn: (key: IndexKey, values: readonly string[], isWhole?: boolean) => Promise<void>;
  readonly browse: (key: IndexKey, browse?: Browse) => Promise<readonly string[] | undefined>;
}

export function makeIndex(options: Partial<IndexBounds> = {}, clock = new FakeClock()): Made {
  const told = new Told();
  const index = new LabelIndex({ maxEntries, maxLabels: 1_000, maxBytes: 100_000_000, ...options }, clock, {
    resized: (labels, entries, bytes) => Object.assign(told, { labels, entries, bytes }),
    evicted: (reason, values) => told.evicted.set(reason, (told.evicted.get(reason) ?? 0) + values),
    refused: (label) => told.refused.push(label),
  });
  return {
    index,
    told,
    clock,
    learn: (key, values, isWhole = true) => index.learn(key, values, isWhole, index.generationOf(key)),
    browse: async (key, browse = {}) =>
      (await index.browse(key, browse, new AbortController().signal))?.values,
  };
}

export const keyOf = (label: string, change: Partial<IndexKey> = {}): IndexKey => ({
  tenantId: 'shop',
  owner: 'shop in account 1',
  credentials: '',
  label,
  ...change,
});

export interface Opened {
  readonly file: KeptSnapshot;
  readonly host: FakeHost;
}

/** Opens a snapshot and starts to restore it; it is written only on request. */
export async function beginToRestore({ index, told, clock }: Made, path: string): Promise<Opened> {
  const host = makeHost({ clock });
  const observer = {
    wrote: (bytes: number): void => void told.written.push(bytes),
    failed: (): void => void (told.failures += 1),
  };
  const startup = { startupStaleThreshold: Infinity, startupPeerWarmTimeout: 0 };
  const options = { persistPath: path, persistInterval: 1_000_000_000, maxEntries, ...startup };
  const kept = keptIndex({ options, index, observer }, host);
  await kept.start();
  if (kept.file === undefined) throw new Error('a path is needed');
  return { file: kept.file, host };
}

/** Opens a snapshot and restores it. */
export async function openFile(made: Made, path: string): Promise<Opened> {
  const opened = await beginToRestore(made, path);
  await opened.file.restored();
  return opened;
}

/** A path in a folder that is removed after the test. */
export async function pathFor(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-index-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'labels.json');
}
