import type { LogsqlQuery } from '../logsql/ast.js';
import { everything } from '../logsql/build.js';
import { printFilter, printQuery } from '../logsql/print.js';

/** Longest `query` that VictoriaLogs takes with its defaults (`-search.maxQueryLen`), in bytes. */
const maxQueryBytes = 16_384;

/**
 * A query as parameters of a call. A filter that makes the query too long stands beside it, where its length has no bound:
 * Grafana writes out every value of a variable, and `service_name` is asked of every label that it may come from.
 */
export function queryParameters(query: LogsqlQuery): readonly (readonly [string, string])[] {
  const text = printQuery(query);
  if (Buffer.byteLength(text) <= maxQueryBytes) return [['query', text]];
  return [
    ['query', printQuery({ ...query, filter: everything })],
    // In parentheses, since a text that begins with {" would be read as JSON.
    ['extra_filters', `(${printFilter(query.filter)})`],
  ];
}
