import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printRfc3339 } from '../../core/base/time/index.js';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { conformanceCorpus } from './corpus.js';
import { loadData, loadLoki, waitUntilVisible } from './load-data.js';
import { openProxy, type Store } from './target.js';

/** A corpus with the older part in a Loki and the newer part in a store. */
export interface HistoryStores {
  readonly store: Store;
  readonly lokiUrl: string;
  /** The flags of a proxy for both, and its pipeline file. */
  readonly flags: readonly (readonly [string, string])[];
  readonly pipeline: string;
  close(): Promise<void>;
}

/** Loads the part before a time into a Loki, and the rest into a store. Without a Loki, a proxy with a second store replaces it. */
export async function openHistory(
  atNs: bigint,
  { loki, backend }: { readonly loki?: string | undefined; readonly backend?: string | undefined } = {},
  load = true,
  corpus = conformanceCorpus,
): Promise<HistoryStores> {
  const closing: (() => Promise<void>)[] = [];
  const open = async (url: string | undefined, keeps: (ns: bigint) => boolean): Promise<Store> => {
    const own = url === undefined ? await startDevBackend() : { url, close: () => Promise.resolve() };
    closing.unshift(() => own.close());
    if (!load) return own;
    const counts = await loadData(own.url, keeps, corpus);
    await waitUntilVisible(own.url, 30_000, corpus, counts);
    return own;
  };
  const isOld = (ns: bigint): boolean => ns < atNs;
  const store = await open(backend, (ns) => !isOld(ns));
  let lokiUrl = loki;
  if (lokiUrl === undefined) {
    const proxy = await openProxy(await open(undefined, isOld));
    closing.unshift(() => proxy.close());
    lokiUrl = proxy.urls.main;
  } else if (load) {
    await loadLoki(lokiUrl, isOld, corpus);
    await fetch(new URL('/flush', lokiUrl), { method: 'POST' });
  }
  const folder = await mkdtemp(join(tmpdir(), 'history-'));
  closing.unshift(() => rm(folder, { recursive: true }));
  const pipeline = join(folder, 'pipeline.yaml');
  const shipped = await readFile('pipelines/reference-compatible.yaml', 'utf8');
  await writeFile(
    pipeline,
    shipped.replace('  - use: translate', '  - use: loki-history\n  - use: translate'),
  );
  const flags = [
    ['loki-history-url', lokiUrl],
    ['loki-history-until', printRfc3339(atNs)],
  ] as const;
  return {
    ...{ store, lokiUrl, flags, pipeline },
    close: async () => {
      for (const close of closing) await close();
    },
  };
}
