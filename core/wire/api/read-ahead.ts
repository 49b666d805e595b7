import { Pacer } from '../../base/pace/pacer.js';
import { Query } from './query.js';
import type { ApiRequest } from './request.js';

/** What is made of a longer text takes long enough for others to have their turn behind it. */
const longText = 2_048;

/** Reads the query of a request with pauses for others, before somebody asks for its tree; see Query.read. */
export async function readAhead(request: ApiRequest, signal: AbortSignal): Promise<void> {
  if ('query' in request && request.query instanceof Query) await request.query.read(new Pacer(signal));
}

/** Gives others their turn behind what was done with the whole of a long query. */
export async function pauseBehind(request: ApiRequest, signal: AbortSignal): Promise<void> {
  if ('query' in request && request.query.text.length > longText) await new Pacer(signal).due();
}
