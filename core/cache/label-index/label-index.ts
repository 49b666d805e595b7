import { OverrideStack } from '../../base/override-stack.js';
import type { Host } from '../../kernel/plugin/host.js';
import { escapeText } from '../../base/key-parts.js';
import { atPace, Pacer } from '../../base/pace/steps.js';
import type { Clock } from '../../base/clock.js';
import type { LabelIndexOptions } from '../../base/options.gen.js';
import type { RankedName } from '../../wire/answer/rank.js';
import type { Browse } from '../../wire/api/request.js';
import { Generations, tenantPart } from '../keys.js';
import { IndexedValues } from './indexed-values.js';
import type { Page, View } from './view.js';

/** Bounds: values of one label, labels of all tenants together, and bytes of all labels together. */
export type IndexBounds = Pick<LabelIndexOptions, 'maxEntries' | 'maxLabels' | 'maxBytes'>;

/** The reason for an eviction: more than `maxEntries` values of a label, or room for other labels. */
export type EvictionReason = 'entries' | 'labels' | 'bytes';

/** Receives events, for metrics. */
export interface LabelIndexObserver {
  resized(labels: number, entries: number, bytes: number): void;
  evicted(reason: EvictionReason, values: number): void;
  /** A single label exceeds the bound of all labels. */
  refused(label: string, bytes: number): void;
}

/** Identifies a label of a tenant. */
export interface IndexKey {
  readonly tenantId: string;
  /** The data source of the tenant (core/base/key-parts.ts): values learnt from another one are dropped. */
  readonly owner: string;
  /** A fingerprint of the credentials sent to the backend, which determine the visible data; empty if nothing is forwarded. */
  readonly credentials: string;
  readonly label: string;
}

/** A label that may be saved in a snapshot. */
export interface SavedLabel {
  readonly tenantId: string;
  readonly label: string;
  /** Undefined if the snapshot does not say. */
  readonly owner: string | undefined;
}

interface Indexed {
  readonly tenantId: string;
  readonly credentials: string;
  readonly label: string;
  owner: string | undefined;
  readonly values: IndexedValues;
  /** True once all values of some time range have been learnt, rather than only those of some streams. */
  isWhole: boolean;
  /** Queue of updates, which run one after the other. */
  work: Promise<void>;
  /** Number of values that the totals include for this label. */
  entries: number;
  bytes: number;
}

/** Overhead of a label without values. */
const labelBytes = 1_000;

/**
 * The index of label values for browsing, by tenant, label and forwarded credentials, independent of the requested time range
 * (docs/caching.md). It is bounded in values per label, in labels and in bytes; the least recently requested labels are evicted first.
 */
export class LabelIndex {
  readonly #options: IndexBounds;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #observer: LabelIndexObserver;
  readonly #generations = new Generations();
  /** Labels in order of their last request. */
  readonly #labels = new Map<string, Indexed>();
  #entries = 0;
  #bytes = 0;
  #version = 0;

