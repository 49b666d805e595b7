import { request as httpRequest, type Dispatcher } from 'undici';
import { parsedBody, queryString, type Answered, type ComparedRequest } from './answers.js';

export interface LokiAddress {
  /** URL without `/loki/api/v1`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
  /** Maximum size of an answer. */
  readonly maxBytes: number;
}

/** Asks a Loki API. Returns undefined for an answer that is too large; throws the error of the connection or the signal. */
export async function askLoki(
  { path, params }: ComparedRequest,
  { url, headers, dispatcher, signal, maxBytes }: LokiAddress,
): Promise<Answered | undefined> {
  const query = queryString(params);
  const target = query === '' ? path : `${path}?${query}`;
  const { statusCode, body } = await httpRequest(url + target, { dispatcher, headers, signal });
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxBytes) {
      body.destroy();
      return undefined;
    }
    pieces.push(piece);
  }
  return { status: statusCode, body: parsedBody(Buffer.concat(pieces).toString('utf8')) };
}
