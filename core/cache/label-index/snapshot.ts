import { SnapshotFile } from '../../base/files/snapshot-file.js';
import { msOfUnixNano, unixNano, type WrittenEntry } from '../../base/files/snapshot-json.js';
import { SnapshotKeeper, type SnapshotObserver } from '../../base/files/snapshot-keeper.js';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { Pacer } from '../../base/pace/pacer.js';
import { atPace, sortSteps } from '../../base/pace/steps.js';
import { byRank, type Ranked } from '../../wire/answer/rank.js';
import type { LabelIndex, SavedLabel } from './label-index.js';
import { mostSeen } from './table.js';
import { entryAt, picksOf, type View } from './view.js';

export interface IndexSnapshotSettings {
  readonly path: string;
  /** Time between two looks whether there is something to write. */
  readonly intervalMs: number;
  readonly index: LabelIndex;
  /** Most values of one label. */
  readonly maxEntries: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: SnapshotObserver;
}

const format = { version: 1, member: 'states_by_key', depth: 2 } as const;
/** The member that tells what each label was learnt under. */
const ownersMember = 'owners_by_key';

type ViewOfLabel = SavedLabel & { readonly view: View };

/** The file that keeps the index over a restart (docs/caching.md#the-snapshot): read when the process starts, written from then on. */
export class IndexSnapshot {
  readonly #settings: IndexSnapshotSettings;
  readonly #file: SnapshotFile;
  readonly #keeper: SnapshotKeeper;
  /** Ends the restoring: what is read has been purged, or the process stops. */
  readonly #ended = new AbortController();
  #restored: Promise<void> | undefined;
  #isKept = false;
  #isStopped = false;

  constructor(settings: IndexSnapshotSettings) {
    const { path, index, clock, log, observer } = settings;
    this.#settings = settings;
    this.#file = new SnapshotFile({ flag: '-label-values-index-persist-path', path, format, clock, log });
    const source = {
      revision: () => index.version,
      entries: () => entriesOf(index.saved()),
      others: () => ({
        [ownersMember]: Object.fromEntries(index.saved().map((label) => [keyOf(label), label.owner])),
      }),
    };
    this.#keeper = new SnapshotKeeper(this.#file, source, observer, log);
  }

  /**
   * Restores in the background.
   * @throws Error naming the flag when the file cannot be written
   */
  async start(): Promise<void> {
    await this.#file.open();
    this.#restored = this.#restore();
  }

  /** Until what there is of the index has been restored. */
  get isWarming(): boolean {
    return !this.#isKept;
  }

  /** Resolves when it no longer warms. */
  async warmed(): Promise<void> {
    await this.#restored;
  }

  /** Writes what has changed. */
  write(): Promise<void> {
    return this.#keeper.write();
  }

  /** Drops values that must not come back from the file either. */
  async forget(drop: () => void): Promise<void> {
    await this.#end();
    drop();
    await this.#keeper.forget();
  }

  /** Writes what has changed, and nothing more. A restoring that was not finished leaves the file as it is. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
    await this.#keeper.stop();
  }

  async #end(): Promise<void> {
    this.#ended.abort();
    await this.#restored;
  }

  /** The place to ask peers is behind it, where the file is missing or older than -label-values-index-startup-stale-threshold. */
  async #restore(): Promise<void> {
    const { index, intervalMs, log } = this.#settings;
    const { signal } = this.#ended;
    let isSaved = false;
    try {
      isSaved = await this.#read(signal);
    } catch (error) {
      if (this.#isStopped) return;
      if (!signal.aborted) log.warn('the label values index cannot be restored', { error });
      index.purge();
    }
    this.#isKept = true;
    this.#keeper.start(intervalMs, isSaved);
  }

