import type { LineFilterStage } from '../../logql/ast.js';
import { compileLineFilter } from '../../logql/stages/line-filter.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { exact, field, not, or, present } from '../../victoria/logsql/build.js';
import type { Naming } from '../../victoria/names/naming.js';

/** Rows that have no stored line; the backend's placeholder for it is not a text of the client. */
export function missingLineRows(naming: Naming): LogsqlFilter {
  // The backend tells from the heads of blocks that no line is empty, but compares each with an empty text.
  return or(not(present('_msg')), placeholderRows(naming));
}

/** Rows among them that hold a text. */
export function placeholderRows(naming: Naming): LogsqlFilter {
  const { prefix, exact: custom } = naming.missingLine;
  return or(
    field('_msg', { kind: 'exact-prefix', text: prefix }),
    ...(custom === '' ? [] : [exact('_msg', custom)]),
  );
}

/** True when the filters let rows without a line through as they are stored, so that they need no exception. */
export function letsMissingLinesPass(stages: readonly LineFilterStage[], naming: Naming): boolean {
  const { prefix, exact: custom } = naming.missingLine;
  const placeholders = ['', prefix, ...(custom === '' ? [] : [custom])];
  const tests = stages.map((stage) => compileLineFilter(stage));
  // Only texts that are looked for and not found: a pattern may see the end of a placeholder, of which just the start is known.
  return (
    stages.every((stage) => stage.op === '!=') &&
    placeholders.every((text) => tests.every((test) => test(text)))
  );
}
