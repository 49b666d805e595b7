import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { startDevBackend, type DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy, type ProxyUnderTest } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';

const pipeline = (backend: string, stages: string): string => `
version: 1
stages:
  - use: tenancy
${stages}
  - use: label-index
  - use: translate
  - use: backend
    with: { url: '${backend}' }
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
  - use: admin
`;

export type Flags = Readonly<Record<string, string>>;

export interface Backend {
  readonly backend: DevBackend;
  /** A snapshot path in a folder that is removed after the test. */
  readonly path: string;
  /** Pushes a line for each pod, an hour old. */
  readonly push: (pods: readonly string[], labels?: Flags, headers?: Flags) => Promise<void>;
  /** Makes listings fail from now on, or succeed again. */
  readonly fail: (isFailing: boolean) => Promise<void>;
  /** Number of value listings so far. */
  readonly asked: () => number;
  /** Runs a proxy with the index. */
  readonly run: <Result>(
    use: (door: Door) => Promise<Result>,
    flags?: Flags,
    stages?: string,
  ) => Promise<Result>;
}

export interface Door extends ProxyUnderTest {
  /** Lists the values of a label; `query` is appended to `/values`. */
  readonly values: (query?: string, headers?: Flags, label?: string) => Promise<readonly string[]>;
  readonly metric: (name: string) => Promise<string | undefined>;
}

export async function withPods(t: ExecutionContext, pods: readonly string[]): Promise<Backend> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-index-'));
  const backend = await startDevBackend({ faults: true });
  t.teardown(async () => {
    await backend.close();
    await rm(folder, { recursive: true, force: true });
  });
  const pushedNs = BigInt(Date.now() - 3_600_000) * 1_000_000n;
  const push: Backend['push'] = async (some, labels = {}, headers = {}) => {
    for (const pod of some)
      await pushLoki(backend.url, { pod, ...labels }, [[pushedNs, 'line']], undefined, headers);
  };
  await push(pods);
  return {
    backend,
    path: join(folder, 'labels.json'),
    push,
    fail: async (isFailing) => {
      const rules = isFailing ? [{ path: '/select/logsql/stream_field_values', status: 500 }] : [];
      await fetch(`${backend.url}/-/faults`, { method: 'POST', body: JSON.stringify(rules) });
    },
    asked: () => backend.stats().calls['/select/logsql/stream_field_values'] ?? 0,
    run: (use, flags = {}, stages = '') =>
      withProxy(pipeline(backend.url, stages), (under) => use(doorOf(t, under)), {
        flags: {
          'label-values-indexed-cache': 'true',
          'server.register-instrumentation': 'true',
          ...flags,
        },
      }),
  };
}

function doorOf(t: ExecutionContext, under: ProxyUnderTest): Door {
  return {
    ...under,
    values: async (query = '', headers = {}, label = 'pod') => {
      const answer = await fetch(`${under.url}/loki/api/v1/label/${label}/values${query}`, { headers });
      t.is(answer.status, 200);
      const { data } = (await answer.json()) as { readonly data?: readonly string[] };
      return data ?? [];
    },
    metric: async (name) => {
      const text = await (await fetch(`${under.url}/metrics`)).text();
      return new RegExp(`^ref_proxy_${name} (.+)$`, 'm').exec(text)?.[1];
    },
  };
}
