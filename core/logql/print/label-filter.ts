import type { LabelFilter, Matcher, StringLabelFilter } from '../ast.js';
import { formatBytes } from '../values/bytes.js';
import { printGoDuration, formatFloatPlain } from '../../base/time/index.js';
import { quoteGo } from '../../base/time/go-quote.js';
import { firstRawByte } from '../values/raw-bytes.js';
import { simplifiedRegexp } from '../pipeline/regexp-simplification.js';

/** Names may contain dots in the dialect with dotted names only; Loki's own names have none. */
const bareName = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*$/;

/** True when a name is printed as it is. */
export function isBareName(name: string): boolean {
  return bareName.test(name);
}

/** `name="value"`; a name that is not plain ASCII is quoted, as Loki does although it cannot parse that. */
export function printMatcher({ name, op, value }: Pick<Matcher, 'name' | 'op' | 'value'>): string {
  return `${isBareName(name) ? name : quoteGo(name)}${op}${quoteGo(value)}`;
}

/** Prints a tree as Loki does: `( a , b )` for and, `( a or b )` for or; sizes and durations in their short forms. */
export function printLabelFilter(filter: LabelFilter): string {
  switch (filter.kind) {
    case 'and':
      return `( ${printLabelFilter(filter.left)} , ${printLabelFilter(filter.right)} )`;
    case 'or':
      return `( ${printLabelFilter(filter.left)} or ${printLabelFilter(filter.right)} )`;
    case 'string':
      return isCompiled(filter) ? `${filter.name}=~\`${filter.value}\`` : printMatcher(filter);
    case 'number':
      return `${filter.name}${filter.op}${formatFloatPlain(filter.value)}`;
    case 'duration':
      return `${filter.name}${filter.op}${printGoDuration(filter.nanoseconds)}`;
    case 'bytes':
      return `${filter.name}${filter.op}${formatBytes(filter.bytes)}`;
    case 'ip':
      return `${filter.name}${filter.op}ip(${quoteGo(filter.value)})`;
  }
}

/** True if Loki keeps a filter as a compiled regexp instead of simpler tests; it is then quoted differently. */
function isCompiled({ op, value }: StringLabelFilter): boolean {
  return (
    op === '=~' &&
    !value.includes('`') &&
    firstRawByte(value) < 0 &&
    simplifiedRegexp(value, true) === undefined
  );
}
