import { request as httpRequest, type Agent, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { ProxyAnswer } from '../watch/error-texts.js';
import type { FuzzRequest } from './requests.js';

export interface SentAnswer extends ProxyAnswer {
  readonly headers: IncomingHttpHeaders;
}

const patienceMs = 60_000;
/** A redirect contains the whole address with its query, and Node's client accepts only 16 KiB of headers by default. */
const maxHeaderBytes = 1024 * 1024;

/** Sends a request unchanged; throws if the connection fails. */
export function send(url: string, made: FuzzRequest, agent: Agent): Promise<SentAnswer> {
  const { hostname, port } = new URL(url);
  const pairs = made.params.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join('&');
  const body = made.isForm ? pairs : undefined;
  const path = made.isForm || pairs === '' ? made.path : `${made.path}?${pairs}`;
  // Node would send the body of a GET without a length, so the server would read it as a second request.
  const type =
    body === undefined
      ? {}
      : { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        hostname,
        port,
        path,
        method: made.method,
        agent,
        headers: { ...type, ...made.headers },
        timeout: patienceMs,
        maxHeaderSize: maxHeaderBytes,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const isPacked = response.headers['content-encoding'] === 'gzip' && bytes.length > 0;
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            contentType: response.headers['content-type'] ?? '',
            text: (isPacked ? gunzipSync(bytes) : bytes).toString('utf8'),
          });
        });
      },
    );
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, headers: {}, contentType: '', text: '' });
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${patienceMs} ms`)));
    request.on('error', reject);
    request.end(body);
  });
}

/** Form encoding; a lone surrogate becomes the same as in browsers. */
function escaped(text: string): string {
  return encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'));
}
