import type { Label } from '../../base/label-set.js';
import { jsonArray, jsonFaults, jsonNull, jsonObject, JsonReader, unescapeJson } from './json-value.js';
import { addToHash, hashSeed, nestedLabelName, ownText, type Slot, type SlotTable } from './slot.js';
import { clashSuffix } from './types.js';
import type { Hints, WorkLine } from './work-line.js';

const quote = 0x22;
const closeBrace = 0x7d;
const openBrace = 0x7b;
const colon = 0x3a;
const comma = 0x2c;

/** Results of reading an object, and whether to continue. */
export const goesOn = 0;
/** Nothing more is needed from the line. */
export const isDone = 1;
/** The object is invalid; the reader's `fault` has the reason. */
export const isFaulty = 2;
/** The line is dropped. */
export const isDropped = 3;
export type FieldOutcome = typeof goesOn | typeof isDone | typeof isFaulty | typeof isDropped;

/** Called for every field in order. */
export interface FieldVisitor<Key> {
  /** The visitor's entry for a key, given as offsets and hash, in the object of `parent`; undefined if it has an invalid escape. */
  key(from: number, to: number, hash: number, parent: Key | undefined): Key | undefined;
  /** Called with the field's value in the reader. */
  field(key: Key, depth: number): FieldOutcome;
}

/**
 * Reads the fields of the object that should start at an offset. Fields before an error have been visited. A comma after the last field,
 * and text after the object, are not errors.
 */
export function readFields<Key>(
  reader: JsonReader,
  from: number,
  limit: number,
  visitor: FieldVisitor<Key>,
  parent: Key | undefined,
  depth: number,
): FieldOutcome {
  const { line } = reader;
  let at = reader.skipSpace(from, limit);
  if (at < 0 || line.charCodeAt(at) !== openBrace) return fail(reader, jsonFaults.object);
  at = reader.skipSpace(at + 1, limit);
  if (at < 0) return fail(reader, jsonFaults.json);
  for (;;) {
    const unit = line.charCodeAt(at);
    if (unit === closeBrace) return goesOn;
    if (unit !== quote) return fail(reader, jsonFaults.object);
    const keyFrom = at + 1;
    const keyTo = reader.stringEnd(keyFrom, limit);
    if (keyTo < 0) return fail(reader, jsonFaults.json);
    let hash = hashSeed;
    for (let place = keyFrom; place < keyTo; place += 1) hash = addToHash(hash, line.charCodeAt(place));
    const key = visitor.key(keyFrom, keyTo, hash, parent);
    if (key === undefined) return fail(reader, jsonFaults.escape);
    at = reader.skipSpace(keyTo + 1, limit);
    if (at < 0 || line.charCodeAt(at) !== colon) return fail(reader, jsonFaults.json);
    if (!reader.read(at + 1, limit)) return isFaulty;
    const { next } = reader;
    const outcome = visitor.field(key, depth);
    if (outcome !== goesOn) return outcome;
    at = reader.skipSpace(next, limit);
    if (at < 0) return fail(reader, jsonFaults.array);
    const separator = line.charCodeAt(at);
    if (separator === closeBrace) return goesOn;
    if (separator !== comma) return fail(reader, jsonFaults.object);
    at = reader.skipSpace(at + 1, limit);
    if (at < 0) return fail(reader, jsonFaults.array);
  }
}

function fail(reader: JsonReader, fault: string): FieldOutcome {
  reader.fault = fault;
  return isFaulty;
}

const bucketCount = 1024;
const maxEntries = 8192;
/** Maximum number of keys per bucket, so that no line can make lookups slow; further keys are not stored. */
const maxChain = 32;
/** Cached properties of a key as written in lines, within the object whose key is `parent`. */
export class KeyEntry {
  readonly raw: string;
  readonly hash: number;
  readonly parent: KeyEntry | undefined;
  readonly next: KeyEntry | undefined;
  /** The label for a value of this key; undefined when there is none or the query does not use it. */
  readonly slot: Slot | undefined;
  /** The name of the label if the stream or the metadata have a label with the slot's name. */
  readonly clashName: string;
  /** The prefix of the names of labels in an object under this key. */
  readonly prefix: string;
  /** True if the query may use any label in an object under this key. */
  readonly isPrefixWanted: boolean;
  /** True if the key contains an invalid escape. */
  readonly isFaulty: boolean;

  constructor(parts: Omit<Readonly<KeyEntry>, 'targetIn'>) {
    this.raw = parts.raw;
    this.hash = parts.hash;
    this.parent = parts.parent;
    this.next = parts.next;
    this.slot = parts.slot;
    this.clashName = parts.clashName;
    this.prefix = parts.prefix;
    this.isPrefixWanted = parts.isPrefixWanted;
    this.isFaulty = parts.isFaulty;
  }

  /** The slot for a value of this key in the current line, if the query uses it and it has no value yet. */
  targetIn(work: WorkLine): Slot | undefined {
    const { slot } = this;
    if (slot === undefined) return undefined;
    const target = work.isTaken(slot) ? work.slots.slot(this.clashName) : slot;
    return work.wants(target) ? target : undefined;
  }
}

/** Finds the slots of keys by their offsets in a line, without creating strings: the same keys occur again and again. */
export class KeyTable {
  readonly #slots: SlotTable;
  readonly #hints: Hints;
  readonly #unescape: (raw: string) => string | undefined;
  #buckets: (KeyEntry | undefined)[] = [];
  #size = 0;
  #generation = -1;

