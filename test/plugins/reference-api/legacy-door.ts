import { request } from 'undici';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';

/** A response; `json` is the body without `stats`, whose shape is checked here. */
export interface Got {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

export type Get = (
  path: string,
  params?: Readonly<Record<string, string>>,
  headers?: Readonly<Record<string, string>>,
  method?: 'GET' | 'POST',
) => Promise<Got>;

const pipeline = `
version: 1
stages:
  - use: tenancy
    with: { requireTenantHeader: true, unknownTenant: reject }
  - use: guard
    with: { rateLimitPerSecond: 0 }
  - use: tier0
  - use: translate
  - use: peer-cache
  - use: backend
  - use: response-shape
endpoints:
  - use: reference-api
`;

/** 2026-11-01T00:00:00Z. */
const baseNs = 1_793_491_200_000_000_000n;
const at = (ms: number): bigint => baseNs + BigInt(ms) * 1_000_000n;

const [shop, cart, other] = [
  { app: 'shop', zone: 'b"q\\x\n\u2028' },
  { app: 'cart', env: 'prod' },
  { app: 'other' },
];

/** A proxy over a backend with lines of tenants 1 and 2; by default, requests cover the lines and use tenant 1. */
export async function withLegacyDoor(use: (get: Get) => Promise<void>): Promise<void> {
  const backend = await startDevBackend();
  const push = async (tenant: string, ...[labels, values]: StreamOf): Promise<void> => {
    const pushed = await pushLoki(backend.url, labels, values, undefined, { AccountID: tenant });
    if (!pushed.ok) throw new Error(`the push was refused: ${await pushed.text()}`);
  };
  try {
    await push('1', shop, [
      [at(0), 'open "now" <b>'],
      [at(1500), 'level=error msg="no stock"', { trace_id: 'abc' }],
      [at(2000) + 123_456_789n, 'level=info msg=ok', { trace_id: 'def' }],
    ]);
    await push('1', cart, [
      [at(1000), 'plain A'],
      [at(3120), 'plain B'],
    ]);
    await push('2', other, [[at(1000), 'of tenant 2']]);
    await withProxy(pipeline, ({ url }) => use(getter(url)), { flags: { backend: backend.url } });
  } finally {
    await backend.close();
  }
}

type StreamOf = readonly [Parameters<typeof pushLoki>[1], Parameters<typeof pushLoki>[2]];

function getter(url: string): Get {
  const range = { start: String(at(-1000)), end: String(at(3_600_000)) };
  return async (path, params = {}, headers = {}, method = 'GET') => {
    const query = new URLSearchParams({ ...range, ...params }).toString();
    const all = { 'x-scope-orgid': '1', ...headers };
    const form = { ...all, 'content-type': 'application/x-www-form-urlencoded' };
    const response =
      method === 'GET'
        ? await request(`${url}${path}?${query}`, { headers: all })
        : await request(url + path, { method, headers: form, body: query });
    const type = response.headers['content-type'];
    const text = await response.body.text();
    // Every body here is a JSON object.
    const { stats, ...json } = JSON.parse(text) as Record<string, unknown> & { readonly stats?: object };
    const parts = Object.keys(stats ?? {}).join();
    if (stats !== undefined && parts !== 'summary,querier,ingester,cache,index') {
      throw new Error(`stats of another shape: ${parts}`);
    }
    return { status: response.statusCode, type: String(type), text, json };
  };
}
