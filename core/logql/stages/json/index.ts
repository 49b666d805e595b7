import type { JsonStage } from '../../ast.js';
import { parseJsonPath } from '../../paths/json-path.js';
import type { Hints, RunStage, WorkLine } from '../../pipeline/work-line.js';
import {
  type FieldOutcome,
  type FieldVisitor,
  goesOn,
  isDone,
  isDropped,
  isFaulty,
  type KeyEntry,
  KeyTable,
  readFields,
} from '../../pipeline/key-table.js';
import {
  jsonArray,
  jsonBoolean,
  jsonCost,
  jsonError,
  jsonNull,
  jsonNumber,
  jsonObject,
  JsonReader,
  jsonString,
  unescapeJson,
} from '../../pipeline/json-value.js';
import { type SlotTable, verbatim, jsonEscapes } from '../../pipeline/slot.js';
import { stage } from '../../syntax/log-rules.js';
import { grammar, stageWord } from '../../syntax/tokens.js';
import {
  addParamRules,
  type Extraction,
  paramChecks,
  paramNames,
  params,
  parserTraits,
  printParams,
  renameParams,
  type StageDescriptor,
} from '../stage.js';
import { compileJsonParams } from './params.js';

/** `| json` */
export const json: StageDescriptor<JsonStage> = {
  ...parserTraits,
  word: 'json',
  addRules() {
    const json = stageWord('json');
    addParamRules();
    grammar.rule(stage)([json], (_, span) => ({ kind: 'json', params: [], span }));
    grammar.rule(stage)([json, params], ([, list], span) => ({ kind: 'json', params: list, span }));
  },
  print: (made) => `| json${printParams(made.params)}`,
  checks: (made) => paramChecks(made, parseJsonPath),
  rename: renameParams,
  source: (made) => (made.params.length === 0 ? 'json-keys' : 'pieces'),
  extraction: (made) => (made.params.length === 0 ? { from: 'json-keys' } : pathsOf(made.params)),
  objectKeys: (made) => (made.params.length === 0 ? 'all' : made.params.map(({ path }) => firstKey(path))),
  makes: paramNames,
  compile: (made, { slots, hints }) =>
    made.params.length > 0 ? compileJsonParams(made, slots, hints) : compileJson(slots, hints),
};

function firstKey(path: string): string {
  return String(parseJsonPath(path)[0]);
}

/** Undefined unless each label has one path, of keys that are usual names. */
function pathsOf(list: JsonStage['params']): Extraction | undefined {
  const paths = list.map(({ name, path }) => [name, parseJsonPath(path)] as const);
  const areUsual = paths.every(([, path]) => path.every((step) => usualKey.test(String(step))));
  const names = new Set(list.map(({ name }) => name));
  if (!areUsual || names.size < list.length) return undefined;
  return { from: 'json-paths', paths: paths.map(([name, path]) => [name, path.map(String)]) };
}

const usualKey = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** Labels of objects nested deeper than this are ignored: lines are untrusted and must not overflow the stack. */
const maxDepth = 64;

/** `| json`: a label for every string, number and boolean of the line, named by the path of keys to it. */
function compileJson(slots: SlotTable, hints: Hints): RunStage {
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
    // The comparison runs even for the last label that is needed. It may then mark the line with an error, but does not drop it.
    const passes = work.passes(target);
    if (work.hasAllRequired()) return isDone;
    return passes ? goesOn : isDropped;
  }
}
