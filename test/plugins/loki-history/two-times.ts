import { readFile } from 'node:fs/promises';
import { FakeClock, withProxy, type ProxyUnderTest } from '../../../core/testing/index.js';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { parsedBody, queryString, type Answered } from '../../../core/comparison/answers.js';
import { printRfc3339 } from '../../../core/base/time/index.js';

/** 2026-11-08T00:00:00Z. */
export const nowNs = 1_794_096_000_000_000_000n;

/** An entry as it is pushed. */
export interface StoredEntry {
  readonly stream: Readonly<Record<string, string>>;
  readonly timeNs: bigint;
  readonly line: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export type Params = Readonly<Record<string, string | readonly string[]>>;

/** A Loki API under test. */
export interface Api extends ProxyUnderTest {
  /** Requests a path below `/loki/api/v1/`. */
  readonly ask: (
    path: string,
    params: Params,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answered>;
  readonly metric: (name: string) => Promise<number>;
}

const flags = {
  'rate-limit-per-second': '0',
  'labels-cache-warm': 'false',
  'server.register-instrumentation': 'true',
};

/** Runs a proxy over an embedded backend with these entries; with an old Loki, the pipeline has the `loki-history` stage. */
export async function withStore(
  entries: readonly StoredEntry[],
  use: (api: Api) => Promise<void>,
  options: Readonly<Record<string, string>> = {},
): Promise<void> {
  const backend = await startDevBackend({ nowNs: () => nowNs });
  try {
    await push(backend.url, entries);
    await withBackend(backend.url, use, options);
  } finally {
    await backend.close();
  }
}

/** Runs a proxy over a backend; with options, the pipeline has the `loki-history` stage. */
export async function withBackend(
  url: string,
  use: (api: Api) => Promise<void>,
  options: Readonly<Record<string, string>> = {},
): Promise<void> {
  const settings = { clock: new FakeClock(nowNs), flags: { ...flags, backend: url, ...options } };
  const pipeline = await pipelineText('loki-history-url' in options);
  await withProxy(
    pipeline,
    (under) =>
      use({
        ...under,
        async ask(path, params, headers = {}) {
          const answer = await fetch(`${under.url}/loki/api/v1/${path}?${queryString(params)}`, { headers });
          return { status: answer.status, body: parsedBody(await answer.text()) };
        },
        async metric(name) {
          const text = await (await fetch(`${under.url}/metrics`)).text();
          const all = text.split('\n').filter((line) => line.startsWith(`ref_proxy_${name}`));
          return all.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
        },
      }),
    settings,
  );
}

/** The flags for data from an old Loki. */
export function historyFlags(url: string, untilNs: bigint): Readonly<Record<string, string>> {
  return { 'loki-history-url': url, 'loki-history-until': printRfc3339(untilNs) };
}

async function pipelineText(hasHistory: boolean): Promise<string> {
  const shipped = await readFile('pipelines/reference-compatible.yaml', 'utf8');
  return hasHistory
    ? shipped.replace('  - use: translate', '  - use: loki-history\n  - use: translate')
    : shipped;
}

async function push(url: string, entries: readonly StoredEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const streams = entries.map(({ stream, timeNs, line, metadata = {} }) => ({
    stream,
    values: [[String(timeNs), line, metadata]],
  }));
  const answer = await fetch(`${url}/insert/loki/api/v1/push`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams }),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}