  /** Whether the file holds what the index holds now. */
  async #read(signal: AbortSignal): Promise<boolean> {
    const { index, clock, log, path } = this.#settings;
    const startedMs = clock.monotonicMs();
    const others = new Map<string, unknown>();
    const restoring = new Restoring(this.#settings, others, signal);
    const settle = (): Promise<void> => restoring.settle();
    const read = await this.#file.read((names, value) => restoring.add(names, value), signal, {
      others,
      settle,
    });
    if (read === undefined) {
      // Some of it may have been taken before the rest could not be read.
      if (restoring.hasTaken) index.purge();
      return true;
    }
    await restoring.end();
    log.info('label values index restored', {
      'file.path': path,
      'file.size': read.bytes,
      'file.age_ms': clock.nowMs() - read.savedAtMs,
      'index.bytes': index.bytes,
      'event.duration_ms': clock.monotonicMs() - startedMs,
    });
    return true;
  }
}

/** Fills an index label by label. */
class Restoring {
  readonly #settings: Pick<IndexSnapshotSettings, 'index' | 'maxEntries'>;
  readonly #others: ReadonlyMap<string, unknown>;
  readonly #signal: AbortSignal;
  /** Whether anything has gone into the index. */
  hasTaken = false;
  /** Labels with all their entries. */
  #whole: [key: string, entries: Ranked[]][] = [];
  #key: string | undefined;
  #entries: Ranked[] = [];

  constructor(
    settings: Pick<IndexSnapshotSettings, 'index' | 'maxEntries'>,
    others: ReadonlyMap<string, unknown>,
    signal: AbortSignal,
  ) {
    this.#settings = settings;
    this.#others = others;
    this.#signal = signal;
  }

  /** Throws for what is no entry. Those of a label follow each other. */
  add([key = '', value = '']: readonly string[], state: unknown): void {
    const entry = rankedOf(value, state);
    if (key !== this.#key) this.#finish();
    this.#key = key;
    this.#entries.push(entry);
  }

  /** Takes what is there, so that no more is held than of one label. */
  async settle(): Promise<void> {
    const { index, maxEntries } = this.#settings;
    const owners = ownersOf(this.#others.get(ownersMember));
    for (const [key, entries] of this.#whole.splice(0)) {
      this.hasTaken = true;
      await index.restore({ ...labelOf(key), owner: owners.get(key) }, entries);
      this.#signal.throwIfAborted();
    }
    // A file may have been written with a higher bound.
    if (this.#entries.length <= 2 * maxEntries) return;
    const sorted = await atPace(sortSteps(this.#entries, byRank), new Pacer(this.#signal));
    this.#entries = sorted.slice(0, maxEntries);
  }

  async end(): Promise<void> {
    this.#finish();
    await this.settle();
  }

  #finish(): void {
    if (this.#key !== undefined) this.#whole.push([this.#key, this.#entries]);
    this.#entries = [];
  }
}

function* entriesOf(labels: readonly ViewOfLabel[]): Generator<WrittenEntry, void, void> {
  for (const label of labels) {
    const key = keyOf(label);
    for (const pick of picksOf(label.view)) {
      if (pick === undefined) continue;
      const { value, seen, lastMs } = entryAt(label.view, pick);
      const json = `{"seen_count":${seen},"last_seen_unix_nano":${unixNano(lastMs)}}`;
      yield { names: [key, value], json };
    }
  }
}

function rankedOf(value: string, state: unknown): Ranked {
  if (typeof state !== 'object' || state === null) throw new Error('an entry is no object');
  const { seen_count: seen, last_seen_unix_nano: last } = state as Readonly<Record<string, unknown>>;
  if (typeof seen !== 'number' || !Number.isInteger(seen) || seen < 1)
    throw new Error(`no count: ${String(seen)}`);
  return { value, seen: Math.min(mostSeen, seen), lastMs: msOfUnixNano(last) };
}

function keyOf({ tenantId, label }: SavedLabel): string {
  return `${tenantId}|${label}`;
}

/** An id of a tenant has no bar. */
function labelOf(key: string): { readonly tenantId: string; readonly label: string } {
  const bar = key.indexOf('|');
  return { tenantId: key.slice(0, Math.max(0, bar)), label: key.slice(bar + 1) };
}

/** Without them anybody is the owner; one that is no text is nobody. */
function ownersOf(value: unknown): ReadonlyMap<string, string> {
  const owners = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return new Map(owners.map(([key, owner]) => [key, String(owner)]));
}
