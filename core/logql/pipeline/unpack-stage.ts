import type { Hints } from './hints.js';
import { goesOn, isFaulty, readFields, type FieldOutcome, type FieldVisitor } from './json-fields.js';
import { jsonCost, jsonError } from './json-stage.js';
import { readJsonText, unescapeJson } from './json-text.js';
import { jsonFaults, JsonReader, jsonString } from './json-value.js';
import { KeyTable, type KeyEntry } from './key-table.js';
import type { SlotTable } from './slot-table.js';
import type { Slot } from './slot.js';
import type { RunStage } from './work-line.js';

const packedEntry = '_entry';

/** `| unpack`: the line becomes the value of `_entry`, and the other strings of the object become labels. */
export function compileUnpack(slots: SlotTable, hints: Hints): RunStage {
  if (hints.skipsParsers) return () => true;
  const reader = new JsonReader();
  const fields = new PackedFields(reader, slots, hints);
  return (work) => {
    const { line } = work;
    if (line === '') return true;
    work.charge(jsonCost);
    if (!line.startsWith('{')) {
      work.failParsing(jsonError, 'expecting json object(6), but it is not');
      return true;
    }
    reader.start(line);
    fields.start();
    if (readFields(reader, 0, line.length, fields, undefined, 0) === isFaulty) {
      work.failParsing(jsonError, reader.fault);
      return true;
    }
    const { entry } = fields;
    if (entry === undefined) return true;
    for (const [slot, value] of fields.labels) {
      const target = work.target(slot);
      if (!work.wants(target)) continue;
      work.takeText(target, value);
      if (!work.passes(target)) return false;
    }
    work.line = entry;
    return true;
  };
}

class PackedFields implements FieldVisitor<undefined> {
  entry: string | undefined;
  labels: (readonly [Slot, string])[] = [];
  readonly #reader: JsonReader;
  readonly #keys: KeyTable;

  constructor(reader: JsonReader, slots: SlotTable, hints: Hints) {
    this.#reader = reader;
    this.#keys = new KeyTable(slots, hints, unescapeJson);
  }

  start(): void {
    this.#keys.startLine();
    this.entry = undefined;
    this.labels = [];
  }

  field(keyFrom: number, keyTo: number, keyHash: number): FieldOutcome {
    const reader = this.#reader;
    const key: KeyEntry = this.#keys.find(reader.line, keyFrom, keyTo, keyHash, undefined);
    if (key.isFaulty) {
      reader.fault = jsonFaults.escape;
      return isFaulty;
    }
    if (reader.kind !== jsonString) return goesOn;
    const value = readJsonText(reader.line, reader.from, reader.to);
    if (key.raw === packedEntry) this.entry = value;
    else if (key.slot !== undefined) this.labels.push([key.slot, value]);
    return goesOn;
  }
}
