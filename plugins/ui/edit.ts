import { apiError } from '../../core/base/errors/table.js';
import { makeMatcher, matchesEmpty, printPlain, printQuery } from '../../core/logql/index.js';
import { quotedTexts } from '../../core/logql/pipeline/filter-test.js';
import { mapLogQueries } from '../../core/logql/walk.js';
import type { Expr, LineFilterOp, LogExpr, MatchOp, Matcher, Selector, Stage } from '../../core/logql/ast.js';
import { Query } from '../../core/wire/api/request.js';
import type { Params } from '../../core/wire/api/params/index.js';
import { remedyOf, textRemedyOf, withParts } from './remedies.js';

const span = { start: 0, end: 0 } as const;

/** Maximum number of values of one change; each becomes a part of a pattern. */
const mostValues = 200;

/**
 * Changes a query for the page, on its tree, and prints it from there. `change` is one of
 * - `keep`, `drop`: only rows whose label `name` has one of the values `value`, or none of them; `of` gives the source of the label
 * (`stream` or `row`), and `parser` the parsers that make it, which are added where the query has them not;
 * - `choose`: the selector keeps the values `value` of the label `name` and no others; without a value, it says nothing about the label;
 * - `line-keep`, `line-drop`: only lines with the text `value`, or none of them;
 * - a name of `remedies.ts`, which mends an error or an empty answer;
 * - `pattern-keep`, `pattern-drop`: only lines of the pattern `value`, or none of them;
 * - `streams`: all lines of the stream whose labels are `labels`, a JSON object: the lines around a line. An empty query becomes a new
 * selector if the change concerns a stream label.
 * @throws ApiError for an unknown change, LogqlError with Loki's text for a query it rejects
 */
export function editQuery(params: Params, dottedNames: 'reject' | 'accept'): string {
  const read = (name: string): string => params.get(name)?.[0] ?? '';
  const [text, change] = [read('query'), read('change')];
  if (change === 'streams') return printPlain(streamOf(read('labels')));
  const values = [...new Set(params.get('value') ?? [])];
  if (values.length > mostValues)
    throw apiError('badRequest', { text: `a change may have at most ${mostValues} values; use a pattern` });
  const isStream = read('of') === 'stream';
  const print = (ast: Expr): string => (text.includes('\n') ? printQuery(ast) : printPlain(ast));
  const mend = textRemedyOf(change, { name: read('name'), value: read('value') });
  if (mend !== undefined) return withParts(text, dottedNames, mend);
  const remedy = remedyOf(change, { name: read('name'), value: read('value'), isStream });
  if (remedy !== undefined) return print(remedy(new Query(text, dottedNames).ast));
  const parsers = params.get('parser') ?? [];
  const changed = changeOf(change, { name: read('name'), values, isStream, parsers });
  if (changed === undefined) throw apiError('badRequest', { text: `unknown change "${change}"` });
  const isEmpty = text.trim() === '' && isStream;
  // A selector to choose values for may have none that counts yet.
  const anyStream =
    change === 'choose' ? textRemedyOf('any-stream', { name: read('name'), value: '' }) : undefined;
  const whole = anyStream === undefined ? text : withParts(text, dottedNames, anyStream);
  const before: Expr = isEmpty ? emptyLog : new Query(whole, dottedNames).ast;
  const after = mapLogQueries(before, { log: changed });
  const ast =
    after.kind === 'log' || change !== 'choose'
      ? after
      : mapLogQueries(after, { log: (query) => withNeeded(query, read('name')) });
  // A selector that has lost its last matcher is no query.
  if (ast.kind === 'log' && ast.stages.length === 0 && ast.selector.matchers.length === 0) return '';
  return print(ast);
}

const emptyLog: LogExpr = {
  kind: 'log',
  selector: { kind: 'selector', matchers: [], span },
  stages: [],
  span,
};

interface AskedChange {
  readonly name: string;
  readonly values: readonly string[];
  readonly isStream: boolean;
  readonly parsers: readonly string[];
}

function changeOf(
  change: string,
  { name, values, isStream, parsers }: AskedChange,
): ((query: LogExpr) => LogExpr) | undefined {
  switch (change) {
    case 'keep':
    case 'drop': {
      const isKept = change === 'keep';
      const { op, value } = testOf(isKept, values);
      if (isStream) return (query) => ({ ...query, selector: withMatcher(query.selector, name, op, value) });
      return (query) =>
        withStage(withParsers(query, parsers), {
          kind: 'label-filter',
          filter: { kind: 'string', name, op, value, span },
          span,
        });
    }
    case 'choose':
      return (query) => ({ ...query, selector: withChosen(query, name, values) });
    case 'line-keep':
    case 'line-drop':
      return (query) => withLineFilter(query, change === 'line-keep' ? '|=' : '!=', values[0] ?? '');
    case 'pattern-keep':
    case 'pattern-drop':
      return (query) => withLineFilter(query, change === 'pattern-keep' ? '|>' : '!>', values[0] ?? '');
    default:
      return undefined;
  }
}

/** The test of a label for one of several values, or for none of them. */
function testOf(
  isKept: boolean,
  values: readonly string[],
): { readonly op: MatchOp; readonly value: string } {
  const [value = '', ...more] = values;
  if (more.length === 0) return { op: isKept ? '=' : '!=', value };
  return { op: isKept ? '=~' : '!~', value: quotedTexts(values) };
}

