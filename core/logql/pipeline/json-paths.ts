import type { JsonPath } from '../paths/json-path.js';
import { unescapeJson } from './json-text.js';
import { jsonArray, jsonFaults, jsonObject, type JsonReader } from './json-value.js';

const quote = 0x22;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;

/** Receives the values that paths lead to; the value is in the reader. */
export interface PathVisitor {
  found(path: number): void;
  faulty(fault: string): void;
}

/**
 * Follows several paths through a line in one pass. Loki does not validate the line for this: it counts brackets and takes any string
 * before a colon as a key, so broken lines still give values. The first value of a path wins.
 */
export function findPaths(reader: JsonReader, paths: readonly JsonPath[], visitor: PathVisitor): void {
  new PathSearch(reader, paths, visitor).run();
}

class PathSearch {
  readonly #reader: JsonReader;
  readonly #paths: readonly JsonPath[];
  readonly #visitor: PathVisitor;
  readonly #isFound: boolean[];
  readonly #deepest: number;
  /** The keys on the way to the current position. */
  readonly #keys: string[] = [];
  #level = 0;
  #foundCount = 0;

  constructor(reader: JsonReader, paths: readonly JsonPath[], visitor: PathVisitor) {
    this.#reader = reader;
    this.#paths = paths;
    this.#visitor = visitor;
    this.#isFound = paths.map(() => false);
    this.#deepest = Math.max(0, ...paths.map((path) => path.length));
  }

  run(): void {
    const { line } = this.#reader;
    let at = 0;
    while (at >= 0 && at < line.length) {
      switch (line.charCodeAt(at)) {
        case quote:
          at = this.#string(at);
          break;
        case openBrace:
          this.#level += 1;
          at += 1;
          break;
        case closeBrace:
        case closeBracket:
          this.#level -= 1;
          at += 1;
          break;
        case openBracket:
          at = this.#array(at);
          break;
        default:
          at += 1;
      }
    }
  }

  get #isComplete(): boolean {
    return this.#foundCount === this.#paths.length;
  }

  /** Reads a string, which is a key when a colon follows; returns the next offset, or -1. */
  #string(at: number): number {
    const { line } = this.#reader;
    const end = this.#reader.stringEnd(at + 1, line.length);
    const next = end < 0 ? -1 : this.#reader.skipSpace(end + 1, line.length);
    if (next < 0 || line.charCodeAt(next) !== colon) return next;
    if (this.#deepest < this.#level) return next + 1;
    if (this.#level < 1) {
      this.#visitor.faulty(jsonFaults.json);
      return -1;
    }
    const key = unescapeJson(line.slice(at + 1, end));
    if (key === undefined) return -1;
    this.#keys[this.#level - 1] = key;
    for (const [index, path] of this.#paths.entries()) {
      if (path.length !== this.#level || this.#isFound[index] === true || !this.#isOnWay(path, this.#level))
        continue;
      this.#markFound(index);
      if (this.#reader.read(next + 1, line.length)) this.#visitor.found(index);
      else this.#visitor.faulty(this.#reader.fault);
    }
    return this.#isComplete ? -1 : next + 1;
  }

  /** Enters an array only for paths with an index into it; returns the next offset, or -1. */
  #array(at: number): number {
    const { line } = this.#reader;
    const level = this.#level;
    if (level < 0) {
      this.#visitor.faulty(jsonFaults.json);
      return -1;
    }
    const wanted: number[] = [];
    for (const [index, path] of this.#paths.entries()) {
      const isInto = typeof path[level] === 'number' && this.#isFound[index] !== true;
      if (isInto && this.#isOnWay(path, level)) wanted.push(index);
    }
    if (wanted.length === 0) return this.#reader.blockEnd(at, line.length, openBracket, closeBracket);
    this.#level += 1;
    const end = eachElement(this.#reader, at, line.length, (position) => {
      const place = placeOf(this.#reader);
      for (const index of wanted) {
        const path = this.#paths[index] ?? [];
        if (path[level] !== position) continue;
        this.#markFound(index);
        place.restore();
        if (walk(this.#reader, path.slice(level + 1))) this.#visitor.found(index);
      }
    });
    return this.#isComplete ? -1 : end;
  }

  #isOnWay(path: JsonPath, steps: number): boolean {
    for (let step = 0; step < steps; step += 1) if (path[step] !== this.#keys[step]) return false;
    return true;
  }

  #markFound(index: number): void {
    this.#isFound[index] = true;
    this.#foundCount += 1;
  }
}

/** Visits the elements of an array, each in the reader; returns the offset of its end or of the first error. */
function eachElement(
  reader: JsonReader,
  from: number,
  limit: number,
  visit: (position: number) => void,
): number {
  let at = reader.skipSpace(from + 1, limit);
  if (at < 0) return limit;
  if (reader.line.charCodeAt(at) === closeBracket) return at;
  for (let position = 0; ; position += 1) {
    if (!reader.read(at, limit)) return at;
    const { next } = reader;
    visit(position);
    const behind = reader.skipSpace(next, limit);
    if (behind < 0) return limit;
    if (reader.line.charCodeAt(behind) !== comma) return behind;
    at = behind + 1;
  }
}

/** Moves the reader from its value along the rest of a path; false when the path ends early. */
function walk(reader: JsonReader, steps: JsonPath): boolean {
  return steps.every((step) => (typeof step === 'number' ? toElement(reader, step) : toField(reader, step)));
}

function toElement(reader: JsonReader, wanted: number): boolean {
  if (reader.kind !== jsonArray) return false;
  let place: Place | undefined;
  eachElement(reader, reader.from, reader.to, (position) => {
    if (position === wanted) place = placeOf(reader);
  });
  place?.restore();
  return place !== undefined;
}

function toField(reader: JsonReader, wanted: string): boolean {
  if (reader.kind !== jsonObject) return false;
  const { line, to } = reader;
  let at = reader.skipSpace(reader.from + 1, to);
  while (at >= 0 && line.charCodeAt(at) === quote) {
    const end = reader.stringEnd(at + 1, to);
    const behind = end < 0 ? -1 : reader.skipSpace(end + 1, to);
    if (behind < 0 || line.charCodeAt(behind) !== colon || !reader.read(behind + 1, to)) return false;
    if (unescapeJson(line.slice(at + 1, end)) === wanted) return true;
    const next = reader.skipSpace(reader.next, to);
    at = next >= 0 && line.charCodeAt(next) === comma ? reader.skipSpace(next + 1, to) : -1;
  }
  return false;
}

interface Place {
  restore(): void;
}

/** Saves the reader's position. */
function placeOf(reader: JsonReader): Place {
  const { kind, from, to, next } = reader;
  return {
    restore: () => {
      reader.kind = kind;
      reader.from = from;
      reader.to = to;
      reader.next = next;
    },
  };
}
