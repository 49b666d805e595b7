import { request as httpRequest, type Agent, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';

/** A raw response, before the client parses it. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body without its content encoding. */
  readonly text: string;
  /** Number of body bytes received, before decoding. */
  readonly wireBytes: number;
}

export type Pairs = readonly (readonly [name: string, value: string])[];

/** The parts of a request other than method and path. */
export interface Sending {
  /** Already URL-encoded. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Names of all requests that a feature sent, such as `GET query_range`. */
export class Sent {
  readonly names = new Set<string>();
  count = 0;

  add(method: string, path: string): void {
    this.count += 1;
    this.names.add(`${method} ${shortPath(path)}`);
  }
}

/** A path without the API prefix, with placeholders for the names of labels, fields, namespaces and groups. */
export function shortPath(path: string): string {
  return path
    .replace(/^\/loki\/api\/v1\//, '')
    .replace(/^(label|detected_field)\/[^/]+\/values$/, '$1/{name}/values')
    .replace(/(^|\/)rules\/[^/]+\/[^/]+$/, '$1rules/{namespace}/{group}')
    .replace(/(^|\/)rules\/(?!\{)[^/]+$/, '$1rules/{namespace}');
}

/** Sends requests exactly as given: adds no header and does not change the path. */
export class Http {
  readonly url: string;
  readonly sent: Sent;
  readonly #agent: Agent;
  readonly #change: (reply: Reply) => Reply;

  /** `change` alters the responses, to test that features detect it. */
  constructor(url: string, sent: Sent, agent: Agent, change: (reply: Reply) => Reply = (reply) => reply) {
    this.url = url;
    this.sent = sent;
    this.#agent = agent;
    this.#change = change;
  }

  /** Returns a client for another proxy that records into the same list. */
  at(url: string): Http {
    return new Http(url, this.sent, this.#agent, this.#change);
  }

  async send(method: string, path: string, sending: Sending = {}): Promise<Reply> {
    this.sent.add(method, path);
    const { hostname, port } = new URL(this.url);
    const query = sending.query ?? '';
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        {
          hostname,
          port,
          method,
          path: query === '' ? path : `${path}?${query}`,
          headers: { ...sending.headers },
          agent: this.#agent,
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const body = Buffer.concat(chunks);
            const isZipped = response.headers['content-encoding'] === 'gzip';
            const text = (isZipped ? gunzipSync(body) : body).toString('utf8');
            const { statusCode: status = 0, headers } = response;
            resolve(this.#change({ status, headers, text, wireBytes: body.length }));
          });
        },
      );
      request.on('error', reject);
      request.end(sending.body);
    });
  }
}

/** Encodes parameters like Go's url.Values: sorted by name, spaces as plus signs. */
export function goQuery(pairs: Pairs): string {
  return [...pairs]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => `${goEscape(name)}=${goEscape(value)}`)
    .join('&');
}

export function goEscape(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/%20/g, '+');
}

/** Encodes parameters like browser code: in the given order, spaces as %20. */
export function browserQuery(pairs: Pairs): string {
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
}

export const formType = { 'content-type': 'application/x-www-form-urlencoded' } as const;
