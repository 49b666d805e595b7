import { mapMatchers, printMatcher } from '../../logql/index.js';
import { Selector, type Query } from '../../wire/api/query.js';
import type { ChangeMatchers } from '../descriptor.js';

interface OfQuery {
  readonly query: Query;
}
interface OfSelector {
  readonly query: Selector;
}
interface OfOptionalSelector {
  readonly query?: Selector;
}
interface OfSelectors {
  readonly selectors: readonly Selector[];
}

function textOf({ query }: { readonly query?: { readonly text: string } }): readonly string[] {
  return query === undefined ? [] : [query.text];
}

/** Selection by a LogQL query with all its selectors. */
export const byQuery = {
  texts: textOf,
  mapSelectors: <Request extends OfQuery>(request: Request, change: ChangeMatchers): Request => ({
    ...request,
    query: request.query.withAst(mapMatchers(request.query.ast, change)),
  }),
};

/** Selection by a LogQL query that reads no logs. */
export const byQueryText = { texts: textOf, mapSelectors: unchanged };

export const bySelector = {
  texts: textOf,
  mapSelectors: <Request extends OfSelector>(request: Request, change: ChangeMatchers): Request => ({
    ...request,
    query: changed(request.query, change),
  }),
};

/** Selection by an optional selector: a missing one lists everything, and is added if `change` returns matchers for an empty list. */
export const byOptionalSelector = {
  texts: textOf,
  mapSelectors: <Request extends OfOptionalSelector>(request: Request, change: ChangeMatchers): Request => {
    const query = changed(request.query, change);
    return query.matchers.length === 0 ? request : { ...request, query };
  },
};

/** Selection by several selectors: a stream matches if any of them does. */
export const bySelectors = {
  texts: ({ selectors }: OfSelectors): readonly string[] => selectors.map((selector) => selector.text),
  mapSelectors: <Request extends OfSelectors>(request: Request, change: ChangeMatchers): Request => {
    // No selector means every stream, the same as one selector without matchers.
    const selectors = request.selectors.length === 0 ? [undefined] : request.selectors;
    const narrowed = selectors.map((selector) => changed(selector, change));
    return { ...request, selectors: narrowed.filter(({ matchers }) => matchers.length > 0) };
  },
};

export const byNothing = { texts: (): readonly string[] => [], mapSelectors: unchanged };

function unchanged<Request>(request: Request): Request {
  return request;
}

function changed(selector: Selector | undefined, change: ChangeMatchers): Selector {
  const matchers = change(selector?.matchers ?? []);
  const text = `{${matchers.map((matcher) => printMatcher(matcher)).join(', ')}}`;
  return selector === undefined
    ? new Selector(text, 'accept', matchers)
    : selector.withMatchers(text, matchers);
}
