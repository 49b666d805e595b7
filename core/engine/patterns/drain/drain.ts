/**
 * Finds patterns in log lines with a prefix tree of fixed depth: Drain (He, Zhu, Zheng, Lyu: "Drain: An Online Log Parsing Approach
 * with Fixed Depth Tree", ICWS 2017), with Loki's settings. A line costs time linear in its tokens; memory is bounded by
 * the number of clusters.
 */
import { ofKey } from '../../../base/memory/byte-lru.js';
import { placeholder, tokenText, type TokenizedLine } from './tokenize.js';

/** Number of tokens of a line that select the path through the tree. */
const depth = 27;
/** Minimum share of equal tokens for a line to join a cluster. */
const minSimilarity = 0.3;
/** Maximum number of branches of a node, including the open one. */
const maxBranches = 15;
const digit = /\p{N}/u;

interface Node {
  readonly branches: Map<string, Node>;
  clusters: Cluster[];
}

/** The clusters of one stream of lines, which must be added in time order. */
export class Drain {
  readonly #maxClusters: number;
  readonly #roots = new Map<string, Node>();
  /** Kept clusters with their leaves, most recently used last. */
  readonly #kept = new Map<Cluster, Node>();
  readonly #limit = new EvictionLimit();

  /** @param maxClusters maximum number of clusters to keep; the least recently used is dropped */
  constructor(maxClusters: number) {
    this.#maxClusters = maxClusters;
  }

  /** True if a line with this timestamp may be added. */
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
      // Being compared counts as use.
      this.#touch(leaf.clusters);
      if (found !== undefined) {
        found.take(tokens, bucket);
        this.#touch([found]);
        return;
      }
    }
    const made = new Cluster(line);
    made.take(tokens, bucket);
    const newLeaf = grow(root, tokens);
    this.#kept.set(made, newLeaf);
    this.#evict();
    this.#touch(newLeaf.clusters);
    newLeaf.clusters.push(made);
  }

  clusters(): readonly Cluster[] {
    return [...this.#kept.keys()];
  }

  #rootOf({ tokens, format }: TokenizedLine): Node {
    return ofKey(this.#roots, `${format} ${tokens.length}`, emptyNode);
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
    const [oldest] = this.#kept;
    if (oldest === undefined || this.#kept.size <= this.#maxClusters) return;
    const [cluster, leaf] = oldest;
    leaf.clusters = leaf.clusters.filter((other) => other !== cluster);
    this.#kept.delete(cluster);
    this.#limit.evict();
  }
}

function emptyNode(): Node {
  return { branches: new Map(), clusters: [] };
}

/** The leaf for the first tokens of a line, following open branches where there is no branch for a token. */
function find(root: Node, tokens: readonly string[]): Node | undefined {
  let node = root;
  for (const token of leading(tokens)) {
    const next = node.branches.get(token) ?? node.branches.get(placeholder);
    if (next === undefined) return undefined;
    node = next;
  }
  return node;
}

/** The leaf for a new cluster. Tokens with digits, and tokens that do not fit into a node, take the open branch. */
function grow(root: Node, tokens: readonly string[]): Node {
  let node = root;
  for (const token of leading(tokens)) {
    const { branches } = node;
    let key = token;
    if (!branches.has(token)) {
      const room = branches.size + (branches.has(placeholder) ? 0 : 1);
      if (digit.test(tokenText(token)) || room >= maxBranches) key = placeholder;
    }
    node = ofKey(branches, key, emptyNode);
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

/** Maximum share of lines that may evict a cluster; beyond it, the lines are too diverse to learn from. */
const maxShare = 0.25;
/** Pause of learning after that, in the time of the lines. */
const pauseMs = 10 * 60_000;

/** Pauses the learning of a stream whose clusters are evicted too quickly. */
class EvictionLimit {
  #taken = 0;
  #evicted = 0;
  #pausedUntilMs: number | undefined;

  /** True if lines of this time may be learned from. */
  allows(timeMs: number): boolean {
    if (this.#pausedUntilMs !== undefined) {
      if (timeMs < this.#pausedUntilMs) return false;
      this.#pausedUntilMs = undefined;
      [this.#taken, this.#evicted] = [0, 0];
    }
    if (this.#evicted > maxShare * this.#taken) {
      this.#pausedUntilMs = timeMs + pauseMs;
      return false;
    }
    this.#taken += 1;
    return true;
  }

  evict(): void {
    this.#evicted += 1;
  }
}

/** Lines with the same pattern: the tokens they share, and the number of lines per time bucket. */
export class Cluster {
  readonly #tokens: string[];
  readonly #join: TokenizedLine['join'];
  readonly #counts = new Map<number, number>();
  #size = 0;

  constructor({ tokens, join }: TokenizedLine) {
    this.#tokens = [...tokens];
    this.#join = join;
  }

  get size(): number {
    return this.#size;
  }

  /** Number of lines by bucket. */
  get counts(): ReadonlyMap<number, number> {
    return this.#counts;
  }

  /** The share of equal tokens at the same positions, and the number of open positions. Tokens that start with NUL must be equal. */
  compare(tokens: readonly string[]): { readonly similarity: number; readonly open: number } {
    const own = this.#tokens;
    let same = 0;
    let open = 0;
    for (let index = 0; index < own.length; index += 1) {
      const token = own[index];
      if (token === placeholder) open += 1;
      else if (token === tokens[index]) same += 1;
      else if (token?.charCodeAt(0) === 0) return { similarity: -1, open };
    }
    return { similarity: same / own.length, open };
  }

  /** Adds a line; positions at which it differs become open. */
  take(tokens: readonly string[], bucket: number): void {
    const own = this.#tokens;
    for (let index = 0; index < own.length; index += 1)
      if (own[index] !== tokens[index]) own[index] = placeholder;
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
    this.#size += 1;
  }

  /** The text of the pattern; adjacent open positions are merged. */
  pattern(): string {
    return this.#join(this.#tokens).replace(/<_>(?:<_>)+/g, placeholder);
  }
}
