import type { UnpackStage } from '../ast.js';
import type { Hints, RunStage, WorkLine } from '../pipeline/work-line.js';
import { type FieldOutcome, type FieldVisitor, goesOn, isFaulty, readFields } from '../pipeline/key-table.js';
import {
  jsonCost,
  jsonError,
  jsonFaults,
  JsonReader,
  jsonString,
  readJsonText,
  unescapeJson,
} from '../pipeline/json-value.js';
import { labelName, ownText, type Slot } from '../pipeline/slot.js';
import { clashSuffix } from '../pipeline/types.js';
import { stage } from '../syntax/log-rules.js';
import { grammar, stageWord } from '../syntax/tokens.js';
import { parserTraits, type StageDescriptor } from './stage.js';

/** `| unpack` */
export const unpack: StageDescriptor<UnpackStage> = {
  ...parserTraits,
  word: 'unpack',
  addRules() {
    grammar.rule(stage)([stageWord('unpack')], (_, span) => ({ kind: 'unpack', span }));
  },
  print: () => '| unpack',
  order: 'barrier',
  changesLine: 'yes',
  source: () => 'other-lines',
  makes: () => 'all',
  compile: (_, { hints }) => compileUnpack(hints),
  whyHere: 'lineRewrite',
};

const packedEntry = '_entry';

/** `| unpack`: the line becomes the value of `_entry`, and the other strings of the object become labels. */
function compileUnpack(hints: Hints): RunStage {
  if (hints.skipsParsers) return () => true;
  const reader = new JsonReader();
  return (work) => {
    const { line } = work;
    if (line === '' || work.hasAllRequired()) return true;
    work.charge(jsonCost);
    if (!line.startsWith('{')) {
      work.failParsing(jsonError, 'expecting json object(6), but it is not');
      return true;
    }
    reader.start(line);
    const fields = new PackedFields(reader, work, hints);
    if (readFields(reader, 0, line.length, fields, undefined, 0) === isFaulty) {
      work.failParsing(jsonError, reader.fault);
      return true;
    }
    const { entry } = fields;
    if (entry === undefined) return true;
    for (const [slot, value] of fields.labels) {
      work.set(slot, value);
      if (!work.passes(slot)) return false;
    }
    work.line = entry;
    return true;
  };
}

/** Collects the strings of a packed line. The line before the stage decides whether a label is wanted. */
class PackedFields implements FieldVisitor<string> {
  entry: string | undefined;
  readonly labels: (readonly [Slot, string])[] = [];
  readonly #reader: JsonReader;
  readonly #work: WorkLine;
  readonly #required: Hints['required'];

  constructor(reader: JsonReader, work: WorkLine, { required }: Hints) {
    this.#reader = reader;
    this.#work = work;
    this.#required = required;
  }

  key(from: number, to: number): string | undefined {
    return unescapeJson(this.#reader.line.slice(from, to));
  }

  field(key: string): FieldOutcome {
    const { line, kind, from, to } = this.#reader;
    if (kind !== jsonString) return goesOn;
    if (key !== packedEntry) {
      this.#add(key, readJsonText(line, from, to));
      return goesOn;
    }
    this.entry = unescapeJson(line.slice(from, to));
    if (this.entry !== undefined) return goesOn;
    this.#reader.fault = jsonFaults.escape;
    return isFaulty;
  }

  /** Clashes and hints are decided by names as written; only then are they converted to label names. */
  #add(key: string, value: string): void {
    const { slots } = this.#work;
    const written = slots.known(key);
    const name = written !== undefined && this.#work.isTaken(written) ? key + clashSuffix : key;
    if (this.#required?.has(name) === false || slots.known(name)?.extractedAt === this.#work.serial) return;
    this.labels.push([slots.slot(ownText(labelName(name))), value]);
  }
}
