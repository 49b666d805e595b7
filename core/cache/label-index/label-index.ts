import { OverrideStack } from '../../base/override-stack.js';
import type { Host } from '../../kernel/plugin/host.js';
import { escapeText } from '../../base/keys/escape.js';
import { Pacer } from '../../base/pace/pacer.js';
import { atPace } from '../../base/pace/steps.js';
import type { Clock } from '../../base/clock.js';
import type { RankedName } from '../../wire/answer/rank.js';
import type { Browse } from '../../wire/api/request.js';
import { Generations } from '../generations.js';
import { tenantPart } from '../keys.js';
import { IndexedValues } from './indexed-values.js';
import type { Page, View } from './view.js';

export interface LabelIndexOptions {
  /** Most values of one label. */
  readonly maxEntries: number;
  /** Most labels of all tenants together. */
  readonly maxLabels: number;
  /** Most bytes of all labels together. */
  readonly maxBytes: number;
}

/** Why values have left: more than `maxEntries` of a label, or their label made room for others. */
export type EvictionReason = 'entries' | 'labels' | 'bytes';

/** Notified of every change, for metrics. */
export interface LabelIndexObserver {
  resized(labels: number, entries: number, bytes: number): void;
  evicted(reason: EvictionReason, values: number): void;
  /** A label alone takes more than all labels may. */
  refused(label: string, bytes: number): void;
}

/** Whose values of which label. */
export interface IndexKey {
  readonly tenantId: string;
  /** What the tenant's data depend on beside its id: values that were learnt under another one are dropped. */
  readonly owner: string;
  /** A fingerprint of what the caller sends to the backend, which decides what it may see; empty where nothing is forwarded. */
  readonly credentials: string;
  readonly label: string;
}

/** A label that may outlive the process. */
export interface SavedLabel {
  readonly tenantId: string;
  readonly label: string;
  /** Undefined when who wrote it did not say. */
  readonly owner: string | undefined;
}

interface Indexed {
  readonly tenantId: string;
  readonly credentials: string;
  readonly label: string;
  owner: string | undefined;
  readonly values: IndexedValues;
  /** Whether all values of some time have been learnt, not only those of some streams. */
  isWhole: boolean;
  /** What is learnt at once is learnt one after the other. */
  work: Promise<void>;
  /** As counted in the sums. */
  entries: number;
  bytes: number;
}

/** A label without values. */
const labelBytes = 1_000;

/**
 * The values of labels, for browsing: by tenant, label and forwarded credentials, whatever the time that is asked for (docs/caching.md).
 * Bounded by values of a label, by labels and by bytes; labels that were not asked for the longest go first.
 */
export class LabelIndex {
  readonly #options: LabelIndexOptions;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #observer: LabelIndexObserver;
  readonly #generations = new Generations();
  /** The label that was asked for last is the last one. */
  readonly #labels = new Map<string, Indexed>();
  #entries = 0;
  #bytes = 0;
  #version = 0;

  constructor(options: LabelIndexOptions, clock: Pick<Clock, 'nowMs'>, observer: LabelIndexObserver) {
    this.#options = options;
    this.#clock = clock;
    this.#observer = observer;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Another one after every change of what would be saved. */
  get version(): number {
    return this.#version;
  }

  /** Changes with each purge that is about the key: what was asked for before one is not learnt after it. */
  generationOf(key: IndexKey): string {
    return this.#generations.of(textOf(key));
  }

  /** Undefined for a label of which not all values have been learnt yet. */
  async browse(key: IndexKey, browse: Browse, signal: AbortSignal): Promise<Page | undefined> {
    const indexed = this.#find(key);
    if (indexed?.isWhole !== true) return undefined;
    return atPace(indexed.values.page(browse), new Pacer(signal));
  }

  /**
   * Counts values as seen once more. Goes on when nobody waits for it.
   * @param isWhole whether these are all values of some time
   * @param generation of the key when they were asked for
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

  /** Begins a label with what was saved. */
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
   * What may outlive the process, as it is now. Credentials may not. In a snapshot labels are in lower case, so that one with capital
   * letters would come back as another one.
   */
  saved(): readonly (SavedLabel & { readonly view: View })[] {
    return [...this.#labels.values()]
      .filter(
        ({ isWhole, credentials, label }) => isWhole && credentials === '' && label === label.toLowerCase(),
      )
      .map(({ tenantId, label, owner, values }) => ({ tenantId, label, owner, view: values.view }));
  }

  /** Drops everything, or what one tenant has. */
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

  /** Takes note of what a label has now, unless it was dropped meanwhile. */
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

  /** Drops the labels that were not asked for the longest, but not this one. */
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

/** Begins as the keys of core/cache/keys.ts. */
function textOf({ tenantId, credentials, label }: Omit<IndexKey, 'owner'>): string {
  return `${tenantPart(tenantId)}:${credentials}:${escapeText(label)}`;
}

/** Limit of a browse of label values that names none; undefined for all values, as without the index. */
export type BrowseDefault = OverrideStack<number>;

/** The one of this process: the index claims it, and who reads the parameters of a request fills it in. */
export function browseDefault(host: Pick<Host, 'shared'>): BrowseDefault {
  return host.shared('browse default', () => new OverrideStack<number>());
}
