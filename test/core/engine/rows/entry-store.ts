import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { RunningProxy } from '../../../../core/program/start-proxy.js';
import { openProxy, openStore, type Store } from '../../../conformance/target.js';

export type Fields = Readonly<Record<string, string>>;

/** An entry as a client pushes it. */
export interface Pushed {
  readonly ns: bigint;
  readonly stream: Fields;
  readonly line: string;
  readonly metadata: Fields;
}

/** An entry as a client receives it. */
export interface Shown {
  readonly ns: bigint;
  readonly stream: Fields;
  readonly line: string;
  readonly metadata: Fields;
}

/** Values by the labels of their series, and by time if there are several times. */
export type Values = Readonly<Record<string, number>>;

const noCaches = [
  ['cache-disabled', 'true'],
  ['compat-cache-enabled', 'false'],
] as const;
const whole = ['query-range-windowing', 'false'] as const;

/** Proxy configurations that must not change any answer. */
const variants: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  plain: [...noCaches, whole],
  cached: [],
  'windows of 13 minutes, in threads': [
    ...noCaches,
    ['query-range-split-interval', '13m'],
    ['row-threads-min-rows', '0'],
  ],
  'pushdown off': [...noCaches, whole, ['pushdown', 'off']],
};

const tenants = 60;
const firstAccount = process.env['BACKEND_URL'] === undefined ? 900 : randomInt(1_000_000, 4_000_000_000);

/** A backend and several proxies in front of it, which must all give the same answers; each test has a tenant of its own. */
export class EntryStore {
  readonly #store: Store;
  readonly #proxies: readonly (readonly [name: string, proxy: RunningProxy])[];
  #tenant = 0;
  /** Number of rows stored for the tenant. */
  #stored = 0;

  private constructor(store: Store, proxies: EntryStore['proxies']) {
    this.#store = store;
    this.#proxies = proxies;
  }

  static async open(): Promise<EntryStore> {
    const store = await openStore(process.env['BACKEND_URL'], false);
    const map = Object.fromEntries(
      Array.from({ length: tenants }, (_none, index) => [
        `e${index}`,
        { account_id: String(firstAccount + index), project_id: '0' },
      ]),
    );
    const opened = Object.entries(variants).map(async ([name, flags]) => {
      const proxy = await openProxy(store, [], [['tenant-map', JSON.stringify(map)], ...flags]);
      return [name, proxy] as const;
    });
    return new EntryStore(store, await Promise.all(opened));
  }

