import type { LogfmtStage, ParserParam } from '../ast.js';
import { parseLogfmtKey } from '../paths/logfmt-key.js';
import type { Hints, RunStage, WorkLine } from '../pipeline/work-line.js';
import { KeyTable } from '../pipeline/key-table.js';
import { withoutInvalid } from '../pipeline/json-value.js';
import { labelName, type SlotTable, verbatim, type Slot } from '../pipeline/slot.js';
import { atEnd, atFault, LogfmtReader } from '../pipeline/logfmt-reader.js';
import { errorLabel } from '../pipeline/types.js';
import { stage } from '../syntax/log-rules.js';
import { grammar, stageWord, token } from '../syntax/tokens.js';
import {
  paramChecks,
  paramNames,
  params,
  parserTraits,
  printParams,
  renameParams,
  type StageDescriptor,
} from './stage.js';

/** `| logfmt` */
export const logfmt: StageDescriptor<LogfmtStage> = {
  ...parserTraits,
  word: 'logfmt',
  addRules,
  print({ strict, keepEmpty, params: list }) {
    return `| logfmt${strict ? ' --strict' : ''}${keepEmpty ? ' --keep-empty' : ''}${printParams(list)}`;
  },
  checks: (made) => paramChecks(made, parseLogfmtKey),
  rename: renameParams,
  source: ({ params: list, strict, keepEmpty }) => {
    if (list.length > 0) return 'pieces';
    if (keepEmpty) return 'all-pair-keys';
    return strict ? 'strict-pair-keys' : 'pair-keys';
  },
  extraction(made) {
    const { strict, keepEmpty, params: list } = made;
    if (strict) return undefined;
    const [param, another] = list;
    if (param === undefined) return keepEmpty ? undefined : { from: 'pair-keys' };
    // Among several, a key that clashes with a label hides those behind it.
    return another === undefined && param.name === param.path ? { from: 'pair-keys' } : undefined;
  },
  makes: paramNames,
  compile: (made, { slots, hints }) => compileLogfmt(made, slots, hints),
};

function addRules(): void {
  const logfmtWord = stageWord('logfmt');
  const flags = grammar.nonterminal<Set<string>>('flags');
  const make = (
    options: ReadonlySet<string>,
    list: readonly ParserParam[],
    span: LogfmtStage['span'],
  ): LogfmtStage => ({
    kind: 'logfmt',
    strict: options.has('--strict'),
    keepEmpty: options.has('--keep-empty'),
    params: list,
    span,
  });
  const noFlags: ReadonlySet<string> = new Set();
  grammar.rule(stage)([logfmtWord], (_, span) => make(noFlags, [], span));
  grammar.rule(stage)([logfmtWord, flags], ([, options], span) => make(options, [], span));
  grammar.rule(stage)([logfmtWord, params], ([, list], span) => make(noFlags, list, span));
  grammar.rule(stage)([logfmtWord, flags, params], ([, options, list], span) => make(options, list, span));
  grammar.rule(flags)([token.flag], ([flag]) => new Set([flag]));
  grammar.rule(flags)([flags, token.flag], ([set, flag]) => set.add(flag));
}

export const logfmtError = 'LogfmtParserErr';

/** Nanoseconds per character: in the worst case every few characters are a separate label. */
const logfmtCost = 200;

/**
 * `| logfmt`, with or without parameters.
 * @throws PathError for an invalid parameter
 */
function compileLogfmt(made: LogfmtStage, slots: SlotTable, hints: Hints): RunStage {
  if (made.params.length > 0) return compileParams(made, slots, hints);
  if (hints.skipsParsers) return () => true;
  const error = slots.pin(errorLabel);
  const reader = new LogfmtReader();
  const keys = new KeyTable(slots, hints);
  const { strict, keepEmpty } = made;
  return (work) => {
    if (work.hasAllRequired()) return true;
    const { line } = work;
    const hasReplacement = line.includes('\ufffd');
    work.charge(logfmtCost);
    keys.startLine();
    reader.start(line);
    for (let token = reader.next(); token !== atEnd; token = reader.next()) {
      if (token === atFault) {
        if (!strict) continue;
        work.failParsing(logfmtError, reader.fault);
        return work.passes(error);
      }
      const key = keys.find(line, reader.keyFrom, reader.keyTo, reader.keyHash, undefined);
      const target = key.targetIn(work);
      if (target === undefined || !takeValue(work, target, reader, keepEmpty, hasReplacement)) continue;
      if (!work.passes(target)) return false;
      if (work.hasAllRequired()) return true;
    }
    return true;
  };
}

