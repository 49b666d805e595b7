import type { IncomingMessage } from 'node:http';
import { apiError } from '../base/errors/table.js';
import { decodeForm } from './form-decode.js';
import { Pacer } from '../base/pace/pacer.js';
import { atPace, doAll, type Steps } from '../base/pace/steps.js';
import type { Params } from '../wire/api/params/index.js';

/**
 * Merges the parameters of a POST form and of the URL: form values first, repeated values in order, as Loki's server does. Bodies of other
 * types count toward the limit but have no parameters.
 */
export async function readMergedParams(
  request: IncomingMessage,
  queryString: string,
  maxBodyBytes: number,
): Promise<Params> {
  const merged = new Map<string, string[]>();
  const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers['content-type'] ?? '');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const body = await readBody(request, maxBodyBytes);
    // A body may be large, so it is parsed with pauses for other work.
    if (isForm) await atPace(addAll(merged, body), new Pacer());
  }
  addUrl(merged, queryString);
  return merged;
}

export function readUrlParams(queryString: string): Params {
  const merged = new Map<string, string[]>();
  addUrl(merged, queryString);
  return merged;
}

/** More than any client sends; otherwise a body of nothing but `&a` would become millions of objects. */
const maxParams = 10_000;

type Merged = Map<string, string[]>;

/** Without pauses: a URL is as bounded as headers are. */
function addUrl(merged: Merged, queryString: string): void {
  if (queryString !== '') doAll(addAll(merged, Buffer.from(queryString)));
}

function addAll(merged: Merged, form: Buffer): Steps<void> {
  if (countParams(form) > maxParams) throw apiError('tooManyParameters', { limit: maxParams });
  return decodeForm(form, (name, value) => {
    const values = merged.get(name);
    if (values === undefined) merged.set(name, [value]);
    else values.push(value);
  });
}

/** The number of parameters; counting stops once it is over the bound. */
function countParams(form: Buffer): number {
  let count = 1;
  for (let at = form.indexOf('&'); at !== -1 && count <= maxParams; at = form.indexOf('&', at + 1))
    count += 1;
  return count;
}

/** Collects a request body up to a bound; a longer one is refused early. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw apiError('bodyTooLarge', { limit: maxBytes });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of wholeBody(request)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw apiError('bodyTooLarge', { limit: maxBytes });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The chunks of a body; a body that breaks off is the client's error. */
async function* wholeBody(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    // An incoming message yields Buffers unless an encoding was set, and none is. The rest of a refused body is discarded after the answer:
    // destroying the message would end the connection without one.
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch {
    throw apiError('brokenBody', {});
  }
}
