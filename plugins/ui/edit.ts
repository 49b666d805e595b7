import { apiError } from '../../core/base/errors/table.js';
import { makeMatcher, printPlain, printQuery } from '../../core/logql/index.js';
import { mapLogQueries } from '../../core/logql/walk.js';
import type { Expr, LogExpr, MatchOp, Matcher, Selector, Stage } from '../../core/logql/ast.js';
import { Query } from '../../core/wire/api/query.js';
import type { Params } from '../../core/wire/api/params/index.js';
import { remedyOf } from './remedies.js';

const span = { start: 0, end: 0 } as const;

/**
 * Changes a query for the page, on its tree, and prints it from there. `change` is one of
 * - `keep`, `drop`: only rows whose label `name` has `value`, or none of them; `of` gives the source of the label (`stream` or `row`), and
 * `parser` (`json` or `logfmt`) the stage that makes it, which is added if the query has none;
 * - `line-keep`, `line-drop`: only lines with the text `value`, or none of them;
 * - a name of `remedies.ts`, which mends an error or an empty answer;
 * - `streams`: all lines of the stream whose labels are `labels`, a JSON object: the lines around a line. An empty query becomes a new
 * selector if the change concerns a stream label.
 * @throws ApiError for an unknown change, LogqlError with Loki's text for a query it rejects
 */
export function editQuery(params: Params, dottedNames: 'reject' | 'accept'): string {
  const read = (name: string): string => params.get(name)?.[0] ?? '';
  const [text, change, value] = [read('query'), read('change'), read('value')];
  if (change === 'streams') return printPlain(streamOf(read('labels')));
  const isStream = read('of') === 'stream';
  const remedy = remedyOf(change, { name: read('name'), value, isStream });
  if (remedy !== undefined) {
    const mended = remedy(new Query(text, dottedNames).ast);
    return text.includes('\n') ? printQuery(mended) : printPlain(mended);
  }
  const parser = parserOf(read('parser'));
  const changed = changeOf(change, read('name'), value, isStream, parser);
  if (changed === undefined) throw apiError('badRequest', { text: `unknown change "${change}"` });
  const isEmpty = text.trim() === '' && isStream;
  const ast = mapLogQueries<Expr>(isEmpty ? emptyLog : new Query(text, dottedNames).ast, { log: changed });
  return text.includes('\n') ? printQuery(ast) : printPlain(ast);
}

const emptyLog: LogExpr = {
  kind: 'log',
  selector: { kind: 'selector', matchers: [], span },
  stages: [],
  span,
};

function changeOf(
  change: string,
  name: string,
  value: string,
  isStream: boolean,
  parser: Stage | undefined,
): ((query: LogExpr) => LogExpr) | undefined {
  switch (change) {
    case 'keep':
    case 'drop': {
      const op = change === 'keep' ? '=' : '!=';
      if (isStream) return (query) => ({ ...query, selector: withMatcher(query.selector, name, op, value) });
      return (query) =>
        withStage(withParser(query, parser), {
          kind: 'label-filter',
          filter: { kind: 'string', name, op, value, span },
          span,
        });
    }
    case 'line-keep':
    case 'line-drop': {
      const op = change === 'line-keep' ? '|=' : '!=';
      const filter: Stage = { kind: 'line-filter', op, alternatives: [{ kind: 'text', value, span }], span };
      return (query) => withLineFilter(query, filter);
    }
    default:
      return undefined;
  }
}

function parserOf(name: string): Stage | undefined {
  switch (name) {
    case '':
      return undefined;
    case 'json':
      return { kind: 'json', params: [], span };
    case 'logfmt':
      return { kind: 'logfmt', strict: false, keepEmpty: false, params: [], span };
    default:
      throw apiError('badRequest', { text: `unknown parser "${name}"` });
  }
}

/** The query with a parser at its end, unless it has one of its kind for all fields. */
function withParser(query: LogExpr, parser: Stage | undefined): LogExpr {
  const isThere = query.stages.some(
    (one) => one.kind === parser?.kind && 'params' in one && one.params.length === 0,
  );
  return parser === undefined || isThere ? query : { ...query, stages: [...query.stages, parser] };
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
    one.filter.op.includes('~');
  return { ...query, stages: [...query.stages.filter(isKept), stage] };
}

/** The query with a line filter, placed before any stage that may change lines. */
function withLineFilter(query: LogExpr, filter: Stage): LogExpr {
  const last = query.stages.findIndex(({ kind }) => kind !== 'line-filter');
  const at = last === -1 ? query.stages.length : last;
  return { ...query, stages: [...query.stages.slice(0, at), filter, ...query.stages.slice(at)] };
}

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
