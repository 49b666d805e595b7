import {
  LogqlError,
  makeMatcher,
  matchesEmpty,
  parseMatchers,
  parseQuery,
  printSelector,
} from '../../core/logql/index.js';
import { mapLogQueries } from '../../core/logql/walk.js';
import type {
  Expr,
  LogExpr,
  Matcher,
  MetricExpr,
  Span,
  Stage,
  StringLabelFilter,
} from '../../core/logql/ast.js';
import { labelFilter } from '../../core/logql/stages/label-filter.js';
import { bySum } from '../../core/logql/functions/join.js';
import type { DottedNames } from '../../core/wire/api/request.js';

const span = { start: 0, end: 0 } as const;

/**
 * The change of a query that mends an error or an empty answer, on its tree; undefined for another name. They are
 * - `sum-by`: one series for each value of the label `name`;
 * - `skip-errors`: lines with an error are left out, as `| __error__=""` does;
 * - `without-stage`: the stage at the index `value` is left out;
 * - `without-label`: the matchers of the label `name` are left out of selectors;
 * - `rename`: matchers (`of=stream`) or filters (`of=row`) read the label `value` instead of `name`.
 */
export function remedyOf(
  change: string,
  { name, value, isStream }: { readonly name: string; readonly value: string; readonly isStream: boolean },
): ((query: Expr) => Expr) | undefined {
  const ofLogs = (log: (query: LogExpr) => LogExpr) => (query: Expr) => mapLogQueries(query, { log });
  switch (change) {
    case 'sum-by':
      return (query) => (query.kind === 'log' ? query : summedBy(query, name));
    case 'skip-errors':
      return withoutErrors;
    case 'without-stage':
      return ofLogs((query) => ({
        ...query,
        stages: query.stages.filter((_stage, index) => String(index) !== value),
      }));
    case 'without-label':
      return ofLogs((query) =>
        withMatchers(
          query,
          query.selector.matchers.filter((matcher) => matcher.name !== name),
        ),
      );
    case 'rename':
      return ofLogs((query) =>
        isStream
          ? withMatchers(
              query,
              query.selector.matchers.map((one) => (one.name === name ? { ...one, name: value } : one)),
            )
          : { ...query, stages: query.stages.map((stage) => renamedStage(stage, name, value)) },
      );
    default:
      return undefined;
  }
}

/** Maximum number of parts of a query that one change mends. */
const mostParts = 20;

/**
 * Mends a query that does not parse, at each part that the parser names; undefined for another name of a change. They are
 * - `fill-range`: `[value]` instead of `[name]`, a variable that a dashboard would have filled in;
 * - `any-stream`: a selector that could match nothing at all needs any value of the label `name`.
 */
export function textRemedyOf(
  change: string,
  { name, value }: { readonly name: string; readonly value: string },
): ((part: string) => string | undefined) | undefined {
  switch (change) {
    case 'fill-range':
      return (part) => (part === name ? value : undefined);
    case 'any-stream':
      return (part) => withAnyValue(part, name);
    default:
      return undefined;
  }
}

/** The query with other texts for the parts that the parser refuses; what is refused for another reason stays. */
export function withParts(
  text: string,
  dottedNames: DottedNames,
  mend: (part: string) => string | undefined,
): string {
  let mended = text;
  for (let count = 0; count < mostParts; count += 1) {
    const part = refusedPart(mended, dottedNames);
    const other = part === undefined ? undefined : mend(mended.slice(part.start, part.end));
    if (part === undefined || other === undefined) break;
    mended = mended.slice(0, part.start) + other + mended.slice(part.end);
  }
  return mended;
}

function refusedPart(text: string, dottedNames: DottedNames): Span | undefined {
  try {
    parseQuery(text, { dottedNames });
    return undefined;
  } catch (error) {
    if (error instanceof LogqlError) return error.part;
    throw error;
  }
}

/** The selector with a matcher for any value of a label, in the place of one that an empty value passes; undefined for another part. */
function withAnyValue(part: string, name: string): string | undefined {
  if (!part.startsWith('{')) return undefined;
  const isReplaced = (one: Matcher): boolean =>
    one.name === name && matchesEmpty(one) && (one.op === '=' || one.op === '=~');
  const others = parseMatchers(part).filter((one) => !isReplaced(one));
  const matchers = [...others, makeMatcher(name, '=~', '.+')];
  return printSelector({ matchers });
}

function withMatchers(query: LogExpr, matchers: readonly Matcher[]): LogExpr {
  return { ...query, selector: { ...query.selector, matchers } };
}

/** The query with one series for each value of a label: each side of a binary operation by itself, so that both still match. */
function summedBy(expr: MetricExpr, label: string): MetricExpr {
  const grouping = { without: false, labels: [label], span };
  switch (expr.kind) {
    case 'literal':
    case 'vector':
      return expr;
    case 'binary':
      return { ...expr, left: summedBy(expr.left, label), right: summedBy(expr.right, label) };
    case 'vector-aggregation':
      if (expr.parameter === undefined && !expr.op.startsWith('sort')) return { ...expr, grouping };
      return { ...expr, expr: summedBy(expr.expr, label) };
    case 'label-replace':
    case 'range-aggregation':
      return { kind: 'vector-aggregation', op: bySum.op, parameter: undefined, grouping, expr, span };
  }
}

const noError: StringLabelFilter = { kind: 'string', name: '__error__', op: '=', value: '', span };

/** The query with a filter that drops lines with errors, after an unwrap where there is one. */
function withoutErrors(expr: Expr): Expr {
  const filter = { kind: 'label-filter', filter: noError, span } as const;
  return mapLogQueries(expr, {
    log: (query) => ({ ...query, stages: [...query.stages, filter] }),
    unwrap: (unwrap) => ({ ...unwrap, filters: [...unwrap.filters, filter] }),
  });
}

function renamedStage(stage: Stage, name: string, to: string): Stage {
  return stage.kind === 'label-filter'
    ? labelFilter.rename(stage, (one) => (one === name ? to : one))
    : stage;
}
