import { ofKey } from '../../../base/memory/byte-lru.js';
import { Drain } from './drain.js';
import type { Steps } from '../../../base/pace/steps.js';
import { formatOf, type LineFormat, tokenize } from './tokenize.js';

export interface StreamLine {
  readonly streamKey: string;
  readonly level: string;
  readonly line: string;
  readonly timeMs: number;
}

/** A pattern of a level in one stream, with its lines per bucket. */
export interface FoundPattern {
  readonly pattern: string;
  readonly level: string;
  readonly size: number;
  readonly counts: ReadonlyMap<number, number>;
}

/**
 * Finds patterns in the lines of many streams. Each level of a stream has its own tree; the first line of a stream determines its format.
 */
export class PatternFinder {
  readonly #maxClusters: number;
  readonly #maxTrees: number;
  readonly #formats = new Map<string, LineFormat>();
  readonly #trees = new Map<string, { readonly level: string; readonly drain: Drain }>();

  /**
   * @param maxClusters maximum number of clusters per stream and level; Loki's by default
   * @param maxTrees maximum number of streams and levels with a tree of their own; further ones share a tree per level
   */
  constructor(maxClusters = 300, maxTrees = 2000) {
    this.#maxClusters = maxClusters;
    this.#maxTrees = maxTrees;
  }

  /** Adds a line, unless Loki would not learn from it. The lines of a stream must come in time order. */
  add({ streamKey, level, line, timeMs }: StreamLine, bucket: number): boolean {
    const format = ofKey(this.#formats, streamKey, () => formatOf(line));
    const tree = this.#treeOf(streamKey, level);
    if (!tree.allows(timeMs)) return false;
    const tokenized = tokenize(line, format);
    if (tokenized === undefined) return false;
    tree.add(tokenized, bucket);
    return true;
  }

  /** Patterns by stream, in no particular order. */
  *patterns(): Steps<readonly FoundPattern[]> {
    const found: FoundPattern[] = [];
    for (const { level, drain } of this.#trees.values()) {
      yield;
      for (const cluster of drain.clusters()) {
        const pattern = cluster.pattern();
        if (pattern !== '') found.push({ pattern, level, size: cluster.size, counts: cluster.counts });
      }
    }
    return found;
  }

  #treeOf(streamKey: string, level: string): Drain {
    const isFull = this.#trees.size >= this.#maxTrees;
    const own = `${level.length} ${level} ${streamKey}`;
    const key = isFull && !this.#trees.has(own) ? `${level.length} ${level}` : own;
    return ofKey(this.#trees, key, () => ({ level, drain: new Drain(this.#maxClusters) })).drain;
  }
}
