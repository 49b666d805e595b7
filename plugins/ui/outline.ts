import { rangeFunctions } from '../../core/logql/functions/range/index.js';
import { vectorFunctions } from '../../core/logql/functions/vector/index.js';
import { LogqlError, logQueriesOf, printPlain, printSelector } from '../../core/logql/index.js';
import { plainTexts } from '../../core/logql/regexp/plain-texts.js';
import type { Expr, Matcher, MetricExpr, Selector, UnwrapConversion } from '../../core/logql/ast.js';
import { Query } from '../../core/wire/api/request.js';
import type { Params } from '../../core/wire/api/params/index.js';

/** The unit of a metric query's values; `none` where it is a plain number or not known. */
export type ValueUnit = 'none' | 'per-second' | 'bytes' | 'bytes-per-second' | 'seconds';

/** A label in the selector of a query. */
export interface OutlinedLabel {
  readonly name: string;
  /** The values that the matchers keep; empty where they are no plain list of values. */
  readonly values: readonly string[];
  /** The selector without the matchers of this label; empty if it has no others. */
  readonly others: string;
}

/** The parts of a query that the page needs to look for more in the same lines. */
export interface QueryOutline {
  /** `wrong` for a query that does not parse, which has no other parts. */
  readonly kind: 'empty' | 'wrong' | 'log' | 'metric';
  /** The first log query, without what is counted of it; empty if there is none. */
  readonly lines: string;
  /** Number of log queries. */
  readonly count: number;
  /** The selector of the first log query. */
  readonly selector: string;
  readonly labels: readonly OutlinedLabel[];
  readonly unit: ValueUnit;
}

/** The outline of a query, which may be one that is being written. */
export function outlineQuery(params: Params, dottedNames: 'reject' | 'accept'): QueryOutline {
  const text = params.get('query')?.[0] ?? '';
  if (text.trim() === '') return { ...noOutline, kind: 'empty' };
  const ast = parsed(text, dottedNames);
  if (ast === undefined) return { ...noOutline, kind: 'wrong' };
  const queries = logQueriesOf(ast);
  const [lines] = queries;
  return {
    kind: ast.kind === 'log' ? 'log' : 'metric',
    lines: lines === undefined ? '' : printPlain(lines),
    count: queries.length,
    selector: lines === undefined ? '' : printSelector(lines.selector),
    labels: lines === undefined ? [] : labelsOf(lines.selector),
    unit: ast.kind === 'log' ? 'none' : valueUnitOf(ast),
  };
}

const noOutline = { lines: '', count: 0, selector: '', labels: [], unit: 'none' } as const;

function parsed(text: string, dottedNames: 'reject' | 'accept'): Expr | undefined {
  try {
    return new Query(text, dottedNames).ast;
  } catch (error) {
    if (error instanceof LogqlError) return undefined;
    throw error;
  }
}

function labelsOf(selector: Selector): readonly OutlinedLabel[] {
  const names = [...new Set(selector.matchers.map(({ name }) => name))];
  return names.map((name) => {
    const values = selector.matchers.filter((matcher) => matcher.name === name).flatMap(keptValues);
    return { name, values, others: printWithout(selector, name) };
  });
}

/** A selector without the matchers of a label; empty if it has no others. */
export function printWithout(selector: Selector, name: string): string {
  const matchers = selector.matchers.filter((matcher) => matcher.name !== name);
  return matchers.length === 0 ? '' : printSelector({ ...selector, matchers });
}

/** The values that a matcher lists, where it does nothing else. */
export function keptValues({ op, value }: Matcher): readonly string[] {
  if (op === '=') return [value];
  return op === '=~' ? (plainTexts(value) ?? []) : [];
}

/** The unit of a metric query's values, as far as it follows from the query. */
export function valueUnitOf(expr: MetricExpr): ValueUnit {
  switch (expr.kind) {
    case 'range-aggregation':
      return unitOfRange(expr);
    case 'vector-aggregation':
      return vectorFunctions[expr.op].unit ?? valueUnitOf(expr.expr);
    case 'label-replace':
      return valueUnitOf(expr.expr);
    case 'binary': {
      if (expr.returnBool) return 'none';
      const sides = [expr.left, expr.right].filter((side) => !isNumber(side)).map(valueUnitOf);
      const [first = 'none', second = first] = sides;
      const isSame = first === second;
      if (expr.op === '*' || expr.op === '/' || expr.op === '%' || expr.op === '^') return 'none';
      return isSame ? first : 'none';
    }
    case 'vector':
    case 'literal':
      return 'none';
  }
}

function isNumber(expr: Expr): boolean {
  return expr.kind === 'literal' || expr.kind === 'vector';
}

function unitOfRange({
  op,
  range: { unwrap },
}: Extract<MetricExpr, { readonly kind: 'range-aggregation' }>): ValueUnit {
  const { unit, ofLines } = rangeFunctions[op];
  const base =
    unwrap === undefined ? (ofLines === 'bytes' ? 'bytes' : 'none') : unitOfUnwrap(unwrap.conversion);
  if (unit !== 'per-second') return unit ?? base;
  if (base === 'none') return 'per-second';
  return base === 'bytes' ? 'bytes-per-second' : 'none';
}

function unitOfUnwrap(conversion: UnwrapConversion | undefined): ValueUnit {
  if (conversion === 'bytes') return 'bytes';
  return conversion === undefined ? 'none' : 'seconds';
}
