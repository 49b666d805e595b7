import { printPlain, type Expr } from '../../../core/logql/index.js';
import type { Question } from '../question.js';

const hourNs = 3_600_000_000_000n;

/** The question with another query; a log query in an instant query becomes a range query over the hours before the instant. */
export function* asking(question: Question, expr: Expr): Generator<Question> {
  if (question.query === undefined) return;
  const text = printPlain(expr);
  const smaller = { ...question, query: { ...question.query, text } };
  if (expr.kind !== 'log' || question.path !== 'query') yield smaller;
  else if (question.atNs !== undefined) {
    const { atNs, ...others } = smaller;
    const endNs = atNs ?? question.atNs;
    yield {
      ...others,
      path: 'query_range',
      window: { startNs: endNs - 3n * hourNs, endNs: endNs + 1n, form: 'ns' },
      params: { limit: '5000' },
    };
  }
}
