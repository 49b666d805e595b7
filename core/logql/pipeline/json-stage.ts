import type { Hints } from './hints.js';
import {
  goesOn,
  isDone,
  isDropped,
  isFaulty,
  readFields,
  type FieldOutcome,
  type FieldVisitor,
} from './json-fields.js';
import { unescapeJson } from './json-text.js';
import {
  jsonArray,
  jsonBoolean,
  jsonFaults,
  jsonNull,
  jsonNumber,
  jsonObject,
  JsonReader,
  jsonString,
} from './json-value.js';
import { KeyTable, type KeyEntry } from './key-table.js';
import type { SlotTable } from './slot-table.js';
import { verbatim, jsonEscapes } from './slot.js';
import type { RunStage, WorkLine } from './work-line.js';

export const jsonError = 'JSONParserErr';

/** Labels of objects nested deeper than this are ignored: lines are untrusted and must not overflow the stack. */
const maxDepth = 64;
/** Nanoseconds per character: at worst it is read again at every depth, or every few characters are a label of their own. */
export const jsonCost = 250;

/** `| json`: a label for every string, number and boolean of the line, named by the path of keys to it. */
export function compileJson(slots: SlotTable, hints: Hints): RunStage {
  if (hints.skipsParsers) return () => true;
  const scanner = new JsonScanner(slots, hints);
  return (work) => scanner.run(work);
}

class JsonScanner implements FieldVisitor<KeyEntry | undefined> {
  readonly #reader = new JsonReader();
  readonly #keys: KeyTable;
  #work: WorkLine | undefined;
  #hasReplacement = false;

  constructor(slots: SlotTable, hints: Hints) {
    this.#keys = new KeyTable(slots, hints, unescapeJson);
  }

  run(work: WorkLine): boolean {
    const { line } = work;
    work.charge(jsonCost);
    this.#work = work;
    this.#keys.startLine();
    this.#reader.start(line);
    this.#hasReplacement = line.includes('\ufffd');
    const outcome = readFields(this.#reader, 0, line.length, this, undefined, 0);
    if (outcome === isFaulty) work.failParsing(jsonError, this.#reader.fault);
    return outcome !== isDropped;
  }

  field(
    keyFrom: number,
    keyTo: number,
    keyHash: number,
    parent: KeyEntry | undefined,
    depth: number,
  ): FieldOutcome {
    const reader = this.#reader;
    const { line, kind } = reader;
    const entry = this.#keys.find(line, keyFrom, keyTo, keyHash, parent);
    if (entry.isFaulty) {
      reader.fault = jsonFaults.escape;
      return isFaulty;
    }
    switch (kind) {
      case jsonString:
      case jsonNumber:
      case jsonBoolean:
        return this.#take(entry);
      case jsonObject:
        if (!entry.isPrefixWanted || depth >= maxDepth) return goesOn;
        return readFields(reader, reader.from, reader.to, this, entry, depth + 1);
      case jsonArray:
      case jsonNull:
        return goesOn;
    }
  }

  #take({ slot }: KeyEntry): FieldOutcome {
    const work = this.#work;
    if (slot === undefined || work === undefined) return goesOn;
    const target = work.target(slot);
    if (!work.wants(target)) return goesOn;
    const { line, kind, from, to } = this.#reader;
    const isPlain = kind !== jsonString || !(this.#hasReplacement || this.#reader.hasBackslash(from, to));
    work.take(target, line, from, to, isPlain ? verbatim : jsonEscapes);
    if (!work.passes(target)) return isDropped;
    return work.hasAllRequired ? isDone : goesOn;
  }
}