/** Takes the value, unless it is empty and empty ones are dropped. */
function takeValue(
  work: WorkLine,
  target: Slot,
  reader: LogfmtReader,
  keepsEmpty: boolean,
  hasReplacement: boolean,
): boolean {
  const { unquoted, valueFrom, valueTo } = reader;
  if (unquoted === undefined && !hasReplacement) {
    if (valueFrom === valueTo && !keepsEmpty) return false;
    work.take(target, reader.line, valueFrom, valueTo, verbatim);
    return true;
  }
  const value = withoutInvalid(valueText(reader));
  if (value === '' && !keepsEmpty) return false;
  work.takeText(target, value);
  return true;
}

function valueText({ line, unquoted, valueFrom, valueTo }: LogfmtReader): string {
  return unquoted ?? line.slice(valueFrom, valueTo);
}

/**
 * Compiles `| logfmt` with parameters: each makes a label, empty if the line lacks the key. The last value of a key wins, and a value with
 * invalid characters counts as empty.
 */
function compileParams(made: LogfmtStage, slots: SlotTable, hints: Hints): RunStage {
  const targets = made.params.map(({ name }) => slots.pin(name));
  const labels = new ParamLabels(made, slots, hints);
  if (hints.skipsParsers) return () => true;
  const reader = new LogfmtReader();
  const { strict } = made;
  return (work) => {
    if (work.hasAllRequired()) return true;
    for (const slot of targets) if (!work.isTaken(slot)) work.set(slot, '');
    work.charge(logfmtCost);
    reader.start(work.line);
    for (let token = reader.next(); token !== atEnd; token = reader.next()) {
      if (token === atFault) {
        if (!strict) continue;
        work.failParsing(logfmtError, reader.fault);
        return true;
      }
      const slot = labels.of(labelName(reader.line.slice(reader.keyFrom, reader.keyTo)), work);
      if (slot === undefined) continue;
      const isClash = work.isTaken(slot);
      const target = work.target(slot);
      // Loki stops at a clash that the query does not use, instead of going on to the next key.
      if (isClash && !work.wants(target)) return true;
      const value = valueText(reader);
      work.set(target, value.includes('\ufffd') ? '' : value);
      if (work.hasAllRequired()) return true;
    }
    return true;
  };
}

/** The labels of a stage's parameters by the keys of lines, as label names. */
class ParamLabels {
  readonly #byName = new Map<string, Slot>();
  readonly #byKey = new Map<string, Slot>();
  readonly #required: Hints['required'];

  constructor({ params: list }: LogfmtStage, slots: SlotTable, { required }: Hints) {
    this.#required = required;
    // Of several paths for a label the last one counts; of several labels for a path, Loki's choice is random.
    const paths = new Map(list.map(({ name, path }) => [name, parseLogfmtKey(path)]));
    for (const [name, path] of paths) {
      const slot = slots.pin(name);
      this.#byName.set(name, slot);
      if (!this.#byKey.has(path)) this.#byKey.set(path, slot);
    }
  }

  /**
   * The label for a key. A key with the name of one of the stage's labels counts for that label, unless it is the path of another. Any
   * other key must be a label that the query uses and that no stage has set: Loki checks the key here, not the label that it will become.
   */
  of(key: string, work: WorkLine): Slot | undefined {
    const own = this.#byName.get(key);
    const slot = this.#byKey.get(key) ?? own;
    if (slot === undefined || own !== undefined) return slot;
    const isUsed = this.#required === undefined || this.#required.has(key);
    return isUsed && work.slots.known(key)?.extractedAt !== work.serial ? slot : undefined;
  }
}
