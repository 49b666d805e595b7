/**
 * Finds patterns in log lines with a prefix tree of fixed depth: Drain (He, Zhu, Zheng, Lyu: "Drain: An Online Log Parsing Approach
 * with Fixed Depth Tree", ICWS 2017), with Loki's settings. A line costs time linear in its tokens; memory is bounded by
 * the number of clusters.
 */
import { Cluster } from './cluster.js';
import { EvictionLimit } from './eviction-limit.js';
import { placeholder, tokenText, type TokenizedLine } from './tokens.js';

/** Tokens of a line that select the path through the tree. */
const depth = 27;
/** The least share of equal tokens for a line to belong to a cluster. */
const minSimilarity = 0.3;
/** The most branches of a node, including the open one. */
const maxBranches = 15;
const digit = /\p{N}/u;

interface Node {
  readonly branches: Map<string, Node>;
  clusters: Cluster[];
}

export interface DrainOptions {
  /** The most clusters to keep; the least recently used is dropped. */
  readonly maxClusters: number;
}

/** The clusters of one stream of lines, which must be added in time order. */
export class Drain {
  readonly #options: DrainOptions;
  readonly #roots = new Map<string, Node>();
  /** Kept clusters with their leaves, most recently used last. */
  readonly #kept = new Map<Cluster, Node>();
  readonly #limit = new EvictionLimit();

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  /** True when a line of this time may be added. */
  allows(timeMs: number): boolean {
    return this.#limit.allows(timeMs);
  }

  /** Adds a line to the most similar cluster, or to a new one. */
  add(line: TokenizedLine, bucket: number): void {
    const { tokens } = line;
    const root = this.#rootOf(line);
    const leaf = find(root, tokens);
    if (leaf !== undefined) {
      const found = mostAlike(leaf, tokens);
      // To be compared is to be used.
      this.#touch(leaf.clusters);
      if (found !== undefined) {
        found.take(tokens, bucket);
        this.#touch([found]);
        return;
      }
    }
    const made = new Cluster(line);
    made.take(tokens, bucket);
    const place = grow(root, tokens);
    this.#kept.set(made, place);
    this.#evict();
    this.#touch(place.clusters);
    place.clusters.push(made);
  }

  clusters(): readonly Cluster[] {
    return [...this.#kept.keys()];
  }

  #rootOf({ tokens, format }: TokenizedLine): Node {
    const key = `${format} ${tokens.length}`;
    let root = this.#roots.get(key);
    if (root === undefined) this.#roots.set(key, (root = emptyNode()));
    return root;
  }

  #touch(clusters: readonly Cluster[]): void {
    for (const cluster of clusters) {
      const leaf = this.#kept.get(cluster);
      if (leaf === undefined) continue;
      this.#kept.delete(cluster);
      this.#kept.set(cluster, leaf);
    }
  }

  #evict(): void {
    if (this.#kept.size <= this.#options.maxClusters) return;
    for (const [cluster, leaf] of this.#kept) {
      leaf.clusters = leaf.clusters.filter((other) => other !== cluster);
      this.#kept.delete(cluster);
      this.#limit.evict();
      return;
    }
  }
}

function emptyNode(): Node {
  return { branches: new Map(), clusters: [] };
}

/** The leaf for a line's first tokens, through open branches where their own are missing. */
function find(root: Node, tokens: readonly string[]): Node | undefined {
  let node = root;
  for (const token of leading(tokens)) {
    const next = node.branches.get(token) ?? node.branches.get(placeholder);
    if (next === undefined) return undefined;
    node = next;
  }
  return node;
}

/** The leaf for a new cluster: tokens with digits, and those that do not fit into a node, take the open branch. */
function grow(root: Node, tokens: readonly string[]): Node {
  let node = root;
  for (const token of leading(tokens)) {
    const { branches } = node;
    let key = token;
    if (!branches.has(token)) {
      const room = branches.size + (branches.has(placeholder) ? 0 : 1);
      if (digit.test(tokenText(token)) || room >= maxBranches) key = placeholder;
    }
    let next = branches.get(key);
    if (next === undefined) branches.set(key, (next = emptyNode()));
    node = next;
  }
  return node;
}

function leading(tokens: readonly string[]): readonly string[] {
  return tokens.slice(0, Math.min(depth, tokens.length - 1));
}

function mostAlike({ clusters }: Node, tokens: readonly string[]): Cluster | undefined {
  let best: Cluster | undefined;
  let bestSimilarity = minSimilarity;
  let bestOpen = -1;
  for (const cluster of clusters) {
    const { similarity, open } = cluster.compare(tokens);
    if (similarity < bestSimilarity || (similarity === bestSimilarity && open <= bestOpen)) continue;
    best = cluster;
    bestSimilarity = similarity;
    bestOpen = open;
  }
  return best;
}
