import type { LabelFilter } from '../ast.js';
import type { LabelSet } from '../../labels/label-set.js';
import { compileRegExp } from '../../regexp/index.js';
import { readLiteralRegexp } from './literal-regexp.js';

/** The labels of a line, in their three groups. */
export interface LabelGroups {
  readonly stream: LabelSet;
  readonly structuredMetadata: LabelSet;
  readonly parsed: LabelSet;
}

/** Tells whether a line passes a label filter. */
export type LabelTest = (line: LabelGroups) => boolean;

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

/** The value of a label, the empty text when there is none: parsed labels hide metadata, which hides the stream's. */
function labelValue({ parsed, structuredMetadata, stream }: LabelGroups, name: string): string {
  if (parsed.has(name)) return parsed.get(name);
  return structuredMetadata.has(name) ? structuredMetadata.get(name) : stream.get(name);
}