  /** @param unescape decodes a key as written in the line; undefined when it is invalid */
  constructor(slots: SlotTable, hints: Hints, unescape: (raw: string) => string | undefined = (raw) => raw) {
    this.#slots = slots;
    this.#hints = hints;
    this.#unescape = unescape;
  }

  /** Call once before the keys of a line. */
  startLine(): void {
    if (this.#generation === this.#slots.generation && this.#size < maxEntries) return;
    this.#generation = this.#slots.generation;
    this.#buckets = new Array<KeyEntry | undefined>(bucketCount).fill(undefined);
    this.#size = 0;
  }

  /** The entry of the key between two offsets, whose hash the caller computed while reading it. */
  find(line: string, from: number, to: number, hash: number, parent: KeyEntry | undefined): KeyEntry {
    const index = (hash ^ (hash >>> 15)) & (bucketCount - 1);
    const first = this.#buckets[index];
    let chain = 0;
    for (let entry = first; entry !== undefined; entry = entry.next) {
      if (entry.hash === hash && entry.parent === parent && matchesAt(entry.raw, line, from, to))
        return entry;
      chain += 1;
    }
    const made = this.#make(ownText(line.slice(from, to)), hash, parent, first);
    if (chain < maxChain && this.#size < maxEntries) {
      this.#buckets[index] = made;
      this.#size += 1;
    }
    return made;
  }

  #make(raw: string, hash: number, parent: KeyEntry | undefined, next: KeyEntry | undefined): KeyEntry {
    const text = this.#unescape(raw);
    const key = text ?? raw;
    const name = nestedLabelName(parent?.prefix ?? '', key);
    // A blank key gives a label only inside an object.
    const hasLabel = name !== '' || parent !== undefined;
    const clashName =
      parent === undefined ? name + clashSuffix : nestedLabelName(parent.prefix, key + clashSuffix);
    return new KeyEntry({
      raw,
      hash,
      parent,
      next,
      slot: hasLabel ? this.#wantedSlot(name, clashName) : undefined,
      clashName,
      prefix: name,
      isPrefixWanted: this.#isPrefixWanted(name),
      isFaulty: text === undefined,
    });
  }

  #wantedSlot(name: string, clashName: string): Slot | undefined {
    const { required } = this.#hints;
    const isWanted = required === undefined || required.has(name) || required.has(clashName);
    return isWanted ? this.#slots.slot(name) : undefined;
  }

  #isPrefixWanted(prefix: string): boolean {
    const { required } = this.#hints;
    if (required === undefined || prefix === '') return true;
    for (const name of required) if (name.startsWith(prefix)) return true;
    return false;
  }
}

function matchesAt(raw: string, line: string, from: number, to: number): boolean {
  const { length } = raw;
  if (length !== to - from) return false;
  for (let at = 0; at < length; at += 1) {
    if (raw.charCodeAt(at) !== line.charCodeAt(from + at)) return false;
  }
  return true;
}

/** The path of keys to a value. */
export type KeyPath = readonly string[];

/** Paths by the labels that `| json` gives their values. */
export type PathsByLabel = Pick<ReadonlyMap<string, KeyPath>, 'get'>;

const maxDepth = 100;
/** Nanoseconds per character: every few characters may be a separate path. */
export const keyPathsCost = 250;

interface Place {
  readonly prefix: string;
  readonly path: KeyPath;
}

/**
 * The paths of a JSON line's values by the labels that `| json` gives them in addition to the stream's. If the JSON is invalid, only the
 * paths before the error are included.
 */
export function jsonPathsOf(line: string, stream: readonly Label[]): ReadonlyMap<string, KeyPath> {
  const paths = new PathCollector(line, stream);
  readFields(paths.reader, 0, line.length, paths, undefined, 0);
  return paths.byLabel;
}

class PathCollector implements FieldVisitor<Place> {
  readonly reader = new JsonReader();
  readonly byLabel = new Map<string, KeyPath>();
  readonly #taken: ReadonlySet<string>;

  constructor(line: string, stream: readonly Label[]) {
    this.reader.start(line);
    this.#taken = new Set(stream.map(([name]) => name));
  }

  key(from: number, to: number, _hash: number, parent: Place | undefined): Place | undefined {
    const key = unescapeJson(this.reader.line.slice(from, to));
    if (key === undefined) return undefined;
    return { prefix: nestedLabelName(parent?.prefix ?? '', key), path: [...(parent?.path ?? []), key] };
  }

  field(place: Place, depth: number): FieldOutcome {
    const { reader, byLabel } = this;
    if (reader.kind === jsonObject) {
      return depth < maxDepth ? readFields(reader, reader.from, reader.to, this, place, depth + 1) : goesOn;
    }
    const isValue = reader.kind !== jsonArray && reader.kind !== jsonNull;
    const label = this.#taken.has(place.prefix) ? `${place.prefix}${clashSuffix}` : place.prefix;
    if (isValue && !byLabel.has(label)) byLabel.set(label, shownPath(place.path));
    return goesOn;
  }
}

/** Loki strips its own suffix for name clashes from the keys of nested values. */
function shownPath(path: KeyPath): KeyPath {
  if (path.length === 1) return path;
  return path.map((key) => (key.endsWith(clashSuffix) ? key.slice(0, -clashSuffix.length) : key));
}
