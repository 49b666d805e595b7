import { request } from 'undici';
import { startDevBackend, type DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy, type ProxyUnderTest } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';

/** 2026-11-01T00:00:00Z. */
export const baseNs = 1_793_491_200_000_000_000n;
export const at = (seconds: number): bigint => baseNs + BigInt(seconds) * 1_000_000_000n;

export interface Door extends ProxyUnderTest {
  readonly backend: DevBackend;
  /** Requests a deletion like a careful client, unless the arguments say otherwise. */
  delete(
    form: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Deleted>;
  /** The lines that a query shows, sorted. */
  lines(query: string, headers?: Readonly<Record<string, string>>): Promise<readonly string[]>;
}
export interface Deleted {
  readonly status: number;
  readonly text: string;
  readonly error: unknown;
}

export interface DoorSettings {
  readonly flags?: Readonly<Record<string, string>>;
  /** Plugin options, as in YAML. */
  readonly options?: string;
  /** A backend that several proxies use one after another; by default a new one. */
  readonly backend?: DevBackend;
  /** The backend URL of the proxy, instead of the embedded backend's. */
  readonly backendUrl?: string;
}

const pipeline = `
version: 1
stages:
  - use: tenancy
  - use: guard
    with: { rateLimitPerSecond: 0 }
  - use: tier0
  - use: label-index
  - use: translate
  - use: window-split
  - use: cold-route
  - use: peer-cache
  - use: backend
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
  - use: delete
    with: { pollInterval: 10ms, OPTIONS }
`;

/** Whole hours around the test data. */
const window = { start: String(at(-3600)), end: String(at(3600)) };

/** A proxy with the delete route over its own embedded backend. */
export async function withDoor(
  use: (door: Door) => Promise<void>,
  settings: DoorSettings = {},
): Promise<void> {
  const backend = settings.backend ?? (await startDevBackend());
  const flags = { backend: settings.backendUrl ?? backend.url, ...settings.flags };
  try {
    await withProxy(
      pipeline.replace('OPTIONS', settings.options ?? ''),
      (under) => use(doorOf(under, backend)),
      { flags },
    );
  } finally {
    if (settings.backend === undefined) await backend.close();
  }
}

function doorOf(under: ProxyUnderTest, backend: DevBackend): Door {
  return {
    ...under,
    backend,
    delete: async (form, headers = {}) => {
      const response = await request(`${under.url}/loki/api/v1/delete`, {
        method: 'POST',
        headers: {
          'x-delete-confirmation': 'true',
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        },
        body: new URLSearchParams({ ...window, ...form }).toString(),
      });
      const text = await response.body.text();
      return { status: response.statusCode, text, error: errorOf(text) };
    },
    lines: async (query, headers = {}) => {
      const params = new URLSearchParams({ ...window, query, limit: '1000' });
      const response = await request(`${under.url}/loki/api/v1/query_range?${params.toString()}`, {
        headers,
      });
      const body = (await response.body.json()) as {
        readonly data: {
          readonly result: readonly { readonly values: readonly (readonly [string, string])[] }[];
        };
      };
      return body.data.result.flatMap(({ values }) => values.map(([, line]) => line)).sort();
    },
  };
}

function errorOf(text: string): unknown {
  return text === '' ? undefined : (JSON.parse(text) as { readonly error: unknown }).error;
}

/** Pushes lines of one stream, one per second from the start of the test data. */
export async function push(
  backend: DevBackend,
  labels: Readonly<Record<string, string>>,
  lines: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const values = lines.map((line, index): [bigint, string] => [at(index), line]);
  const response = await pushLoki(backend.url, labels, values, '?disable_message_parsing=1', headers);
  if (!response.ok) throw new Error(`the push was refused: ${await response.text()}`);
}

/** Waits until the backend has no running deletion. */
export async function settled(backend: DevBackend): Promise<void> {
  for (;;) {
    const response = await fetch(`${backend.url}/delete/active_tasks`);
    if ((await response.text()) === '[]') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
