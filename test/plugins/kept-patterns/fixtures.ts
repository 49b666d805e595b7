import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { startDevBackend, type DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { pushLoki } from '../embedded-backend/harness.js';

/** A pipeline without other caches, so that everything not kept is requested from the backend. */
export const pipeline = (backend: string, sections = ''): string => `
version: 1
${sections}
stages:
  - use: tenancy
  - use: guard
    with: { rateLimitPerSecond: 0 }
  - use: kept-patterns
  - use: translate
  - use: backend
    with: { url: '${backend}' }
  - use: response-shape
endpoints:
  - use: reference-api
  - use: patterns
  - use: status
  - use: admin
`;

export interface Asking {
  readonly query?: string;
  /** Minutes before the time of the fixture. */
  readonly from?: number;
  readonly to?: number;
  readonly tenant?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Extra parameters. */
  readonly more?: Readonly<Record<string, string>>;
}

export interface Logs {
  readonly backend: DevBackend;
  /** The snapshot path. */
  readonly path: string;
  /** Flags with a snapshot at the path, and flags without one. */
  readonly flags: Readonly<Record<string, string>>;
  readonly plain: Readonly<Record<string, string>>;
  readonly patterns: (url: string, asking?: Asking) => Promise<readonly FoundPattern[]>;
  readonly lines: (url: string, asking?: Asking) => Promise<void>;
  /** The parameters of a request. */
  readonly past: (asking: Asking) => string;
  /** Number of row queries that the backend got. */
  readonly asked: () => number;
  /** The content of the snapshot file. */
  readonly snapshot: () => Promise<Snapshot>;
}

export interface FoundPattern {
  readonly pattern: string;
  readonly level?: string;
  readonly samples: readonly (readonly [number, number])[];
}

export interface Snapshot {
  readonly version: number;
  readonly saved_at_unix_nano: number;
  readonly entries_by_key: Readonly<
    Record<
      string,
      { readonly value: string; readonly updated_at_unix_nano: number; readonly pattern_count: number }
    >
  >;
}

const minuteNs = 60_000_000_000n;

/**
 * A backend with an hour of lines that ended an hour ago, with one shape in app `a` and two in `b`, and helpers to query a proxy for them.
 */
export async function logsFor(t: ExecutionContext): Promise<Logs> {
  const folder = await mkdtemp(join(tmpdir(), 'kept-patterns-'));
  const backend = await startDevBackend({ faults: true });
  t.teardown(async () => {
    await backend.close();
    await rm(folder, { recursive: true, force: true });
  });
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  for (const app of ['a', 'b']) {
    const lines = Array.from({ length: 120 }, (_none, index): [bigint, string] => [
      nowNs - (120n - BigInt(index) / 2n) * minuteNs,
      app === 'b' && index % 2 === 0
        ? `level=error request ${index * 5} failed with status ${500 + (index % 4)}`
        : `level=info user ${index * 7} logged in from host ${index % 9} after ${index * 3} ms`,
    ]);
    await pushLoki(backend.url, { app }, lines, '?disable_message_parsing=1');
  }
  const plain = { 'server.register-instrumentation': 'true' };
  const path = join(folder, 'patterns.json');
  const past = ({ query = '{app="a"}', from = 130, to = 50, more }: Asking): string =>
    new URLSearchParams({
      query,
      start: String(nowNs - BigInt(from) * minuteNs),
      end: String(nowNs - BigInt(to) * minuteNs),
      ...more,
    }).toString();
  const get = async (url: string, asking: Asking): Promise<{ readonly data: unknown }> => {
    const { tenant, headers } = asking;
    const answer = await fetch(`${url}?${past(asking)}`, {
      headers: { ...headers, ...(tenant === undefined ? {} : { 'x-scope-orgid': tenant }) },
    });
    t.is(answer.status, 200, url);
    return (await answer.json()) as { readonly data: unknown };
  };
  return {
    backend,
    path,
    past,
    flags: { ...plain, 'patterns-persist-path': path },
    plain,
    patterns: async (url, asking = {}) =>
      (await get(`${url}/loki/api/v1/patterns`, asking)).data as readonly FoundPattern[],
    lines: async (url, asking = {}) => {
      await get(`${url}/loki/api/v1/query_range`, asking);
    },
    asked: () => backend.stats().calls['/select/logsql/query'] ?? 0,
    snapshot: async () => JSON.parse(await readFile(path, 'utf8')) as Snapshot,
  };
}

/** The current metrics; a missing metric is 0. */
export async function metrics(url: string): Promise<(name: string) => number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return (name) => {
    const [, value] = new RegExp(`^ref_proxy_${name.replace(/[{}]/g, '\\$&')} (.+)$`, 'm').exec(text) ?? [];
    return Number(value ?? 0);
  };
}

export async function metric(url: string, name: string): Promise<number> {
  return (await metrics(url))(name);
}

export async function isReady(url: string): Promise<boolean> {
  return (await fetch(`${url}/ready`)).status === 200;
}
