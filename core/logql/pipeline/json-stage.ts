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

class JsonScanner implements FieldVisitor<KeyEntry> {
  readonly #reader = new JsonReader();
  readonly #keys: KeyTable;
  #work: WorkLine | undefined;
  #hasReplacement = false;

  constructor(slots: SlotTable, hints: Hints) {
    this.#keys = new KeyTable(slots, hints, unescapeJson);
  }

  run(work: WorkLine): boolean {
    if (work.hasAllRequired()) return true;
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

  key(from: number, to: number, hash: number, parent: KeyEntry | undefined): KeyEntry | undefined {
    const entry = this.#keys.find(this.#reader.line, from, to, hash, parent);
    return entry.isFaulty ? undefined : entry;
  }

  field(entry: KeyEntry, depth: number): FieldOutcome {
    const reader = this.#reader;
    switch (reader.kind) {
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

  #take(entry: KeyEntry): FieldOutcome {
    const work = this.#work;
    const target = work && entry.targetIn(work);
    if (work === undefined || target === undefined) return goesOn;
    const { line, kind, from, to } = this.#reader;
    const isPlain = kind !== jsonString || !(this.#hasReplacement || this.#reader.hasBackslash(from, to));
    work.take(target, line, from, to, isPlain ? verbatim : jsonEscapes);
    // The comparison is made even for the last label that is needed, and may mark the line, but then does not drop it.
    const passes = work.passes(target);
    if (work.hasAllRequired()) return isDone;
    return passes ? goesOn : isDropped;
  }
}