/** The selector that keeps these values of a label, at the place of what it has kept of it. What it drops of the label stays dropped. */
function withChosen({ selector, stages }: LogExpr, name: string, values: readonly string[]): Selector {
  const isReplaced = (one: Matcher): boolean =>
    one.name === name &&
    (one.op === '=' || one.op === '=~' || (one.op === '!=' && values.includes(one.value)));
  const { matchers } = selector;
  const at = matchers.findIndex(isReplaced);
  const before = at === -1 ? matchers : matchers.slice(0, at);
  const after = at === -1 ? [] : matchers.slice(at).filter((one) => !isReplaced(one));
  const { op, value } = testOf(true, values);
  const chosen = values.length === 0 ? [] : [makeMatcher(name, op, value)];
  const next = [...before, ...chosen, ...after];
  const isNothing = next.length === 0 && stages.length === 0;
  return { ...selector, matchers: isNothing ? [] : needed(next, name) };
}

/** A selector needs a matcher that a missing label does not pass. */
function needed(matchers: readonly Matcher[], name: string): readonly Matcher[] {
  return matchers.every(matchesEmpty) ? [...matchers, makeMatcher(name, '=~', '.+')] : matchers;
}

/** The log query of a metric, whose selector must select something. */
function withNeeded(query: LogExpr, name: string): LogExpr {
  const { selector } = query;
  return { ...query, selector: { ...selector, matchers: needed(selector.matchers, name) } };
}

/** The query with these parsers at its end, as far as it has them not. Where lines are of several kinds, no parser's error stays. */
export function withParsers(query: LogExpr, parsers: readonly string[]): LogExpr {
  const unknown = parsers.find((name) => name !== 'json' && name !== 'logfmt');
  if (unknown !== undefined) throw apiError('badRequest', { text: `unknown parser "${unknown}"` });
  const missing = (['json', 'logfmt'] as const).filter(
    (kind) =>
      parsers.includes(kind) &&
      !query.stages.some((stage) => stage.kind === kind && stage.params.length === 0),
  );
  const added = missing.map((kind): Stage =>
    kind === 'json'
      ? { kind, params: [], span }
      : { kind, params: [], strict: false, keepEmpty: false, span },
  );
  if (added.length === 0) return query;
  const items = ['__error__', '__error_details__'].map((name) => ({ name, matcher: undefined, span }));
  const dropped: readonly Stage[] = parsers.length > 1 ? [{ kind: 'drop', items, span }] : [];
  return { ...query, stages: [...query.stages, ...added, ...dropped] };
}

/** The selector with another matcher, which replaces contradicting and equivalent ones. */
function withMatcher(selector: Selector, name: string, op: MatchOp, value: string): Selector {
  const isKept = (one: Matcher): boolean => {
    if (one.name !== name) return true;
    const isSame = one.value === value && (one.op === '=' || one.op === '!=');
    return !isSame && !(op === '=' && one.op === '=');
  };
  return { ...selector, matchers: [...selector.matchers.filter(isKept), makeMatcher(name, op, value)] };
}

/** The query with another stage at its end, where all labels of a row are known; the stage replaces its opposite. */
function withStage(query: LogExpr, stage: Extract<Stage, { kind: 'label-filter' }>): LogExpr {
  const isKept = (one: Stage): boolean =>
    one.kind !== 'label-filter' ||
    one.filter.kind !== 'string' ||
    stage.filter.kind !== 'string' ||
    one.filter.name !== stage.filter.name ||
    one.filter.value !== stage.filter.value ||
    one.filter.op.includes('~') !== stage.filter.op.includes('~');
  return { ...query, stages: [...query.stages.filter(isKept), stage] };
}

/** The query with a line filter, placed before any stage that may change lines; it replaces its opposite. */
function withLineFilter(query: LogExpr, op: LineFilterOp, value: string): LogExpr {
  const filter: Stage = { kind: 'line-filter', op, alternatives: [{ kind: 'text', value, span }], span };
  const opposite = opposites[op];
  const isKept = (one: Stage): boolean =>
    one.kind !== 'line-filter' ||
    (one.op !== op && one.op !== opposite) ||
    one.alternatives.length !== 1 ||
    one.alternatives[0]?.kind !== 'text' ||
    one.alternatives[0].value !== value;
  const last = query.stages.findIndex(({ kind }) => kind !== 'line-filter');
  const at = last === -1 ? query.stages.length : last;
  return {
    ...query,
    stages: [...query.stages.slice(0, at).filter(isKept), filter, ...query.stages.slice(at)],
  };
}

const opposites: Readonly<Record<LineFilterOp, LineFilterOp>> = {
  '|=': '!=',
  '!=': '|=',
  '|~': '!~',
  '!~': '|~',
  '|>': '!>',
  '!>': '|>',
};

function streamOf(labels: string): LogExpr {
  const read = readLabels(labels);
  if (read === undefined) throw apiError('badRequest', { text: 'labels must be an object of texts' });
  const matchers = read.map(([name, value]) => makeMatcher(name, '=', value));
  return { ...emptyLog, selector: { ...emptyLog.selector, matchers } };
}

function readLabels(text: string): readonly (readonly [string, string])[] | undefined {
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
    const pairs = Object.entries(json).map(([name, value]: [string, unknown]) => [name, value] as const);
    return pairs.every((pair): pair is readonly [string, string] => typeof pair[1] === 'string')
      ? pairs
      : undefined;
  } catch {
    return undefined;
  }
}
