import { Pacer } from '../../base/pace/pacer.js';
import { Query } from './query.js';
import type { ApiRequest } from './request.js';

/** Work on a longer text takes long enough to pause after it. */
const longText = 2_048;

/** Parses the query of a request with pauses for other work, before its tree is used; see Query.read. */
export async function readAhead(request: ApiRequest, signal: AbortSignal): Promise<void> {
  if ('query' in request && request.query instanceof Query) await request.query.read(new Pacer(signal));
}

/** Pauses for other work after a step that handled a long query as a whole. */
export async function pauseBehind(request: ApiRequest, signal: AbortSignal): Promise<void> {
  if ('query' in request && request.query.text.length > longText) await new Pacer(signal).due();
}
