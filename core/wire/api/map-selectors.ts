import { mapMatchers, printMatcher } from '../../logql/index.js';
import type { Matcher } from '../../logql/ast.js';
import type { ApiRequest } from './request.js';
import { Selector } from './query.js';

export type ChangeMatchers = (matchers: readonly Matcher[]) => readonly Matcher[];

/**
 * Returns the request with `change` applied to the matchers of every selector, on the syntax tree. A listing without a selector gets one
 * when `change` returns matchers for none. Throws LogqlError for a query that cannot be parsed.
 */
export function mapSelectors(request: ApiRequest, change: ChangeMatchers): ApiRequest {
  switch (request.op) {
    case 'query_range':
    case 'query':
    case 'tail':
    case 'delete':
    case 'index_shards':
    case 'detected_fields':
    case 'detected_field_values':
      return { ...request, query: request.query.withAst(mapMatchers(request.query.ast, change)) };
    case 'index_stats':
    case 'volume':
    case 'volume_range':
    case 'patterns':
      return { ...request, query: changed(request.query, change) };
    case 'labels':
    case 'label_values':
    case 'detected_labels': {
      const query = changed(request.query, change);
      return query.matchers.length === 0 ? request : { ...request, query };
    }
    case 'series': {
      // No selector means every stream, the same as one selector without matchers.
      const selectors = request.selectors.length === 0 ? [undefined] : request.selectors;
      const narrowed = selectors.map((selector) => changed(selector, change));
      return { ...request, selectors: narrowed.filter(({ matchers }) => matchers.length > 0) };
    }
    case 'format_query':
    case 'tenant':
      return request;
  }
}

function changed(selector: Selector | undefined, change: ChangeMatchers): Selector {
  const matchers = change(selector?.matchers ?? []);
  const text = `{${matchers.map((matcher) => printMatcher(matcher)).join(', ')}}`;
  return selector === undefined
    ? new Selector(text, 'accept', matchers)
    : selector.withMatchers(text, matchers);
}
