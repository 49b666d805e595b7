import { Drain } from './drain.js';
import type { Steps } from '../../../base/pace/steps.js';
import { tokenize } from './tokenize.js';

/** A pattern of a level, with its lines per bucket. */
export interface FoundPattern {
  readonly pattern: string;
  readonly level: string;
  readonly size: number;
  readonly counts: ReadonlyMap<number, number>;
}

export interface PatternFinderOptions {
  /** Clusters per stream and level. */
  readonly maxClusters: number;
  /** The most streams and levels with a tree of their own; later ones share a tree per level. */
  readonly maxTrees: number;
}

/** Finds patterns in the lines of many streams. Each level of a stream has its own tree; equal patterns are merged at the end. */
export class PatternFinder {
  readonly #options: PatternFinderOptions;
  readonly #trees = new Map<string, { readonly level: string; readonly drain: Drain }>();

  constructor(options: PatternFinderOptions) {
    this.#options = options;
  }

  /** Adds a line; the lines of a stream must come in time order. */
  add(streamKey: string, level: string, line: string, bucket: number): void {
    const tokenized = tokenize(line);
    if (tokenized !== undefined) this.#treeOf(streamKey, level).add(tokenized, bucket);
  }

  /** Patterns by text and level, in no particular order. */
  *patterns(): Steps<readonly FoundPattern[]> {
    const found = new Map<
      string,
      { pattern: string; level: string; size: number; counts: Map<number, number> }
    >();
    for (const { level, drain } of this.#trees.values()) {
      yield;
      for (const cluster of drain.clusters()) {
        const pattern = cluster.pattern();
        const key = `${level.length} ${level} ${pattern}`;
        const known = found.get(key);
        if (known === undefined) {
          found.set(key, { pattern, level, size: cluster.size, counts: new Map(cluster.counts) });
          continue;
        }
        known.size += cluster.size;
        for (const [bucket, count] of cluster.counts)
          known.counts.set(bucket, (known.counts.get(bucket) ?? 0) + count);
      }
    }
    return [...found.values()];
  }

  #treeOf(streamKey: string, level: string): Drain {
    const isFull = this.#trees.size >= this.#options.maxTrees;
    const own = `${level.length} ${level} ${streamKey}`;
    const key = isFull && !this.#trees.has(own) ? `${level.length} ${level}` : own;
    let tree = this.#trees.get(key);
    if (tree === undefined) {
      tree = { level, drain: new Drain({ maxClusters: this.#options.maxClusters }) };
      this.#trees.set(key, tree);
    }
    return tree.drain;
  }
}
