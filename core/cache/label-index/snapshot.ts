import { KeptSnapshot, type SnapshotObserver, type SnapshotTurns } from '../../base/files/kept-snapshot.js';
import type { SnapshotFile } from '../../base/files/snapshot-file.js';
import { readSnapshotBytes, snapshotBytes } from '../../base/files/snapshot-bytes.js';
import {
  msOfUnixNano,
  unixNano,
  type OtherMembers,
  type WrittenEntry,
} from '../../base/files/snapshot-json.js';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { atPace, eachAtPace, Pacer, sortSteps } from '../../base/pace/steps.js';
import { byRank, type RankedName } from '../../wire/answer/rank.js';
import { largestSnapshot, type Fleet } from '../fleet.js';
import type { LabelIndex, SavedLabel } from './label-index.js';
import { mostSeen } from './table.js';
import { entryAt, picksOf, type View } from './view.js';

export interface IndexSnapshotSettings {
  readonly path: string;
  /** Interval of the check for changes to write. */
  readonly intervalMs: number;
  readonly index: LabelIndex;
  /** Maximum number of values of one label. */
  readonly maxEntries: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: SnapshotObserver;
  /** Peers to ask for their index at startup; none unless given. */
  readonly peers?: IndexPeers;
}

export interface IndexPeers {
  readonly fleet: Fleet;
  /** The age of the file above which peers are asked. */
  readonly staleMs: number;
  readonly timeoutMs: number;
}

/** The name under which replicas request each other's index. */
export const offerName = '__label_values_index_snapshot:v1';
const format = { version: 1, member: 'states_by_key', depth: 2 } as const;
/** The member with the owner of each label. */
const ownersMember = 'owners_by_key';

type ViewOfLabel = SavedLabel & { readonly view: View };

/** Offers this index to other replicas, the most recently requested labels first. */
export function offerIndex(fleet: Fleet, index: LabelIndex, clock: Pick<Clock, 'nowMs'>): () => void {
  return fleet.offer(offerName, () => {
    const labels = [...index.saved()].reverse();
    const beside = { savedAtMs: clock.nowMs(), largest: largestSnapshot, others: ownersIn(labels) };
    return snapshotBytes(format, beside, entriesOf(labels));
  });
}

/** The file that persists the index over a restart (docs/internals/caching.md#the-snapshot): read at startup, written from then on. */
export class IndexSnapshot {
  readonly #settings: IndexSnapshotSettings;
  readonly #kept: KeptSnapshot;
  #isStopped = false;

  constructor(settings: IndexSnapshotSettings) {
    const { path, index, intervalMs, clock, log, observer } = settings;
    this.#settings = settings;
    const source = {
      revision: () => index.version,
      entries: () => entriesOf(index.saved()),
      others: () => ownersIn(index.saved()),
    };
    this.#kept = new KeptSnapshot({
      ...{ flag: '-label-values-index-persist-path', path, format, clock, log, source, observer, intervalMs },
      restore: (file, signal) => this.#restore(file, signal),
    });
  }

  /**
   * Starts the restore in the background.
   * @throws Error naming the flag when the file cannot be written
   */
  start(turns?: SnapshotTurns): Promise<void> {
    return this.#kept.start(turns);
  }

  /** True while the index is being restored. */
  get isWarming(): boolean {
    return this.#kept.isWarming;
  }

  /** Resolves when the restore has ended. */
  warmed(): Promise<void> {
    return this.#kept.restored();
  }

  /** Writes pending changes. */
  write(): Promise<void> {
    return this.#kept.write();
  }

  /** Drops values from the index and from the file, so that a restart does not restore them. */
  forget(drop: () => void): Promise<void> {
    return this.#kept.forget(drop);
  }

  /** Writes pending changes and stops. After an unfinished restore the file stays as it is. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#kept.stop();
  }

  async #restore(file: SnapshotFile, signal: AbortSignal): Promise<boolean> {
    try {
      const savedAtMs = await this.#read(file, signal);
      return !(await this.#readPeers(savedAtMs, signal));
    } catch (error) {
      // The index may have been filled in part.
      if (!this.#isStopped) this.#settings.index.purge();
      throw error;
    }
  }

  /**
   * Merges the index of peers if the file is old.
   * @returns whether that has changed the index
   */
  async #readPeers(savedAtMs: number, signal: AbortSignal): Promise<boolean> {
    const { index, clock, log, peers } = this.#settings;
    if (peers === undefined || clock.nowMs() - savedAtMs <= peers.staleMs) return false;
    const before = index.version;
    const use = async (bytes: Buffer, ended: AbortSignal): Promise<void> => {
      const others = new Map<string, unknown>();
      const restoring = new Restoring(
        this.#settings,
        others,
        ended,
        new Map(index.saved().map((label) => [keyOf(label), label])),
      );
      await readSnapshotBytes(format, bytes, (names, value) => restoring.add(names, value), ended, {
        others,
        settle: () => restoring.settle(),
      });
      await restoring.end();
    };
    await peers.fleet.ask({ name: offerName, timeoutMs: peers.timeoutMs, signal, use });
    if (index.version !== before)
      log.info('label values index loaded from peers', { 'index.bytes': index.bytes });
    return index.version !== before;
  }

  /** Reads the file; resolves to its time of writing, or -Infinity if there is none. */
  async #read(file: SnapshotFile, signal: AbortSignal): Promise<number> {
    const { index, clock, log, path } = this.#settings;
    const startedMs = clock.monotonicMs();
    const others = new Map<string, unknown>();
    const restoring = new Restoring(this.#settings, others, signal);
    const settle = (): Promise<void> => restoring.settle();
    const read = await file.read((names, value) => restoring.add(names, value), signal, {
      others,
      settle,
    });
    if (read === undefined) {
      // The index may have been filled in part before reading failed.
      if (restoring.hasTaken) index.purge();
      return -Infinity;
    }
    await restoring.end();
    log.info('label values index restored from its snapshot', {
      'file.path': path,
      'file.size': read.bytes,
      'file.age_ms': clock.nowMs() - read.savedAtMs,
      'index.bytes': index.bytes,
      'event.duration_ms': clock.monotonicMs() - startedMs,
    });
    return read.savedAtMs;
  }
}

