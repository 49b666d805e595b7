import { ofKey } from '../../../core/base/memory/byte-lru.js';
import { Block } from './block.js';
import { Interner } from './interner.js';
import { type RowLayout, LayoutTable } from './row-layout.js';
import { Stream } from './stream.js';
import { type StreamTags, streamId, tagsText, type TenantId, tenantKey } from './stream-tags.js';

/** Fixed size of a row: its time, two references and the header of the value list. */
const ROW_BYTES = 48;
const STRING_BYTES = 20;
/** Bytes of a new stream without its rows. */
const STREAM_BYTES = 1024;

/** A row to be stored: names without the stream fields and without `_time`; no empty values. */
export interface NewRow {
  readonly timeNs: bigint;
  readonly names: readonly string[];
  readonly values: readonly string[];
}

/** Decides for each row of a deletion; true removes it. */
export type RowTest = (
  stream: Stream,
  timeNs: bigint,
  layout: RowLayout,
  values: readonly string[],
) => boolean;

interface Tenant {
  readonly id: TenantId;
  readonly streams: Map<string, Stream>;
  /** All streams by id, computed on demand and reset when a stream is added. */
  byId: readonly Stream[] | undefined;
}

/** All rows of all tenants, in memory, within a budget of estimated bytes. */
export class Store {
  readonly #maxBytes: number;
  readonly #tenants = new Map<string, Tenant>();
  readonly #layouts = new LayoutTable();
  readonly #interner = new Interner();
  #bytes = 0;
  #rows = 0;
  #rowsIngested = 0;
  #newestNs: bigint | undefined;

  /** @param maxBytes limit of the estimated size, above which `push` rejects rows */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Estimated number of bytes held. */
  get bytes(): number {
    return this.#bytes;
  }
  get maxBytes(): number {
    return this.#maxBytes;
  }
  get rows(): number {
    return this.#rows;
  }
  /** Number of rows ever accepted. */
  get rowsIngested(): number {
    return this.#rowsIngested;
  }
  /** The latest time of any row ever accepted. */
  get newestNs(): bigint | undefined {
    return this.#newestNs;
  }
  get streamCount(): number {
    let count = 0;
    for (const tenant of this.#tenants.values()) count += tenant.streams.size;
    return count;
  }

  /** True if there is room for more rows. */
  get hasRoom(): boolean {
    return this.#bytes < this.#maxBytes;
  }

  /** The stream of these fields, created if it is new. Callers keep the result while adding more of its rows. */
  stream(tenant: TenantId, tags: StreamTags): Stream {
    const key = tenantKey(tenant);
    const entry = ofKey(this.#tenants, key, (): Tenant => ({
      id: tenant,
      streams: new Map(),
      byId: undefined,
    }));
    const text = tagsText(tags);
    let stream = entry.streams.get(text);
    if (stream === undefined) {
      stream = new Stream(tags, text, streamId(tenant, tags), entry.streams.size);
      entry.streams.set(text, stream);
      entry.byId = undefined;
      this.#bytes += STREAM_BYTES + text.length * 2;
    }
    return stream;
  }

  /** Adds a row; returns false and stores nothing if the byte limit is reached. */
  push(stream: Stream, row: NewRow): boolean {
    if (!this.hasRoom) return false;
    let bytes = ROW_BYTES + row.values.length * 8;
    // Unlike a list grown by `push`, the result of `map` has no spare capacity, which would stay for the life of the row.
    const values = row.values.map((value) => {
      const misses = this.#interner.misses;
      const kept = this.#interner.intern(value);
      if (this.#interner.misses !== misses) bytes += stringBytes(value);
      return kept;
    });
    stream.append(row.timeNs, this.#layouts.of(row.names), values);
    this.#bytes += bytes;
    this.#rows++;
    this.#rowsIngested++;
    if (this.#newestNs === undefined || row.timeNs > this.#newestNs) this.#newestNs = row.timeNs;
    return true;
  }

  /** Tenants with at least one row, by account and project. */
  tenants(): TenantId[] {
    return [...this.#tenants.values()]
      .filter((tenant) => [...tenant.streams.values()].some((stream) => stream.rows > 0))
      .map((tenant) => tenant.id)
      .sort((a, b) => a.accountId - b.accountId || a.projectId - b.projectId);
  }

  /**
   * The non-empty streams of a tenant, by id as on the real server. Clients are promised no order, but sums of floats and the choice among
   * equal rows depend on it.
   */
  streams(tenant: TenantId): Stream[] {
    const entry = this.#tenants.get(tenantKey(tenant));
    if (entry === undefined) return [];
    entry.byId ??= [...entry.streams.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return entry.byId.filter((stream) => stream.rows > 0);
  }

  /** Removes the rows of `stream` for which `doomed` is true and returns their number. */
  remove(stream: Stream, doomed: RowTest): number {
    const kept: Block[] = [];
    let removed = 0;
    for (const block of stream.blocks) {
      const fresh = new Block();
      const view = block.view();
      for (let i = 0; i < view.length; i++) {
        const timeNs = view.times[i] ?? 0n;
        const layout = view.layouts[i];
        const values = view.values[i];
        if (layout === undefined || values === undefined) continue;
        if (!doomed(stream, timeNs, layout, values)) fresh.append(timeNs, layout, values);
        else {
          removed++;
          this.#bytes -= ROW_BYTES + values.reduce((sum, value) => sum + 8 + longBytes(value), 0);
        }
      }
      kept.push(fresh.length === block.length ? block : fresh);
    }
    if (removed > 0) stream.replace(kept);
    this.#rows -= removed;
    return removed;
  }
}

function stringBytes(value: string): number {
  const wide = Buffer.byteLength(value) !== value.length;
  return STRING_BYTES + (wide ? value.length * 2 : value.length);
}

/** Bytes of long strings. Short ones may be shared with other rows, so a deletion only returns the long ones to the budget. */
function longBytes(value: string): number {
  return value.length > 48 ? stringBytes(value) : 0;
}
