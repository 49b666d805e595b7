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
import { Pacer } from '../../base/pace/pacer.js';
import { atPace, eachAtPace, sortSteps } from '../../base/pace/steps.js';
import { byRank, type RankedName } from '../../wire/answer/rank.js';
import { largestSnapshot, type Fleet } from '../fleet.js';
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
  /** Where else it is looked for at the start; nowhere unless given. */
  readonly peers?: IndexPeers;
}

export interface IndexPeers {
  readonly fleet: Fleet;
  /** The age of the file above which they are asked. */
  readonly staleMs: number;
  readonly timeoutMs: number;
}

/** By this name replicas ask each other for their index. */
export const offerName = '__label_values_index_snapshot:v1';
const format = { version: 1, member: 'states_by_key', depth: 2 } as const;
/** The member that tells what each label was learnt under. */
const ownersMember = 'owners_by_key';

type ViewOfLabel = SavedLabel & { readonly view: View };

/** Has other replicas begin with the labels that this one has, those asked for last before others. */
export function offerIndex(fleet: Fleet, index: LabelIndex, clock: Pick<Clock, 'nowMs'>): () => void {
  return fleet.offer(offerName, () => {
    const labels = [...index.saved()].reverse();
    const beside = { savedAtMs: clock.nowMs(), largest: largestSnapshot, others: ownersIn(labels) };
    return snapshotBytes(format, beside, entriesOf(labels));
  });
}

/** The file that keeps the index over a restart (docs/caching.md#the-snapshot): read when the process starts, written from then on. */
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
   * Restores in the background.
   * @throws Error naming the flag when the file cannot be written
   */
  start(turns?: SnapshotTurns): Promise<void> {
    return this.#kept.start(turns);
  }

  /** Until what there is of the index has been restored. */
  get isWarming(): boolean {
    return this.#kept.isWarming;
  }

  /** Resolves when it no longer warms. */
  warmed(): Promise<void> {
    return this.#kept.restored();
  }

  /** Writes what has changed. */
  write(): Promise<void> {
    return this.#kept.write();
  }

  /** Drops values that must not come back from the file either. */
  forget(drop: () => void): Promise<void> {
    return this.#kept.forget(drop);
  }

  /** Writes what has changed, and nothing more. A restoring that was not finished leaves the file as it is. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#kept.stop();
  }

  async #restore(file: SnapshotFile, signal: AbortSignal): Promise<boolean> {
    try {
      const savedAtMs = await this.#read(file, signal);
      return !(await this.#readPeers(savedAtMs, signal));
    } catch (error) {
      // Some of it may have been taken.
      if (!this.#isStopped) this.#settings.index.purge();
      throw error;
    }
  }

  /** Adds what peers know where the file is old. @returns whether the index has changed by that */
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
    if (index.version !== before) log.info('label values taken from peers', { 'index.bytes': index.bytes });
    return index.version !== before;
  }

  /** When the file was saved; at no time where there is none. */
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
      // Some of it may have been taken before the rest could not be read.
      if (restoring.hasTaken) index.purge();
      return -Infinity;
    }
    await restoring.end();
    log.info('label values index restored', {
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
  /** Labels that there are, which get what is missing. */
  readonly #known: ReadonlyMap<string, ViewOfLabel>;
  /** Whether anything has gone into the index. */
  hasTaken = false;
  /** Labels with all their entries. */
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
      const owner = owners.get(key);
      const known = this.#known.get(key);
      // Learnt under something else: which of them counts is found out by who asks.
      if (known !== undefined && known.owner !== owner) continue;
      this.hasTaken = true;
      const all = known === undefined ? entries : await merged(known, entries, this.#signal);
      await index.restore({ ...labelOf(key), owner }, all);
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

/** Of a value of both what was seen more and later. */
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