/** Fills an index label by label. */
class Restoring {
  readonly #settings: Pick<IndexSnapshotSettings, 'index' | 'maxEntries'>;
  readonly #others: ReadonlyMap<string, unknown>;
  readonly #signal: AbortSignal;
  /** Labels in the index, into which the entries are merged. */
  readonly #known: ReadonlyMap<string, ViewOfLabel>;
  /** True once the index has been changed. */
  hasTaken = false;
  /** Labels that have been read completely. */
  #whole: [key: string, entries: RankedName[]][] = [];
  #key: string | undefined;
  #entries: RankedName[] = [];

  constructor(
    settings: Pick<IndexSnapshotSettings, 'index' | 'maxEntries'>,
    others: ReadonlyMap<string, unknown>,
    signal: AbortSignal,
    known: ReadonlyMap<string, ViewOfLabel> = new Map(),
  ) {
    this.#settings = settings;
    this.#known = known;
    this.#others = others;
    this.#signal = signal;
  }

  /** Adds an entry; throws if it is invalid. Entries of a label must be adjacent. */
  add([key = '', value = '']: readonly string[], state: unknown): void {
    const entry = rankedOf(value, state);
    if (key !== this.#key) this.#finish();
    this.#key = key;
    this.#entries.push(entry);
  }

  /** Moves complete labels to the index, so that at most one label is buffered. */
  async settle(): Promise<void> {
    const { index, maxEntries } = this.#settings;
    const owners = ownersOf(this.#others.get(ownersMember));
    for (const [key, entries] of this.#whole.splice(0)) {
      const owner = owners.get(key);
      const known = this.#known.get(key);
      // The label was learnt from another data source. Which one is current is known only when a request comes.
      if (known !== undefined && known.owner !== owner) continue;
      this.hasTaken = true;
      const all = known === undefined ? entries : await merged(known, entries, this.#signal);
      await index.restore({ ...labelOf(key), owner }, all);
      this.#signal.throwIfAborted();
    }
    // The file may have been written with a higher bound.
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

/** Merges two lists of values, keeping the higher count and the later time of each value. */
async function merged(
  { view }: ViewOfLabel,
  entries: readonly RankedName[],
  signal: AbortSignal,
): Promise<RankedName[]> {
  const all = new Map<string, RankedName>();
  const pacer = new Pacer(signal);
  await eachAtPace(entries, pacer, (entry) => void all.set(entry.value, entry));
  await eachAtPace(picksOf(view), pacer, (pick) => {
    if (pick === undefined) return;
    const { value, seen, lastMs } = entryAt(view, pick);
    const other = all.get(value);
    all.set(value, {
      value,
      seen: Math.max(seen, other?.seen ?? 0),
      lastMs: Math.max(lastMs, other?.lastMs ?? 0),
    });
  });
  return [...all.values()];
}

function ownersIn(labels: readonly SavedLabel[]): OtherMembers {
  return { [ownersMember]: Object.fromEntries(labels.map((label) => [keyOf(label), label.owner])) };
}

function rankedOf(value: string, state: unknown): RankedName {
  if (typeof state !== 'object' || state === null) throw new Error('an entry is not an object');
  const { seen_count: seen, last_seen_unix_nano: last } = state as Readonly<Record<string, unknown>>;
  if (typeof seen !== 'number' || !Number.isInteger(seen) || seen < 1)
    throw new Error(`not a count: ${String(seen)}`);
  return { value, seen: Math.min(mostSeen, seen), lastMs: msOfUnixNano(last) };
}

function keyOf({ tenantId, label }: SavedLabel): string {
  return `${tenantId}|${label}`;
}

/** Tenant ids contain no bar. */
function labelOf(key: string): { readonly tenantId: string; readonly label: string } {
  const bar = key.indexOf('|');
  return { tenantId: key.slice(0, Math.max(0, bar)), label: key.slice(bar + 1) };
}

/** Owners by label; a label without one may belong to any owner. An owner that is not a text becomes a text that matches none. */
function ownersOf(value: unknown): ReadonlyMap<string, string> {
  const owners = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return new Map(owners.map(([key, owner]) => [key, String(owner)]));
}
