import type { LogsqlQuery } from '../logsql/ast.js';
import { everything } from '../logsql/build.js';
import { printFilter, printQuery } from '../logsql/print.js';

/** Longest `query` that VictoriaLogs accepts by default (`-search.maxQueryLen`), in bytes. */
const maxQueryBytes = 16_384;

/**
 * A query as call parameters. When the filter makes the query too long, it is sent separately as `extra_filters`, whose length is not
 * limited: Grafana writes out every value of a variable, and `service_name` is matched against every label it may come from.
 */
export function queryParameters(query: LogsqlQuery): readonly (readonly [string, string])[] {
  const text = printQuery(query);
  if (Buffer.byteLength(text) <= maxQueryBytes) return [['query', text]];
  return [
    ['query', printQuery({ ...query, filter: everything })],
    // In parentheses, because a text that starts with {" would be parsed as JSON.
    ['extra_filters', `(${printFilter(query.filter)})`],
  ];
}
