import { EmbeddedTest } from '../logsql/index.js';
import type { LogsqlFilter, EmbeddedPipe, EmbeddedQuery, SubqueryTest, ValueTest } from '../logsql/index.js';

/** Replaces the test of every subquery in filter and pipes, outermost first; does not descend into the result of `change`. */
export function mapSubqueries(
  query: EmbeddedQuery,
  change: (test: SubqueryTest) => ValueTest,
): EmbeddedQuery {
  const inFilter = (filter: LogsqlFilter): LogsqlFilter => {
    switch (filter.kind) {
      case 'and':
      case 'or':
        return { ...filter, parts: filter.parts.map(inFilter) };
      case 'not':
        return { ...filter, filter: inFilter(filter.filter) };
      case 'field':
        return filter.test instanceof EmbeddedTest && filter.test.test.kind === 'subquery'
          ? { ...filter, test: change(filter.test.test) }
          : filter;
      case 'all':
      case 'stream':
      case 'time':
      case 'time-relative':
        return filter;
    }
  };
  const inPipe = (pipe: EmbeddedPipe): EmbeddedPipe => {
    if (pipe.kind === 'filter') return { ...pipe, filter: inFilter(pipe.filter) };
    if (pipe.kind === 'stats' || pipe.kind === 'running_stats' || pipe.kind === 'total_stats') {
      const functions = pipe.functions.map((fn) =>
        fn.condition === undefined ? fn : { ...fn, condition: inFilter(fn.condition) },
      );
      return { ...pipe, functions };
    }
    if (pipe.kind === 'union') return pipe;
    if ('condition' in pipe) return { ...pipe, condition: inFilter(pipe.condition) };
    return pipe;
  };
  return { ...query, filter: inFilter(query.filter), pipes: query.pipes.map(inPipe) };
}

/** All subqueries directly inside a query. */
export function subqueriesOf(query: EmbeddedQuery): SubqueryTest[] {
  const found: SubqueryTest[] = [];
  mapSubqueries(query, (test) => {
    found.push(test);
    return new EmbeddedTest(test);
  });
  return found;
}
