import type { LineFilterStage } from '../../logql/ast.js';
import { compileLineFilter } from '../../logql/stages/line-filter.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { exact, field, not, or, present } from '../../victoria/logsql/build.js';
import type { Naming } from '../../victoria/names/naming.js';

/**
 * An extra field that makes a line rebuilt from some fields of a row a JSON object, as its whole line is. Plans that rely on it leave queries
 * that use a label of this name to others.
 */
export const rebuiltMark: readonly [name: string, value: string] = ['__rebuilt', ' '];

/** Matches rows without a stored line. The backend's placeholder for it is not a text of the client. */
export function missingLineRows(naming: Naming): LogsqlFilter {
  // VictoriaLogs takes `_msg:*` for `*`. Comparing with an empty text would find rows without any `_msg`, but reads every line.
  const { prefix, exact: custom } = naming.missingLine;
  return or(
    not(present('_msg')),
    field('_msg', { kind: 'exact-prefix', text: prefix }),
    ...(custom === '' ? [] : [exact('_msg', custom)]),
  );
}

/** True if the filters pass rows without a line as they are stored, so that no exception is needed. */
export function letsMissingLinesPass(stages: readonly LineFilterStage[], naming: Naming): boolean {
  const { prefix, exact: custom } = naming.missingLine;
  const placeholders = ['', prefix, ...(custom === '' ? [] : [custom])];
  const tests = stages.map((stage) => compileLineFilter(stage));
  // True only for texts that must not occur: a pattern may match the end of a placeholder, of which only the start is known.
  return (
    stages.every((stage) => stage.op === '!=') &&
    placeholders.every((text) => tests.every((test) => test(text)))
  );
}

/** True if an empty line passes these filters. */
export function emptyLinePasses(stages: readonly LineFilterStage[]): boolean {
  return stages.every((stage) => compileLineFilter(stage)(''));
}
