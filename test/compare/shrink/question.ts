import { LogqlError, parseQuery, type Expr, type LogExpr } from '../../../core/logql/index.js';
import type { Dataset, Labels } from '../data/dataset.js';
import { linesOf } from '../lines.js';
import type { Question } from '../question.js';
import { differingMoments } from '../signature.js';
import type { Different } from '../verdict.js';
import { asking } from './asking.js';
import { smallerExprs } from './expr.js';
import { mapLogQueries } from './map.js';
import { narrower } from './narrow.js';

/** One way to shrink questions. */
export type Shortening = (question: Question, data: Dataset, difference: Different) => Generator<Question>;

/** In the best order; each is repeated until it no longer helps. */
export const shortenings: readonly Shortening[] = [
  instantOf,
  fewerParameters,
  fewerTenants,
  smallerQueries,
  ofOneStream,
  narrowerTimes,
  smallerQueries,
  narrowerTimes,
];

/** A range query as an instant query at the first or last time at which the responses differ. */
function* instantOf(question: Question, _data: Dataset, difference: Different): Generator<Question> {
  if (question.path !== 'query_range') return;
  const moments = differingMoments(difference);
  for (const atNs of [moments[0], moments.at(-1)]) {
    const { window, ...others } = question;
    if (window !== undefined && atNs !== undefined) yield { ...others, path: 'query', params: {}, atNs };
  }
}

function* fewerParameters(question: Question): Generator<Question> {
  for (const name of Object.keys(question.params)) {
    const { [name]: value, ...params } = question.params;
    if (name === 'limit' && value !== '5000') yield { ...question, params: { ...params, limit: '5000' } };
    else if (name !== 'limit' && name !== 'line_limit' && name !== 'step') yield { ...question, params };
  }
  if (question.isCategorized) yield { ...question, isCategorized: false };
  if (question.method === 'POST') yield { ...question, method: 'GET' };
}

function* fewerTenants(question: Question): Generator<Question> {
  if (question.tenants.length > 1)
    for (const tenant of question.tenants) yield { ...question, tenants: [tenant] };
}

function* smallerQueries(question: Question): Generator<Question> {
  const expr = readable(question);
  if (expr !== undefined) for (const smaller of smallerExprs(expr)) yield* asking(question, smaller);
}

/** The question with every selector replaced by one that selects a single stream. */
function* ofOneStream(question: Question, data: Dataset): Generator<Question> {
  const expr = readable(question);
  if (expr === undefined) return;
  const streams = new Set(linesOf(question, data).map(({ stream }) => stream));
  if (streams.size < 2) return;
  for (const { labels } of streams) {
    const smaller = mapLogQueries(expr, (query) => selecting(query, labels));
    if (smaller !== undefined) yield* asking(question, smaller);
  }
}

function selecting(query: LogExpr, labels: Labels): LogExpr {
  const { span } = query.selector;
  const matchers = Object.entries(labels).map(
    ([name, value]) => ({ kind: 'matcher', name, op: '=', value, span }) as const,
  );
  return { ...query, selector: { kind: 'selector', span, matchers } };
}

/** Skips listings and stream statistics, which depend on chunk boundaries, and more so over short ranges. */
function* narrowerTimes(question: Question, data: Dataset): Generator<Question> {
  if (/^(?:label|series|index|patterns)/.test(question.path)) return;
  yield* narrower(question, readable(question), data);
}

function readable({ query }: Question): Expr | undefined {
  if (query === undefined) return undefined;
  try {
    return parseQuery(query.text);
  } catch (error) {
    if (error instanceof LogqlError) return undefined;
    throw error;
  }
}
