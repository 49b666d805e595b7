import type { LogfmtStage } from '../ast.js';
import { parseLogfmtKey } from '../paths/logfmt-key.js';
import type { Hints } from './hints.js';
import { KeyTable } from './key-table.js';
import { labelName } from './label-name.js';
import { atEnd, atFault, LogfmtReader } from './logfmt-reader.js';
import type { SlotTable } from './slot-table.js';
import { verbatim, type Slot } from './slot.js';
import type { RunStage, WorkLine } from './work-line.js';

export const logfmtError = 'LogfmtParserErr';

/** Nanoseconds per character: at worst every few characters are a label of their own. */
const logfmtCost = 200;

/**
 * `| logfmt`, with or without parameters.
 * @throws PathError for an invalid parameter
 */
export function compileLogfmt(stage: LogfmtStage, slots: SlotTable, hints: Hints): RunStage {
  if (stage.params.length > 0) return compileParams(stage, slots, hints);
  if (hints.skipsParsers) return () => true;
  const reader = new LogfmtReader();
  const keys = new KeyTable(slots, hints);
  const { strict, keepEmpty } = stage;
  return (work) => {
    const { line } = work;
    const hasReplacement = line.includes('\ufffd');
    work.charge(logfmtCost);
    keys.startLine();
    reader.start(line);
    for (let token = reader.next(); token !== atEnd; token = reader.next()) {
      if (token === atFault) {
        if (!strict) continue;
        work.failParsing(logfmtError, reader.fault);
        return true;
      }
      const { slot } = keys.find(line, reader.keyFrom, reader.keyTo, reader.keyHash, undefined);
      if (slot === undefined) continue;
      const target = work.target(slot);
      if (!work.wants(target) || !takeValue(work, target, reader, keepEmpty, hasReplacement)) continue;
      if (!work.passes(target)) return false;
      if (work.hasAllRequired) return true;
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
  const value = valueText(reader);
  if (value === '' && !keepsEmpty) return false;
  work.takeText(target, value);
  return true;
}

/** The value's text; one with invalid characters counts as empty. */
function valueText({ line, unquoted, valueFrom, valueTo }: LogfmtReader): string {
  const value = unquoted ?? line.slice(valueFrom, valueTo);
  return value.includes('\ufffd') ? '' : value;
}

/** With parameters, each gives a label, empty when the line lacks the key; the last value of a key wins. */
function compileParams({ params, strict }: LogfmtStage, slots: SlotTable, hints: Hints): RunStage {
  const byKey = new Map<string, Slot>();
  const targets = params.map(({ name }) => slots.pin(name));
  // A key that equals the label of a parameter is taken for it, whatever its path.
  for (const target of targets) byKey.set(target.name, target);
  for (const { name, path } of [...params].reverse()) byKey.set(parseLogfmtKey(path), slots.pin(name));
  if (hints.skipsParsers) return () => true;
  const reader = new LogfmtReader();
  return (work) => {
    for (const slot of targets) if (work.target(slot) === slot) work.set(slot, '');
    work.charge(logfmtCost);
    reader.start(work.line);
    for (let token = reader.next(); token !== atEnd; token = reader.next()) {
      if (token === atFault) {
        if (!strict) continue;
        work.failParsing(logfmtError, reader.fault);
        return true;
      }
      const slot = byKey.get(labelName(reader.line.slice(reader.keyFrom, reader.keyTo)));
      if (slot !== undefined) work.set(work.target(slot), valueText(reader));
    }
    return true;
  };
}
