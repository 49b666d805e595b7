import { compileRegExp } from '../../../logql/regexp/index.js';
import type { StreamFilter, StreamMatcher } from '../ast.js';

/** The label of a stream by name; a missing one is empty. */
export type LabelReader = (label: string) => string;
export type StreamTest = (labels: LabelReader) => boolean;

/** Compiles a stream selector into a test on the labels of a stream. */
export function compileStreamFilter(filter: StreamFilter): StreamTest {
  const groups = filter.groups.map((group) => group.map(compileMatcher));
  return (labels) => groups.some((group) => group.every((matches) => matches(labels)));
}

function compileMatcher(matcher: StreamMatcher): StreamTest {
  const { label } = matcher;
  if (matcher.kind === 'list') {
    const values = new Set(matcher.values);
    const wanted = matcher.op === 'in';
    return (labels) => values.has(labels(label)) === wanted;
  }
  const { value } = matcher;
  switch (matcher.op) {
    case '=':
      return (labels) => labels(label) === value;
    case '!=':
      return (labels) => labels(label) !== value;
    case '=~':
    case '!~': {
      const compiled = compileRegExp(value, { anchored: true, dotAll: true });
      const wanted = matcher.op === '=~';
      return (labels) => compiled.test(labels(label)) === wanted;
    }
  }
}