  async close(): Promise<void> {
    await Promise.all(this.#proxies.map(([, proxy]) => proxy.close()));
    await this.#store.close();
  }

  get proxies(): readonly (readonly [name: string, proxy: RunningProxy])[] {
    return this.#proxies;
  }

  /** Starts a test with an empty tenant. */
  next(): void {
    if (this.#tenant === tenants - 1) throw new Error('there are no more tenants');
    this.#tenant += 1;
    this.#stored = 0;
  }

  get #account(): Fields {
    return { accountid: String(firstAccount + this.#tenant), projectid: '0' };
  }

  /** Stores entries in the form of Loki's push API, `together` entries at a time. */
  async push(entries: readonly Pushed[], together = entries.length): Promise<void> {
    for (let at = 0; at < entries.length; at += together) {
      const streams = entries
        .slice(at, at + together)
        .map(({ ns, stream, line, metadata }) => ({ stream, values: [[ns.toString(), line, metadata]] }));
      await this.#post(
        '/insert/loki/api/v1/push?disable_message_parsing=1',
        'application/json',
        JSON.stringify({ streams }),
      );
    }
    await this.#untilStored(entries.length);
  }

  /** Stores rows with all their fields, such as those that the backend makes of OpenTelemetry records. */
  async pushRows(streamFields: readonly string[], rows: readonly Fields[]): Promise<void> {
    const path = `/insert/jsonline?_stream_fields=${encodeURIComponent(streamFields.join(','))}`;
    const body = rows.map((row) => JSON.stringify(row)).join('\n');
    await this.#post(path, 'application/stream+json', body);
    await this.#untilStored(rows.length);
  }

  /** Waits, because a backend shows rows and streams a while after it has accepted them. */
  async #untilStored(more: number): Promise<void> {
    this.#stored += more;
    const body = new URLSearchParams({ query: '{none=""} | stats count() rows' }).toString();
    for (;;) {
      const text = await this.#post('/select/logsql/query', 'application/x-www-form-urlencoded', body);
      if (Number(/"rows":"(\d+)"/.exec(text)?.[1] ?? 0) >= this.#stored) return;
      await sleep(50);
    }
  }

  async #post(path: string, type: string, body: string): Promise<string> {
    const headers = { 'content-type': type, ...this.#account };
    const answer = await request(new URL(path, this.#store.url), { method: 'POST', headers, body });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${text}`);
    return text;
  }

  /** The JSON response of a proxy. */
  async ask(
    { urls }: RunningProxy,
    path: string,
    params: Readonly<Record<string, string | bigint>>,
  ): Promise<Record<string, unknown>> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) query.set(name, String(value));
    const answer = await request(`${urls.main}/loki/api/v1/${path}?${query.toString()}`, {
      headers: {
        'x-scope-orgid': `e${this.#tenant}`,
        'x-loki-response-encoding-flags': 'categorize-labels',
      },
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${path} ${query.toString()}: ${text}`);
    // Every response here is a JSON object.
    return JSON.parse(text) as Record<string, unknown>;
  }

  /** The entries of a log query. */
  async entries(
    proxy: RunningProxy,
    params: Readonly<Record<string, string | bigint>>,
  ): Promise<readonly Shown[]> {
    const { data } = await this.ask(proxy, 'query_range', { limit: '5000', ...params });
    const { result } = data as {
      readonly result: readonly {
        readonly stream: Fields;
        readonly values: readonly (readonly [string, string, { readonly structuredMetadata?: Fields }])[];
      }[];
    };
    return result.flatMap(({ stream, values }) =>
      values.map(([ns, line, { structuredMetadata = {} }]) => ({
        ...{ ns: BigInt(ns), stream, line },
        metadata: structuredMetadata,
      })),
    );
  }

  /** The samples of a metric query at an instant, or with a step over a range. */
  async values(
    proxy: RunningProxy,
    query: string,
    when: { readonly time: bigint } | { readonly start: bigint; readonly end: bigint; readonly step: string },
  ): Promise<Values> {
    const { data } = await this.ask(proxy, 'time' in when ? 'query' : 'query_range', { query, ...when });
    const { result } = data as {
      readonly result: readonly {
        readonly metric: Fields;
        readonly value?: readonly [number, string];
        readonly values?: readonly (readonly [number, string])[];
      }[];
    };
    const found = result.flatMap(({ metric, value, values = [] }) => {
      const key = labelsKey(metric);
      if (value !== undefined) return [[key, Number(value[1])] as const];
      return values.map(([seconds, text]) => [`${key} ${seconds}`, Number(text)] as const);
    });
    return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** The same text for equal sets of labels; empty labels are left out. */
export function labelsKey(labels: Fields): string {
  const all = Object.entries(labels).filter(([, value]) => value !== '');
  return all
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** The entries that Loki would keep: one of each set of equal entries. */
export function distinct<Entry extends Pushed>(entries: readonly Entry[]): readonly Entry[] {
  return [...new Map(entries.map((entry) => [entryKey(entry), entry])).values()];
}

export function entryKey({ ns, stream, line, metadata }: Pushed): string {
  return JSON.stringify([ns.toString(), labelsKey(stream), line, labelsKey(metadata)]);
}

/** The number of entries, or the sum of their values, by the labels with these names. */
export function sumBy(
  entries: readonly Pushed[],
  names: readonly string[],
  valueOf: (entry: Pushed) => number = () => 1,
): Values {
  const sums = new Map<string, number>();
  for (const entry of entries) {
    const all: Fields = { ...entry.metadata, ...entry.stream };
    const key = labelsKey(Object.fromEntries(names.map((name) => [name, all[name] ?? ''])));
    sums.set(key, (sums.get(key) ?? 0) + valueOf(entry));
  }
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Queries over the hour, with their expected values if equal entries count once. */
export function expectations(
  entries: readonly Pushed[],
): readonly (readonly [query: string, values: Values])[] {
  const bytes = ({ line }: Pushed): number => Buffer.byteLength(line);
  const withX = entries.filter(({ metadata }) => (metadata['trace_id'] ?? metadata['trace.id']) === 'x');
  return [
    ['sum by (app) (count_over_time({app=~".+"}[1h]))', sumBy(entries, ['app'])],
    ['sum by (took) (count_over_time({app=~".+"}[1h]))', sumBy(entries, ['took'])],
    ['sum by (app) (bytes_over_time({app=~".+"}[1h]))', sumBy(entries, ['app'], bytes)],
    ['sum(count_over_time({app=~".+"} | trace_id="x" [1h]))', withX.length === 0 ? {} : { '': withX.length }],
  ];
}

/** Rounded, because rows arrive in any order and sums of fractions differ in the last digits. */
export function rounded(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Number(value.toPrecision(9))]),
  );
}
