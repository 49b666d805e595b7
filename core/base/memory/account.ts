import { apiError } from '../errors/table.js';

/** The purpose of held memory, worded as in the error that refuses more of it. */
export type MemoryUse =
  | 'the labels of series'
  | 'samples by series and time'
  | 'the values of series'
  | 'the points of the answer'
  | 'log lines'
  | 'a listing of the backend'
  | 'statistics of the backend'
  | 'samples of patterns'
  | 'the values of fields'
  | 'windows that were kept'
  | 'listings that were kept'
  | 'the bytes of the answer';

/** The pool that accounts draw from: it bounds the memory of all queries of the process together. */
export interface MemorySource {
  readonly limit: number;
  readonly held: number;
  /** Returns false when not enough is left. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
  refused(reason: 'query' | 'process'): void;
  closed(peakBytes: number): void;
}

/** Accounts take memory from the pool in pieces, so that most charges are an addition and a comparison. */
const pieceBytes = 256 * 1024;

/**
 * The estimated memory of one query. Code that creates something lasting charges it first and releases it when it is dropped. All work of
 * one request shares an account; work that outlives the request retains it.
 */
export class MemoryAccount {
  readonly #limit: number;
  readonly #pool: MemorySource | undefined;
  readonly #byKind = new Map<MemoryUse, number>();
  #used = 0;
  #peak = 0;
  /** Bytes that may be used without asking the pool again. */
  #granted = 0;
  #holders = 1;

  /** @param limit in bytes; 0 means unlimited */
  constructor(limit: number, pool?: MemorySource) {
    this.#limit = limit > 0 ? limit : Infinity;
    this.#pool = pool;
  }

  get used(): number {
    return this.#used;
  }

  get peak(): number {
    return this.#peak;
  }

  /** In bytes; 0 means unlimited. */
  get limit(): number {
    return this.#limit === Infinity ? 0 : this.#limit;
  }

  /** Bytes held now, by kind. */
  get held(): ReadonlyMap<MemoryUse, number> {
    return this.#byKind;
  }

  /** @throws ApiError `queryMemory` over the limit of one query, `processMemory` over the limit of all queries together */
  charge(bytes: number, kind: MemoryUse): void {
    this.#used += bytes;
    this.#byKind.set(kind, (this.#byKind.get(kind) ?? 0) + bytes);
    if (this.#used > this.#peak) this.#peak = this.#used;
    if (this.#used > this.#granted) this.#grow(kind);
  }

  release(bytes: number, kind: MemoryUse): void {
    this.#used -= bytes;
    this.#byKind.set(kind, (this.#byKind.get(kind) ?? 0) - bytes);
    const spare = Math.floor((this.#granted - this.#used) / pieceBytes) - 1;
    if (spare >= 4) this.#giveBack(spare * pieceBytes);
  }

  /** Replaces everything charged so far by `bytes` of this kind. */
  keepOnly(bytes: number, kind: MemoryUse): void {
    const before = this.#used;
    this.#byKind.clear();
    this.#byKind.set(kind, before);
    if (bytes > before) this.charge(bytes - before, kind);
    else this.release(before - bytes, kind);
  }

  /** An empty account with the same limits, for independent work. */
  another(): MemoryAccount {
    return new MemoryAccount(this.#limit, this.#pool);
  }

  /** Keeps the account open for work that outlives the request; needs one more `close`. */
  retain(): void {
    if (this.#holders > 0) this.#holders += 1;
  }

  /** The last holder to close releases everything. */
  close(): void {
    this.#holders -= 1;
    if (this.#holders !== 0) return;
    this.#pool?.closed(this.#peak);
    this.#giveBack(this.#granted);
    this.#used = 0;
    this.#byKind.clear();
  }

  #grow(kind: MemoryUse): void {
    if (this.#used > this.#limit) {
      this.#pool?.refused('query');
      throw apiError('queryMemory', { limit: this.#limit, kind, most: this.#most() });
    }
    const wanted = Math.ceil((this.#used - this.#granted) / pieceBytes) * pieceBytes;
    if (this.#pool !== undefined && this.#holders > 0 && !this.#pool.take(wanted)) {
      this.#pool.refused('process');
      throw apiError('processMemory', { limit: this.#pool.limit, held: this.#pool.held, kind });
    }
    this.#granted += wanted;
  }

  #giveBack(bytes: number): void {
    this.#granted -= bytes;
    this.#pool?.giveBack(bytes);
  }

  #most(): MemoryUse {
    let most: MemoryUse = 'the labels of series';
    for (const [kind, bytes] of this.#byKind) if (bytes > (this.#byKind.get(most) ?? 0)) most = kind;
    return most;
  }
}

/** For work outside any request. */
export function unboundedMemory(): MemoryAccount {
  return new MemoryAccount(0);
}
