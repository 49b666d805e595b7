import type { JsonStage } from '../../ast.js';
import { parseJsonPath, type JsonPath } from '../../paths/json-path.js';
import type { Hints, RunStage, WorkLine } from '../../pipeline/work-line.js';
import {
  jsonArray,
  jsonError,
  jsonFaults,
  jsonNull,
  jsonObject,
  JsonReader,
  jsonString,
  readJsonText,
  unescapeJson,
} from '../../pipeline/json-value.js';
import type { SlotTable, Slot } from '../../pipeline/slot.js';

/** Nanoseconds per character of the line and step of a path. */
const pathCost = 5;

/**
 * `| json name="path"`: a label per parameter, empty if the path leads nowhere; objects and arrays yield their text.
 * @throws PathError for an invalid path
 */
export function compileJsonParams({ params }: JsonStage, slots: SlotTable, hints: Hints): RunStage {
  const paths = params.map(({ path }) => parseJsonPath(path));
  const targets = params.map(({ name }) => slots.pin(name));
  if (hints.skipsParsers) return () => true;
  // Every path is compared with the keys on its way, and an array may be read again for each of its steps.
  const cost = pathCost * (1 + paths.reduce((sum, path) => sum + path.length, 0));
  const reader = new JsonReader();
  const taker = new ParamTaker(reader, targets);
  return (work) => {
    const { line } = work;
    if (line === '' || work.hasAllRequired()) return true;
    if (!/^["{[]/.test(line)) {
      work.failParsing(jsonError);
      return true;
    }
    work.charge(cost);
    reader.start(line);
    taker.start(work);
    findPaths(reader, paths, taker);
    if (taker.count === targets.length) return true;
    for (const slot of targets) if (work.get(slot) === undefined) work.set(slot, '');
    return true;
  };
}

class ParamTaker implements PathVisitor {
  /** Number of paths that have led to a value. */
  count = 0;
  #work: WorkLine | undefined;
  readonly #reader: JsonReader;
  readonly #targets: readonly Slot[];

  constructor(reader: JsonReader, targets: readonly Slot[]) {
    this.#reader = reader;
    this.#targets = targets;
  }

  start(work: WorkLine): void {
    this.#work = work;
    this.count = 0;
  }

  found(path: number): void {
    const slot = this.#targets[path];
    const work = this.#work;
    if (slot === undefined || work === undefined) return;
    work.set(work.target(slot), this.#text());
    this.count += 1;
  }

  faulty(fault: string): void {
    this.#work?.failParsing(jsonError, fault);
  }

  #text(): string {
    const { line, kind, from, to } = this.#reader;
    switch (kind) {
      case jsonNull:
        return '';
      case jsonObject:
        return line.slice(from, to);
      case jsonString:
      case jsonArray:
        return readJsonText(line, from, to);
      default:
        return line.slice(from, to);
    }
  }
}

const quote = 0x22;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;

/** Receives the values that paths lead to; the value is in the reader. */
interface PathVisitor {
  found(path: number): void;
  faulty(fault: string): void;
}

/**
 * Follows several paths through a line in one pass. Loki does not validate the line for this: it counts brackets and takes any string
 * before a colon for a key, so invalid lines still yield values. The first value of a path wins.
 */
function findPaths(reader: JsonReader, paths: readonly JsonPath[], visitor: PathVisitor): void {
  new PathSearch(reader, paths, visitor).run();
}

/** A step as the text that Loki compares with keys; an index includes its brackets. */
type Step = string;

class PathSearch {
  readonly #reader: JsonReader;
  readonly #paths: readonly (readonly Step[])[];
  readonly #visitor: PathVisitor;
  readonly #isFound: boolean[];
  readonly #deepest: number;
  /** The keys on the way to the current position. */
  readonly #keys: string[] = [];
  #level = 0;
  #foundCount = 0;

  constructor(reader: JsonReader, paths: readonly JsonPath[], visitor: PathVisitor) {
    this.#reader = reader;
    this.#paths = paths.map((path) => path.map((step) => (typeof step === 'number' ? `[${step}]` : step)));
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
    const key = unescapeJson(line.slice(at + 1, end));
    if (key === undefined) return -1;
    if (this.#deepest < this.#level) return next + 1;
    if (this.#level < 1) {
      this.#visitor.faulty(jsonFaults.json);
      return -1;
    }
    this.#keys[this.#level - 1] = key;
    for (const [index, path] of this.#paths.entries()) {
      if (path.length !== this.#level || this.#isFound[index] === true || !this.#isOnWay(path, this.#level))
        continue;
      this.#markFound(index);
      this.#readAt(index, next + 1, line.length);
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
    const wanted = new Map<number, number>();
    for (const [index, path] of this.#paths.entries()) {
      const position = indexOf(path[level]);
      if (position !== undefined && this.#isFound[index] !== true && this.#isOnWay(path, level))
        wanted.set(index, position);
    }
    if (wanted.size === 0) return this.#reader.blockEnd(at, line.length, openBracket, closeBracket);
    this.#level += 1;
    const end = eachElement(this.#reader, at, line.length, (position) => {
      const { kind, from, to } = this.#reader;
      for (const [index, own] of wanted) {
        if (own !== position) continue;
        this.#markFound(index);
        const found = seek(this.#reader, from, to, (this.#paths[index] ?? []).slice(level + 1));
        if (found < 0) continue;
        if (kind === jsonString) {
          // The element has lost its quotes: a value found in it is a text up to its end.
          this.#reader.place(jsonString, found, to);
          this.#visitor.found(index);
        } else this.#readAt(index, found, to);
      }
    });
    return this.#isComplete ? -1 : end;
  }

  #readAt(index: number, at: number, limit: number): void {
    if (this.#reader.read(at, limit)) this.#visitor.found(index);
    else this.#visitor.faulty(this.#reader.fault);
  }

  #isOnWay(path: readonly Step[], steps: number): boolean {
    for (let step = 0; step < steps; step += 1) if (path[step] !== this.#keys[step]) return false;
    return true;
  }

  #markFound(index: number): void {
    this.#isFound[index] = true;
    this.#foundCount += 1;
  }
}

/** The index that a step denotes; 0 for brackets without a number. */
function indexOf(step: Step | undefined): number | undefined {
  if (step?.startsWith('[') !== true || step.length < 3) return undefined;
  return readIndex(step) ?? 0;
}

function readIndex(step: Step): number | undefined {
  const inner = step.slice(1, -1);
  return /^[+-]?[0-9]+$/.test(inner) ? Number(inner) : undefined;
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

/**
 * The start of a path's value within a part of the line, or -1. Like the search above it counts braces: it passes repeated keys until one
 * leads on. Once a key has matched without an object after it, any array of that level counts as its value.
 */
function seek(reader: JsonReader, from: number, to: number, steps: readonly Step[]): number {
  if (steps.length === 0) return from;
  const { line } = reader;
  let level = 0;
  let matched = 0;
  let enters = true;
  let at = from;
  while (at >= 0 && at < to) {
    switch (line.charCodeAt(at)) {
      case quote: {
        const end = reader.stringEnd(at + 1, to);
        const next = end < 0 ? -1 : reader.skipSpace(end + 1, to);
        if (next < 0) return -1;
        if (line.charCodeAt(next) !== colon) {
          at = next;
          break;
        }
        const key = level >= 1 && level <= steps.length ? unescapeJson(line.slice(at + 1, end)) : undefined;
        if (key === undefined) return -1;
        enters = key === steps[level - 1];
        if (enters && matched === level - 1) matched += 1;
        if (matched === steps.length) return next + 1;
        at = next + 1;
        break;
      }
      case openBrace:
        if (enters) level += 1;
        at = enters ? at + 1 : reader.blockEnd(at, to, openBrace, closeBrace);
        break;
      case closeBrace:
        level -= 1;
        if (level === matched) matched -= 1;
        at += 1;
        break;
      case openBracket:
        if (matched === level && steps[level]?.startsWith('[') === true) {
          return seekElement(reader, at, to, steps.slice(level));
        }
        at = reader.blockEnd(at, to, openBracket, closeBracket);
        break;
      case colon:
        return -1;
      default:
        at += 1;
    }
  }
  return -1;
}

/** As `seek`, for a path that begins with an index into the array that starts here. */
function seekElement(
  reader: JsonReader,
  at: number,
  to: number,
  [step = '', ...rest]: readonly Step[],
): number {
  const wanted = step.length > 2 && step.endsWith(']') ? readIndex(step) : undefined;
  let found: { readonly from: number; readonly to: number } | undefined;
  eachElement(reader, at, to, (position) => {
    const quotes = reader.kind === jsonString ? 1 : 0;
    if (position === wanted) found = { from: reader.from - quotes, to: reader.to + quotes };
  });
  return found === undefined ? -1 : seek(reader, found.from, found.to, rest);
}
