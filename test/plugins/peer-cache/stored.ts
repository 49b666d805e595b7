import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { pushLoki } from '../embedded-backend/harness.js';

/** A pipeline with this cache, and with optional sections or stages before it. */
export const pipeline = (backend: string, sections = '', stages = ''): string => `
version: 1
${sections}
stages:
  - use: tenancy
${stages}
  - use: translate
  - use: peer-cache
  - use: backend
    with: { url: '${backend}' }
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
  - use: admin
`;

/** A backend with an hour-old line, a query for it, and flags for a proxy that can be restarted. */
export async function stored(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-disk-'));
  const backend = await startDevBackend({ faults: true });
  t.teardown(async () => {
    await backend.close();
    await rm(folder, { recursive: true, force: true });
  });
  const pushedNs = BigInt(Date.now() - 3_600_000) * 1_000_000n;
  await pushLoki(backend.url, { app: 'a' }, [[pushedNs, 'one']], '?disable_message_parsing=1');
  const query = new URLSearchParams({
    query: '{app="a"}',
    start: String(pushedNs - 60_000_000_000n),
    end: String(pushedNs + 60_000_000_000n),
  });
  const path = `/loki/api/v1/query_range?${query.toString()}`;
  const ask = async (url: string, tenant?: string): Promise<string> => {
    const headers = tenant === undefined ? {} : { 'x-scope-orgid': tenant };
    const answer = await fetch(url + path, { headers });
    t.is(answer.status, 200);
    const { data } = (await answer.json()) as { readonly data: { readonly result: unknown } };
    return JSON.stringify(data.result);
  };
  const flags = { 'disk-cache-path': join(folder, 'cache.db'), 'server.register-instrumentation': 'true' };
  return { backend, path, ask, flags };
}

export async function metric(url: string, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const escaped = name.replaceAll(/[{}]/g, String.raw`\$&`);
  return new RegExp(`^ref_proxy_${escaped} (.+)$`, 'm').exec(text)?.[1];
}
