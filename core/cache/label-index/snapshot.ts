import type { SnapshotObserver } from '../../base/files/kept-snapshot.js';
import type { SnapshotFile } from '../../base/files/snapshot-file.js';
import { readSnapshotBytes } from '../../base/files/snapshot-bytes.js';
import {
  msOfUnixNano,
  unixNano,
  type OtherMembers,
  type WrittenEntry,
} from '../../base/files/snapshot-json.js';
import type { LabelIndexOptions } from '../../base/options.gen.js';
import { atPace, eachAtPace, Pacer, sortSteps } from '../../base/pace/steps.js';
import { byRank, type RankedName } from '../../wire/answer/rank.js';
import { KeptData, type KeptHost } from '../kept-data.js';
import type { LabelIndex, SavedLabel } from './label-index.js';
import { mostSeen } from './table.js';
import { entryAt, picksOf, type View } from './view.js';

export interface KeptIndexSettings {
  readonly options: Pick<
    LabelIndexOptions,
    'persistPath' | 'persistInterval' | 'maxEntries' | 'startupStaleThreshold' | 'startupPeerWarmTimeout'
  >;
  readonly index: LabelIndex;
  readonly observer: SnapshotObserver;
}

/** The name under which replicas request each other's index. */
const offerName = '__label_values_index_snapshot:v1';
const format = { version: 1, member: 'states_by_key', depth: 2 } as const;
/** The member with the owner of each label. */
const ownersMember = 'owners_by_key';

type ViewOfLabel = SavedLabel & { readonly view: View };

/**
 * Keeps an index over a restart (docs/internals/caching.md#the-snapshot), and offers it to other replicas, the most recently requested
 * labels first.
 */
export function keptIndex(settings: KeptIndexSettings, host: KeptHost): KeptData {
  const { index, observer, options } = settings;
  const kept: KeptData = new KeptData(
    {
      ...{ flag: '-label-values-index-persist-path', path: options.persistPath, format, offerName },
      ...{ observer, intervalMs: options.persistInterval },
      source: {
        revision: () => index.version,
        entries: () => entriesOf(index.saved()),
        others: () => ownersIn(index.saved()),
      },
      latest: () => entriesOf([...index.saved()].reverse()),
      purge: (tenantId) => index.purge(tenantId),
      restore: async (file, signal) => {
        try {
          const savedAtMs = await readFile(settings, host, file, signal);
          return !(await readPeers(settings, host, kept, savedAtMs, signal));
        } catch (error) {
          // The index may have been filled in part.
          index.purge();
          throw error;
        }
      },
    },
    host,
  );
  return kept;
}

/**
 * Merges the index of peers if the file is old.
 * @returns whether that has changed the index
 */
async function readPeers(
  settings: KeptIndexSettings,
  { clock, log }: KeptHost,
  kept: KeptData,
  savedAtMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { index, options } = settings;
  if (clock.nowMs() - savedAtMs <= options.startupStaleThreshold) return false;
  const before = index.version;
  const use = async (bytes: Buffer, ended: AbortSignal): Promise<void> => {
    const others = new Map<string, unknown>();
    const known = new Map(index.saved().map((label) => [keyOf(label), label]));
    const restoring = new Restoring(settings, others, ended, known);
    await readSnapshotBytes(format, bytes, (names, value) => restoring.add(names, value), ended, {
      others,
      settle: () => restoring.settle(),
    });
    await restoring.end();
  };
  await kept.ask({ timeoutMs: options.startupPeerWarmTimeout, signal, use });
  if (index.version !== before)
    log.info('label values index loaded from peers', { 'index.bytes': index.bytes });
  return index.version !== before;
}

/** Reads the file; resolves to its time of writing, or -Infinity if there is none. */
async function readFile(
  settings: KeptIndexSettings,
  { clock, log }: KeptHost,
  file: SnapshotFile,
  signal: AbortSignal,
): Promise<number> {
  const { index, options } = settings;
  const startedMs = clock.monotonicMs();
  const others = new Map<string, unknown>();
  const restoring = new Restoring(settings, others, signal);
  const settle = (): Promise<void> => restoring.settle();
  const read = await file.read((names, value) => restoring.add(names, value), signal, { others, settle });
  if (read === undefined) {
    // The index may have been filled in part before reading failed.
    if (restoring.hasTaken) index.purge();
    return -Infinity;
  }
  await restoring.end();
  log.info('label values index restored from its snapshot', {
    'file.path': options.persistPath,
    'file.size': read.bytes,
    'file.age_ms': clock.nowMs() - read.savedAtMs,
    'index.bytes': index.bytes,
    'event.duration_ms': clock.monotonicMs() - startedMs,
  });
  return read.savedAtMs;
}

/** Fills an index label by label. */
class Restoring {
  readonly #settings: KeptIndexSettings;
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
    settings: KeptIndexSettings,
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
    const { index, options } = this.#settings;
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
    if (this.#entries.length <= 2 * options.maxEntries) return;
    const sorted = await atPace(sortSteps(this.#entries, byRank), new Pacer(this.#signal));
    this.#entries = sorted.slice(0, options.maxEntries);
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
