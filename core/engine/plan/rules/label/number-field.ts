import type { CompareOp, NumberLabelFilter } from '../../../../logql/ast.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import {
  and,
  compare,
  field,
  matcher,
  not,
  or,
  present,
  regexp,
  streamMatch,
} from '../../../../victoria/logsql/build.js';
import { longDecimalPattern } from '../../../../victoria/names/shown-value.js';

/** More digits may be rounded to another number. */
const mostDigits = 15;
/** Columns of which every value is a plain number, by the types that VictoriaLogs gives to blocks of values. */
const numericTypes = ['uint8', 'uint16', 'uint32', 'uint64', 'int64'];
/** Longer decimals may be shown otherwise than they are stored. */
const plainNumber = '^-?[0-9]{1,15}([.][0-9]{1,15})?$';
const plain = new RegExp(plainNumber);

/** Rows where a field is a number that passes a comparison, or a text that is no plain number, which Loki keeps and marks. */
export function mayPass(name: string, { op, value }: NumberLabelFilter): LogsqlFilter {
  const text = String(value);
  if (!plain.test(text) || Math.abs(value) >= 10 ** mostDigits) return present(name);
  const isPlain = or(
    ...numericTypes.map((type) => field(name, { kind: 'value-type', type })),
    and(regexp(name, plainNumber), not(regexp(name, longDecimalPattern))),
  );
  const ofRow = and(present(name), ...failing(name, op, text).map((fails) => not(and(fails, isPlain))));
  // A row may hide the value of its stream.
  return or(ofRow, streamMatch(matcher(name, '!=', '')));
}

/** Conditions, each of which means for a number that it does not pass. */
function failing(name: string, op: CompareOp, value: string): readonly LogsqlFilter[] {
  switch (op) {
    case '>':
      return [compare(name, '<=', value)];
    case '>=':
      return [compare(name, '<', value)];
    case '<':
      return [compare(name, '>=', value)];
    case '<=':
      return [compare(name, '>', value)];
    case '==':
      return [compare(name, '<', value), compare(name, '>', value)];
    case '!=':
      return [];
  }
}
