import type { JsonStage } from '../ast.js';
import { parseJsonPath } from '../paths/json-path.js';
import type { Hints } from './hints.js';
import { findPaths, type PathVisitor } from './json-paths.js';
import { jsonError } from './json-stage.js';
import { readJsonText } from './json-text.js';
import { jsonArray, jsonNull, jsonObject, jsonString, JsonReader } from './json-value.js';
import type { SlotTable } from './slot-table.js';
import type { Slot } from './slot.js';
import type { RunStage, WorkLine } from './work-line.js';

/** Nanoseconds per character of the line and step of a path. */
const pathCost = 5;

/**
 * `| json name="path"`: a label per parameter, empty when the path leads nowhere; objects and arrays give their text.
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
  /** How many paths have led to a value. */
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
