import type { StringLabelFilter } from '../../../../logql/ast.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import {
  exact,
  matcher,
  oneOf,
  or,
  present,
  regexp,
  streamMatch,
} from '../../../../victoria/logsql/build.js';
import { longDecimalPattern } from '../../../../victoria/names/decimal.js';
import { wholeMatcher } from '../../backend-pattern.js';
import { alternatives, hasEmptyPattern, labelRule, passesMissing, spellings, textOf } from './label-rule.js';

export const labelText = labelRule({
  id: 'labelText',
  construct: '| name="v", | name=~"a|b", | name!=""',
  backend: 'name:="v" or {name="v"}, for every stored spelling of the name',
  verdict: 'superset',
  reason:
    'several stored names can mean one; a row may hide the value of its stream; repaired decimals are let through',
  example: '{namespace="shop"} | trace_id="a1b2"',
  match: (placed) => {
    const filter = textOf(placed);
    return filter === undefined || hasEmptyPattern(filter) || passesMissing(filter) ? undefined : filter;
  },
  emit: (filter, names) => or(...spellings(filter.name, names).map((field) => holds(field, filter))),
});

/** Rows where a field may hold a text that passes; the field may belong to the stream, and a row may hide its value. */
function holds(field: string, { op, value }: StringLabelFilter): LogsqlFilter {
  // The backend does not find words with the sign for bytes that are no text.
  if (/\ufffd|\\x\{0*fffd\}/i.test(value)) return present(field);
  switch (op) {
    case '=': {
      const repaired = isDecimal(value) ? [regexp(field, longDecimalPattern)] : [];
      return or(exact(field, value), streamMatch(matcher(field, '=', value)), ...repaired);
    }
    case '=~': {
      const texts = alternatives(value);
      const ofStream = streamMatch(wholeMatcher(field, '=~', value));
      if (texts !== undefined && !texts.some(isDecimal)) return or(oneOf(field, texts), ofStream);
      return or(regexp(field, `^(?:${value})$`), ofStream, regexp(field, longDecimalPattern));
    }
    case '!=':
    case '!~':
      return present(field);
  }
}

function isDecimal(text: string): boolean {
  return /^-?\d+\.\d+$/.test(text);
}
