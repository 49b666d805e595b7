import { compileRegExp } from '../../../logql/regexp/index.js';
import type { StreamFilter, StreamMatcher } from '../ast.js';
import { unquote } from '../unquote.js';

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

/** Parses the text of a `_stream` field, `{a="b",c="d"}`, up to the first error. */
export function parseStreamText(text: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  let at = 1;
  while (at < text.length && text[at] !== '}') {
    const quotedName = text[at] === '"' ? unquote(text, at) : undefined;
    const nameEnd = quotedName?.end ?? text.indexOf('=', at);
    if (nameEnd < 0) break;
    const name = quotedName?.text ?? text.slice(at, nameEnd);
    const value = unquote(text, nameEnd + 1);
    if (value === undefined) break;
    labels.set(name, value.text);
    at = text[value.end] === ',' ? value.end + 1 : value.end;
  }
  return labels;
}
