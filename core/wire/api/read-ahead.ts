import { Pacer } from '../../base/pace/pacer.js';
import type { Query, Selector } from './query.js';
import type { ApiRequest } from './request.js';

/** Minimum length of a text after which work pauses. */
const longText = 2_048;

/** Parses the query and the selectors of a request in advance, with pauses for other work; see Query.read. */
export async function readAhead(request: ApiRequest, signal: AbortSignal): Promise<void> {
  const pacer = new Pacer(signal);
  for (const text of textsOf(request)) {
    await text.read(pacer);
    await pacer.due();
  }
}

function textsOf(request: ApiRequest): readonly (Query | Selector)[] {
  if ('selectors' in request) return request.selectors;
  const query: Query | Selector | undefined = 'query' in request ? request.query : undefined;
  return query === undefined ? [] : [query];
}

/** Pauses for other work after a step that processed a long query as a whole. */
export async function pauseBehind(request: ApiRequest, signal: AbortSignal): Promise<void> {
  if ('query' in request && request.query.text.length > longText) await new Pacer(signal).due();
}
