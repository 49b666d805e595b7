import { parseQuery, printPlain, type Expr, type LogExpr, LogqlError } from '../../../core/logql/index.js';
import type { Dataset, Labels } from '../data/dataset.js';
import type { Question } from '../question.js';
import { mapRanges, mapSelectors } from './map.js';
import { smallerExprs } from './expr.js';

/** Questions that ask less than another, the boldest first; `moments` are times at which its answers differ. */
export function* smallerQuestions(
  question: Question,
  data: Dataset,
  moments: readonly bigint[],
): Generator<Question> {
  yield* instantOf(question, moments);
  yield* fewerParameters(question);
  if (question.tenants.length > 1)
    for (const tenant of question.tenants) yield { ...question, tenants: [tenant] };
  const expr = readable(question.query?.text);
  if (expr !== undefined) {
    for (const smaller of smallerExprs(expr)) yield* asking(question, smaller);
    yield* ofOneStream(question, expr, data);
  }
  yield* narrower(question, expr);
}

function readable(text: string | undefined): Expr | undefined {
  if (text === undefined) return undefined;
  try {
    return parseQuery(text);
  } catch (error) {
    if (error instanceof LogqlError) return undefined;
    throw error;
  }
}

/** The question with another query; a query of lines cannot be asked at an instant. */
function* asking(question: Question, expr: Expr): Generator<Question> {
  if (question.query === undefined) return;
  const text = printPlain(expr);
  if (text === question.query.text) return;
  const smaller = { ...question, query: { ...question.query, text } };
  if (expr.kind !== 'log' || question.path !== 'query') yield smaller;
  else if (question.atNs !== undefined) {
    const { atNs, ...others } = smaller;
    const endNs = atNs ?? question.atNs;
    yield {
      ...others,
      path: 'query_range',
      window: { startNs: endNs - 10_800_000_000_000n, endNs, form: 'ns' },
      params: { limit: '5000' },
    };
  }
}

function* instantOf(question: Question, moments: readonly bigint[]): Generator<Question> {
  if (question.path !== 'query_range' || moments.length === 0) return;
  for (const atNs of [moments[0], moments.at(-1)]) {
    if (atNs === undefined) continue;
    const { window, ...others } = question;
    if (window !== undefined) yield { ...others, path: 'query', params: {}, atNs };
  }
}

function* fewerParameters(question: Question): Generator<Question> {
  for (const name of Object.keys(question.params)) {
    const { [name]: value, ...params } = question.params;
    if (name === 'limit' && value !== '5000') yield { ...question, params: { ...params, limit: '5000' } };
    else if (name !== 'limit' && name !== 'line_limit') yield { ...question, params };
  }
  if (question.isCategorized) yield { ...question, isCategorized: false };
  if (question.method === 'POST') yield { ...question, method: 'GET' };
}

/** Every selector replaced by one that selects a single stream. */
function* ofOneStream(question: Question, expr: Expr, data: Dataset): Generator<Question> {
  const streams = data.tenants
    .filter(({ tenant }) => question.tenants.includes(tenant))
    .flatMap(({ streams: own }) => own);
  for (const { labels } of streams) {
    const smaller = mapSelectors(expr, (query) => selecting(query, labels));
    if (smaller !== undefined) yield* asking(question, smaller);
  }
}

const mostMatchers = 3;

/** The same query of one stream, unless it selects no more than that already. */
function selecting(query: LogExpr, labels: Labels): LogExpr | undefined {
  const { matchers, span } = query.selector;
  const own = Object.entries(labels);
  const isExact = matchers.every(({ op, name, value }) => op === '=' && labels[name] === value);
  if (isExact && (matchers.length === own.length || matchers.length <= mostMatchers)) return undefined;
  return {
    ...query,
    selector: {
      kind: 'selector',
      span,
      matchers: own.map(([name, value]) => ({ kind: 'matcher', name, op: '=', value, span })),
    },
  };
}

/** Half of the time: a window of its own, or the ranges of a query at an instant. */
function* narrower(question: Question, expr: Expr | undefined): Generator<Question> {
  const { window, atNs } = question;
  if (window !== undefined && window.endNs - window.startNs > 1n && isOfLines(question, expr)) {
    const middle = window.startNs + (window.endNs - window.startNs) / 2n;
    yield { ...question, window: { startNs: window.startNs, endNs: middle, form: 'ns' } };
    yield { ...question, window: { startNs: middle, endNs: window.endNs, form: 'ns' } };
    const quarter = (window.endNs - window.startNs) / 4n;
    if (quarter > 0n)
      yield {
        ...question,
        window: { startNs: window.startNs + quarter, endNs: window.endNs - quarter, form: 'ns' },
      };
  }
  if (atNs === undefined || expr === undefined || expr.kind === 'log') return;
  const half = mapRanges(expr, (interval) => interval / 2n);
  if (half === undefined) return;
  yield* asking(question, half.expr);
  yield* asking({ ...question, atNs: atNs - half.largest }, half.expr);
}

function isOfLines(question: Question, expr: Expr | undefined): boolean {
  return question.path !== 'query_range' || expr === undefined || expr.kind === 'log';
}
