import type {
  Expr,
  LabelFilter,
  LogExpr,
  LogRange,
  Matcher,
  MetricExpr,
  Selector,
  Stage,
  Unwrap,
  MatchOp,
} from './ast.js';
import { descriptorOf, isStage } from './stages/index.js';
import { labelFilter } from './stages/label-filter.js';

/** Every node that `visit` reaches. */
export type AstNode = Expr | LogRange | Selector | Matcher | Stage | LabelFilter | Unwrap;

/** Calls back for every node, parents before children and from left to right. Uses no call depth. */
export function visit(root: AstNode, enter: (node: AstNode) => void): void {
  const pending: AstNode[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    enter(node);
    pending.push(...childrenOf(node).toReversed());
  }
}

/** True when a tree has more than `levels` levels. Uses no call depth. */
export function isDeeperThan(root: AstNode, levels: number): boolean {
  let level: AstNode[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= levels) return true;
    level = level.flatMap(childrenOf);
  }
  return false;
}

/** The direct children of a node, from left to right. */
export function childrenOf(node: AstNode): readonly AstNode[] {
  if (isStage(node)) return descriptorOf(node).children(node);
  switch (node.kind) {
    case 'log':
      return [node.selector, ...node.stages];
    case 'selector':
      return node.matchers;
    case 'and':
    case 'or':
    case 'binary':
      return [node.left, node.right];
    case 'range-aggregation':
      return [node.range];
    case 'log-range':
      return node.unwrap === undefined ? [node.query] : [node.query, node.unwrap];
    case 'unwrap':
      return node.filters;
    case 'vector-aggregation':
    case 'label-replace':
      return [node.expr];
    case 'matcher':
    case 'string':
    case 'number':
    case 'duration':
    case 'bytes':
    case 'ip':
    case 'vector':
    case 'literal':
      return [];
  }
}

/** The log queries of a query, from left to right. */
export function logQueriesOf(expr: Expr): readonly LogExpr[] {
  const found: LogExpr[] = [];
  visit(expr, (node) => {
    if (node.kind === 'log') found.push(node);
  });
  return found;
}

/** Replaces the matchers of every selector; the rest of the tree is shared with the old one. */
export function mapMatchers<E extends Expr>(
  expr: E,
  change: (matchers: readonly Matcher[]) => readonly Matcher[],
): E {
  return mapLogQueries(expr, {
    log: (query) => ({
      ...query,
      selector: { ...query.selector, matchers: change(query.selector.matchers) },
    }),
  });
}

/** Changes to the log queries of a query, including an unwrap in a range aggregation. */
interface LogChange {
  readonly log: (query: LogExpr) => LogExpr;
  readonly unwrap?: (unwrap: Unwrap) => Unwrap;
  /** Maps the labels of a grouping or a vector matching. */
  readonly label?: (name: string) => string;
}

/** Replaces every log query, and labels if a mapping is given. */
export function mapLogQueries<E extends Expr>(expr: E, change: LogChange): E {
  // A log query stays one, and a metric expression keeps its kind.
  return (expr.kind === 'log' ? change.log(expr) : changeMetric(expr, change)) as E;
}

/** Replaces nodes of a metric expression, those inside before those around them. Without a change it is the same expression. */
export function mapMetric(expr: MetricExpr, change: (node: MetricExpr) => MetricExpr): MetricExpr {
  switch (expr.kind) {
    case 'vector-aggregation':
    case 'label-replace': {
      const inner = mapMetric(expr.expr, change);
      return change(inner === expr.expr ? expr : { ...expr, expr: inner });
    }
    case 'binary': {
      const [left, right] = [mapMetric(expr.left, change), mapMetric(expr.right, change)];
      return change(left === expr.left && right === expr.right ? expr : { ...expr, left, right });
    }
    case 'range-aggregation':
    case 'vector':
    case 'literal':
      return change(expr);
  }
}

function changeRange(range: LogRange, { log, unwrap: changeUnwrap }: LogChange): LogRange {
  const query = log(range.query);
  const isChanged = range.unwrap !== undefined && changeUnwrap !== undefined;
  return isChanged ? { ...range, query, unwrap: changeUnwrap(range.unwrap) } : { ...range, query };
}

function changeMetric(expr: MetricExpr, change: LogChange): MetricExpr {
  const { label = (name: string): string => name } = change;
  switch (expr.kind) {
    case 'range-aggregation': {
      const grouping = expr.grouping && withLabels(expr.grouping, label);
      return { ...expr, grouping, range: changeRange(expr.range, change) };
    }
    case 'vector-aggregation': {
      const grouping = expr.grouping && withLabels(expr.grouping, label);
      return { ...expr, grouping, expr: changeMetric(expr.expr, change) };
    }
    case 'label-replace':
      return { ...expr, expr: changeMetric(expr.expr, change) };
    case 'binary': {
      const { matching } = expr;
      return {
        ...expr,
        matching: matching && {
          ...withLabels(matching, label),
          include: matching.include.map((name) => label(name)),
        },
        left: changeMetric(expr.left, change),
        right: changeMetric(expr.right, change),
      };
    }
    case 'vector':
    case 'literal':
      return expr;
  }
}

function withLabels<Labelled extends { readonly labels: readonly string[] }>(
  labelled: Labelled,
  label: (name: string) => string,
): Labelled {
  return { ...labelled, labels: labelled.labels.map((name) => label(name)) };
}

/** A matcher without a position in a text, for trees made or changed by code. */
export function makeMatcher(name: string, op: MatchOp, value: string): Matcher {
  return { kind: 'matcher', name, op, value, span: { start: 0, end: 0 } };
}

/** `loki` gives regexps in filters Loki's simplified meaning, `exact` their own (`-logql-filters`). */
export type Filters = 'loki' | 'exact';

/** A query whose filters have this meaning. The tree carries it to all its users: evaluation, also in other threads, and pushdown. */
export function withFilters<E extends Expr>(expr: E, filters: Filters): E {
  if (filters === 'loki') return expr;
  return mapLogQueries(expr, {
    log: (query) => ({ ...query, stages: query.stages.map((stage) => descriptorOf(stage).exact(stage)) }),
    unwrap: (unwrap) => ({ ...unwrap, filters: unwrap.filters.map((filter) => labelFilter.exact(filter)) }),
  });
}