  constructor(options: IndexBounds, clock: Pick<Clock, 'nowMs'>, observer: LabelIndexObserver) {
    this.#options = options;
    this.#clock = clock;
    this.#observer = observer;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Changes with every change to the data that would be saved. */
  get version(): number {
    return this.#version;
  }

  /** Changes with each purge that affects the key. Values requested before a purge must not be learnt after it. */
  generationOf(key: IndexKey): string {
    return this.#generations.of(textOf(key));
  }

  /** A page of values; undefined for a label whose values are not all known yet. */
  async browse(key: IndexKey, browse: Browse, signal: AbortSignal): Promise<Page | undefined> {
    const indexed = this.#find(key);
    if (indexed?.isWhole !== true) return undefined;
    return atPace(indexed.values.page(browse), new Pacer(signal));
  }

  /**
   * Counts values as seen once more. It runs to its end even if it is not awaited.
   * @param isWhole true if these are all values of some time range
   * @param generation generation of the key when the values were requested
   */
  async learn(key: IndexKey, values: readonly string[], isWhole: boolean, generation: string): Promise<void> {
    if (values.length === 0 || generation !== this.generationOf(key)) return;
    const text = textOf(key);
    const { owner, ...rest } = key;
    const indexed = this.#find(key) ?? this.#add(text, rest, owner);
    const nowMs = this.#clock.nowMs();
    const work = indexed.work.then(async () => {
      await atPace(indexed.values.learnSteps(values, nowMs), new Pacer());
      indexed.isWhole ||= isWhole;
      this.#account(text, indexed);
    });
    indexed.work = work.catch(() => undefined);
    await work;
  }

  /** Fills a label with saved values. */
  async restore({ tenantId, label, owner }: SavedLabel, entries: RankedName[]): Promise<void> {
    const whose = { tenantId, label, credentials: '' };
    const text = textOf(whose);
    this.#remove(text);
    const indexed = this.#add(text, whose, owner);
    await atPace(indexed.values.restoreSteps(entries), new Pacer());
    indexed.isWhole = true;
    this.#account(text, indexed);
  }

  /**
   * The labels that may be saved, in their current state: only those without credentials. Snapshots have labels in lower case, so a label
   * with capital letters would come back as another one.
   */
  saved(): readonly (SavedLabel & { readonly view: View })[] {
    return [...this.#labels.values()]
      .filter(
        ({ isWhole, credentials, label }) => isWhole && credentials === '' && label === label.toLowerCase(),
      )
      .map(({ tenantId, label, owner, values }) => ({ tenantId, label, owner, view: values.view }));
  }

  /** Drops all labels, or those of one tenant. */
  purge(tenantId?: string): void {
    this.#generations.next(tenantId);
    const prefix = tenantId === undefined ? '' : `${tenantPart(tenantId)}:`;
    for (const text of [...this.#labels.keys()]) if (text.startsWith(prefix)) this.#remove(text);
    this.#changed();
  }

  #find(key: IndexKey): Indexed | undefined {
    const text = textOf(key);
    const indexed = this.#labels.get(text);
    if (indexed === undefined) return undefined;
    if (indexed.owner !== undefined && indexed.owner !== key.owner) {
      this.#remove(text);
      this.#changed();
      return undefined;
    }
    indexed.owner = key.owner;
    this.#labels.delete(text);
    this.#labels.set(text, indexed);
    return indexed;
  }

  #add(
    text: string,
    whose: Pick<Indexed, 'tenantId' | 'credentials' | 'label'>,
    owner: string | undefined,
  ): Indexed {
    const values = new IndexedValues(this.#options.maxEntries);
    const bytes = labelBytes + 2 * text.length;
    const added = { ...whose, owner, values, isWhole: false, work: Promise.resolve(), entries: 0, bytes };
    this.#labels.set(text, added);
    this.#bytes += bytes;
    this.#makeRoom(text);
    return added;
  }

  /** Updates the totals after a change of a label, unless it was dropped meanwhile. */
  #account(text: string, indexed: Indexed): void {
    if (this.#labels.get(text) !== indexed) return;
    const { values } = indexed;
    if (values.evicted > 0) this.#observer.evicted('entries', values.evicted);
    values.evicted = 0;
    const bytes = labelBytes + 2 * text.length + values.bytes;
    this.#entries += values.size - indexed.entries;
    this.#bytes += bytes - indexed.bytes;
    [indexed.entries, indexed.bytes] = [values.size, bytes];
    if (bytes > this.#options.maxBytes) {
      this.#observer.refused(indexed.label, bytes);
      this.#evict(text, indexed, 'bytes');
    } else this.#makeRoom(text);
    this.#changed();
  }

  /** Evicts the least recently requested labels, except this one. */
  #makeRoom(except: string): void {
    const { maxBytes, maxLabels } = this.#options;
    for (const [text, indexed] of this.#labels) {
      const isOverLabels = this.#labels.size > maxLabels;
      if (!isOverLabels && this.#bytes <= maxBytes) return;
      if (text !== except) this.#evict(text, indexed, isOverLabels ? 'labels' : 'bytes');
    }
  }

  #evict(text: string, { entries }: Indexed, reason: EvictionReason): void {
    this.#remove(text);
    this.#observer.evicted(reason, entries);
  }

  #remove(text: string): void {
    const indexed = this.#labels.get(text);
    if (indexed === undefined) return;
    this.#labels.delete(text);
    this.#entries -= indexed.entries;
    this.#bytes -= indexed.bytes;
  }

  #changed(): void {
    this.#version += 1;
    this.#observer.resized(this.#labels.size, this.#entries, this.#bytes);
  }
}

/** The map key; it begins as the keys of core/cache/keys.ts do. */
function textOf({ tenantId, credentials, label }: Omit<IndexKey, 'owner'>): string {
  return `${tenantPart(tenantId)}:${credentials}:${escapeText(label)}`;
}

/** The limit for a browse of label values without one; undefined means all values, as without the index. */
export type BrowseDefault = OverrideStack<number>;

/** The instance of this process: the index sets it, and parsing of request parameters reads it. */
export function browseDefault(host: Pick<Host, 'shared'>): BrowseDefault {
  return host.shared('browse default', () => new OverrideStack<number>());
}
