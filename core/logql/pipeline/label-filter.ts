import type { LabelFilter } from '../ast.js';
import { compileRegExp } from '../../regexp/index.js';
import { labelValue, type PipelineLine } from './types.js';
import { readLiteralRegexp } from './literal-regexp.js';

/** Tells whether a line passes a label filter. */
export type LabelTest = (line: PipelineLine) => boolean;

/** Compiles comparisons of label texts, joined by `and` and `or`; undefined when a filter of another type is among them. */
export function compileLabelFilter(filter: LabelFilter): LabelTest | undefined {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const left = compileLabelFilter(filter.left);
      const right = compileLabelFilter(filter.right);
      if (left === undefined || right === undefined) return undefined;
      return filter.kind === 'and'
        ? (line) => left(line) && right(line)
        : (line) => left(line) || right(line);
    }
    case 'string': {
      const { name } = filter;
      const test = compileTextTest(filter.op, filter.value);
      return (line) => test(labelValue(line, name));
    }
    case 'number':
    case 'duration':
    case 'bytes':
    case 'ip':
      return undefined;
  }
}

function compileTextTest(op: '=' | '!=' | '=~' | '!~', value: string): (text: string) => boolean {
  switch (op) {
    case '=':
      return (text) => text === value;
    case '!=':
      return (text) => text !== value;
    case '=~':
      return compileAnchored(value);
    case '!~': {
      const test = compileAnchored(value);
      return (text) => !test(text);
    }
  }
}

/** Anchored at both ends; as in line filters the reference drops an empty alternative beside a text, so `|foo` is `foo` alone. */
function compileAnchored(pattern: string): (text: string) => boolean {
  const literal = readLiteralRegexp(pattern);
  if (
    literal?.droppedAll === true &&
    literal.texts.length > 0 &&
    !literal.ignoresCase &&
    !pattern.includes('*')
  ) {
    return (text) => literal.texts.includes(text);
  }
  const compiled = compileRegExp(pattern, { anchored: true });
  return (text) => compiled.test(text);
}
