import { request } from 'undici';
import type { RunningProxy } from '../../core/program/start-proxy.js';
import type { CapturedLog } from '../../core/testing/index.js';
import { expect } from './section.js';
import type { Relay } from './relay.js';

/** A response. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export type Params = Readonly<Record<string, string | readonly string[]>>;
export type Headers = Readonly<Record<string, string>>;

export interface Entry {
  readonly labels: Readonly<Record<string, string>>;
  readonly line: string;
  readonly metadata: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
}

/** A proxy under test, with the relay between it and its backend. */
export class Site {
  readonly url: string;
  readonly adminUrl: string;
  readonly proxy: RunningProxy;
  readonly log: CapturedLog;
  readonly relay: Relay;
  readonly #orgId: string | undefined;

  constructor(proxy: RunningProxy, log: CapturedLog, relay: Relay, orgId: string | undefined) {
    this.url = proxy.urls.main;
    this.adminUrl = proxy.urls.admin ?? proxy.urls.main;
    this.proxy = proxy;
    this.log = log;
    this.relay = relay;
    this.#orgId = orgId;
  }

  /** The default headers of its requests. */
  get headers(): Headers {
    return this.#orgId === undefined ? {} : { 'x-scope-orgid': this.#orgId };
  }

  /** Sends a request to the main listener; a path without a leading slash is below `/loki/api/v1`. */
  async get(path: string, params: Params = {}, headers: Headers = {}): Promise<Reply> {
    return this.send('GET', path, params, headers);
  }

  async send(method: string, path: string, params: Params, headers: Headers = {}): Promise<Reply> {
    const isForm = method === 'POST';
    const url = new URL(path.startsWith('/') ? path : `/loki/api/v1/${path}`, this.url);
    const form = new URLSearchParams();
    for (const [name, values] of Object.entries(params))
      for (const value of [values].flat()) (isForm ? form : url.searchParams).append(name, value);
    return ask(url, {
      // Probes use HTTP methods only.
      method: method as 'GET',
      headers: {
        ...this.headers,
        ...(isForm ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
        ...headers,
      },
      ...(isForm ? { body: form.toString() } : {}),
    });
  }

  /** The JSON response to a request; throws unless the status is 200. */
  async json(path: string, params: Params = {}, headers: Headers = {}): Promise<Json> {
    const { status, text } = await this.get(path, params, headers);
    expect(status === 200, `${path} answers ${status} ${text.slice(0, 300)}`);
    // The probe asserts the parts that it reads.
    return JSON.parse(text) as Json;
  }

  /** The entries of a log query, newest first. */
  async entries(params: Params, headers: Headers = {}): Promise<readonly Entry[]> {
    const { data } = await this.json('query_range', params, headers);
    return entriesOf(data);
  }

  /** The sum of all samples of a metric; NaN if there are none. */
  async metric(name: string): Promise<number> {
    const { text } = await this.get('/metrics');
    const form = new RegExp(`^ref_proxy_${name}(?:\\{.*\\})? (\\S+)$`, 'gm');
    const values = [...text.matchAll(form)].map(([, value]) => Number(value));
    return values.length === 0 ? NaN : values.reduce((sum, value) => sum + value, 0);
  }

  /** The paths of the calls since the last `forget`, without `/select/logsql/`. */
  get called(): readonly string[] {
    return this.relay.calls.map(({ path }) => path.replace('/select/logsql/', ''));
  }
}

/** An API response; its readers assert the parts that they read. */
export interface Json {
  readonly status?: string;
  readonly data?: unknown;
  readonly warnings?: readonly string[];
  readonly [name: string]: unknown;
}

interface Stream {
  readonly stream: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [string, string, Entry['metadata']?])[];
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

export function entriesOf(data: unknown): readonly Entry[] {
  const { result } = data as { readonly result: readonly Stream[] };
  return result
    .flatMap(({ stream, values }) =>
      values.map(([at, line, metadata]) => ({ at: BigInt(at), labels: stream, line, metadata })),
    )
    .sort((a, b) => (a.at > b.at ? -1 : 1));
}

export function seriesOf({ data }: Json): readonly Series[] {
  return (data as { readonly result: readonly Series[] }).result;
}

export async function ask(url: URL | string, options: Parameters<typeof request>[1] = {}): Promise<Reply> {
  const { statusCode, headers, body } = await request(url, options);
  return { status: statusCode, headers, text: await body.text() };
}

/** The text of an error, preceded by its status. */
export function errorOf({ status, text }: Reply): string {
  const found = /"error":"((?:[^"\\]|\\.)*)"/.exec(text);
  return `${status} ${found?.[1] === undefined ? text.trim() : String(JSON.parse(`"${found[1]}"`))}`;
}
