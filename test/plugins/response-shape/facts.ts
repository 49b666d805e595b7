import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy, type ProxyUnderTest } from '../../../core/testing/index.js';
import { Relay } from '../../audit/relay.js';
import { pushLoki } from '../embedded-backend/harness.js';

const secondNs = 1_000_000_000n;
const hourNs = 3600n * secondNs;
const rows = 240;
const secondsBetween = 30;
/** Queries that look at groups of segments, or for repeated rows. */
const look = /\bas stretch\b|\b_stream(?:, _time:[^)]*)?\) count\(\*\) as rows/;
const usualQueries = ['detected_level', 'app'].map(
  (by) => `sum by (${by}) (count_over_time({app=~"a|b"} != "no such line" [5m]))`,
);

/** Without caches, so that the engine answers every request. */
export const pipeline = (backend: string): string => `
version: 1
stages:
  - use: tenancy
  - use: guard
    with: { rateLimitPerSecond: 0 }
  - use: translate
  - use: backend
    with: { url: '${backend}' }
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
  - use: admin
`;

export interface FactsFile {
  readonly salt: string;
  readonly facts_by_key: Readonly<
    Record<string, { readonly expires_at_unix_nano: number; readonly fact: { readonly checksum: string } }>
  >;
}

export interface Asked {
  /** The values in the answers, as texts in a fixed order. */
  readonly values: readonly string[];
  /** The backend calls, as texts. */
  readonly calls: readonly string[];
  /** Number of calls that read rows to learn facts about a time segment. */
  readonly looks: number;
}

export interface Asking {
  /** By default, lines by level and by app. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Row = readonly [second: number, line: string];

/** A line with a unique shape. */
export function lineOf(at: number, level = ['INFO', 'ERROR', 'WARN'][at % 3] ?? ''): string {
  const words = Array.from(
    { length: 1 + ((at * 7) % 5) },
    (_none, index) => `w${(at * 31 + index * 17) % 97}x`,
  );
  return `${words.join(' ')} ${level}${at % 2 === 0 ? ':' : ''} ${words.reverse().join('-')} ${at}`;
}

/** A row of every app. */
export const rowAt = (at: number): Row => [1 + at * secondsBetween, lineOf(at)];

/** A backend with two hours of lines that contain their levels, one of them pushed twice, and helpers to query a proxy for them. */
export class FactsHouse {
  readonly folder: string;
  readonly relay: Relay;
  readonly rows = Array.from({ length: rows }, (_none, at) => rowAt(at));
  readonly #backend: string;
  readonly #beginNs = BigInt(Math.floor(Date.now() / 3_600_000)) * hourNs - 6n * hourNs;

  private constructor(folder: string, relay: Relay, backend: string) {
    this.folder = folder;
    this.relay = relay;
    this.#backend = backend;
  }

  static async open(t: ExecutionContext): Promise<FactsHouse> {
    const backend = await startDevBackend();
    const relay = await Relay.open(backend.url);
    const house = new FactsHouse(await mkdtemp(join(tmpdir(), 'facts-')), relay, backend.url);
    t.teardown(async () => {
      relay.close();
      await backend.close();
      await rm(house.folder, { recursive: true, force: true });
    });
    await house.push(house.rows);
    await house.push(house.rows.slice(100, 101));
    return house;
  }

  /** The facts file in the data folder. */
  get path(): string {
    return join(this.folder, 'facts.json');
  }

  get flags(): Readonly<Record<string, string>> {
    return { 'server.register-instrumentation': 'true', 'data-dir': this.folder };
  }

  /** @param headers of another account */
  async push(some: readonly Row[], headers: Readonly<Record<string, string>> = {}): Promise<void> {
    for (const app of ['a', 'b']) {
      const values = some.map(([second, line]): [bigint, string] => [
        this.#beginNs + BigInt(second) * secondNs,
        line,
      ]);
      await pushLoki(this.#backend, { app }, values, undefined, headers);
    }
  }

  /** Runs a proxy with a data folder, or with other flags. */
  async with(
    use: (proxy: ProxyUnderTest) => Promise<void>,
    flags: Readonly<Record<string, string>> = this.flags,
  ): Promise<void> {
    await withProxy(pipeline(this.relay.url), use, { flags });
  }

  /** Queries the numbers of lines in five minutes each. */
  async ask(url: string, { query, headers = {} }: Asking = {}): Promise<Asked> {
    this.relay.forget();
    const values: string[] = [];
    for (const text of query === undefined ? usualQueries : [query]) {
      const params = new URLSearchParams({
        query: text,
        start: String(this.#beginNs + 300n * secondNs),
        end: String(this.#beginNs + 2n * hourNs),
        step: '300',
      });
      const answer = await fetch(`${url}/loki/api/v1/query_range?${params.toString()}`, { headers });
      const body = await answer.text();
      if (answer.status !== 200) throw new Error(`${answer.status} ${body}`);
      const { data } = JSON.parse(body) as { readonly data: { readonly result: readonly unknown[] } };
      values.push(...data.result.map((series) => JSON.stringify(series)));
    }
    const calls = this.relay.calls.map(({ path, args }) => `${path} ${args.get('query') ?? ''}`);
    return { values: values.sort(), calls, looks: calls.filter((call) => look.test(call)).length };
  }

  /** Lets a proxy learn all facts, and stops it. */
  learn(flags?: Readonly<Record<string, string>>): Promise<void> {
    return this.with(async ({ url }) => {
      await this.ask(url);
    }, flags);
  }

  /** The answers of a proxy without facts. */
  async fresh(): Promise<readonly string[]> {
    let values: readonly string[] = [];
    await this.with(async ({ url }) => void ({ values } = await this.ask(url)), {});
    return values;
  }

  async file(): Promise<FactsFile> {
    return JSON.parse(await readFile(this.path, 'utf8')) as FactsFile;
  }
}
