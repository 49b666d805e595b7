import { hash } from 'node:crypto';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { conformanceCorpus } from './corpus.js';
import { loadData, waitUntilVisible } from './load-data.js';
import type { Store } from './target.js';

const minuteNs = 60_000_000_000n;
/** Rows this close to the boundary are in either store or in both. */
const mixedNs = 10n * minuteNs;
/** The overlap: longer, because the boundary advances while requests run. */
const overlap = '30m';

/** A corpus in two stores. */
export interface SplitStores {
  readonly hot: Store;
  readonly cold: Store;
  close(): Promise<void>;
}

/** Fills two stores with the rows before and after a time; rows around it are in one of them, or in both. */
export async function openSplit(
  atNs: bigint,
  urls?: { readonly hot: string; readonly cold: string },
  load = true,
  corpus = conformanceCorpus,
): Promise<SplitStores> {
  const open = (url: string | undefined): Promise<Store> =>
    url === undefined ? startDevBackend() : Promise.resolve({ url, close: () => Promise.resolve() });
  const [hot, cold] = [await open(urls?.hot), await open(urls?.cold)];
  const places: readonly (readonly [Store, 'hot' | 'cold'])[] = [
    [hot, 'hot'],
    [cold, 'cold'],
  ];
  for (const [store, place] of load ? places : []) {
    const counts = await loadData(store.url, (ns, content) => isIn(place, ns - atNs, content), corpus);
    await waitUntilVisible(store.url, 30_000, corpus, counts);
  }
  return {
    hot,
    cold,
    close: async () => {
      await hot.close();
      await cold.close();
    },
  };
}

function isIn(place: 'hot' | 'cold', afterNs: bigint, content: string): boolean {
  if (afterNs < -mixedNs) return place === 'cold';
  if (afterNs >= mixedNs) return place === 'hot';
  // Chosen by content, so that duplicates of an entry go to the same stores.
  const chosen = Number.parseInt(hash('sha1', content).slice(0, 6), 16) % 3;
  return chosen === 2 || (chosen === 0) === (place === 'hot');
}

/** The flags of a proxy for both. */
export function splitFlags({ cold }: SplitStores, atNs: bigint): readonly (readonly [string, string])[] {
  const boundaryMs = BigInt(Date.now()) - atNs / 1_000_000n;
  return [
    ['cold-enabled', 'true'],
    ['cold-backend', cold.url],
    ['cold-boundary', `${boundaryMs}ms`],
    ['cold-overlap', overlap],
  ];
}
