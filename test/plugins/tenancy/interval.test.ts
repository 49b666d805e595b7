import test from 'ava';
import fc from 'fast-check';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';
import { deepRuns } from '../../setup/runs.js';

const pipeline = (backend: string): string => `
version: 1
stages:
  - use: tenancy
  - use: guard
    with: { rateLimitPerSecond: 1, rateLimitBurst: 1000 }
  - use: translate
  - use: backend
    with: { url: '${backend}' }
  - use: response-shape
endpoints:
  - use: reference-api
`;
const second = 1_000_000_000n;
const hour = 3_600n * second;
const start = (BigInt(Date.now()) * 1_000_000n) / hour - 30n;
const range = { startNs: start * hour + hour / 3n, endNs: (start + 3n) * hour };
/** Accounts with separate lines, and one with the lines of all. */
const [busy, quiet, both] = ['21', '22', '23'];

type Line = readonly [timestampNs: bigint, line: string];

/** No two lines have the same timestamp: it is undefined which of them is kept. */
function linesOf(name: string, count: number, offset: bigint): readonly Line[] {
  const spans = fc.sample(
    fc.integer({ min: 1, max: 2 * Number((3n * hour) / second / BigInt(count)) }),
    count,
  );
  let at = start * hour + offset;
  return spans.map((span, index) => [(at += BigInt(span) * second), `${name} ${index}`]);
}

test('an interval keeps the lines of several tenants apart as those of one', async (t) => {
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  const lines = { [busy]: linesOf('busy', 2000, 0n), [quiet]: linesOf('quiet', 60, 1n) };
  for (const [account, own] of Object.entries(lines))
    for (const accountid of [account, both])
      await pushLoki(backend.url, { app: 'a' }, own, undefined, { accountid, projectid: '0' });
  await withProxy(pipeline(backend.url), async ({ url }) => {
    const asked = async (orgId: string, params: Readonly<Record<string, string>>): Promise<unknown> => {
      const times = { start: String(range.startNs), end: String(range.endNs) };
      const query = new URLSearchParams({ query: '{app="a"} != "5"', ...times, ...params });
      const answer = await fetch(`${url}/loki/api/v1/query_range?${query.toString()}`, {
        headers: { 'x-scope-orgid': orgId },
      });
      t.is(answer.status, 200);
      const { data } = (await answer.json()) as {
        readonly data: { readonly result: readonly { readonly values: readonly unknown[] }[] };
      };
      return data.result.flatMap(({ values }) => values).sort();
    };
    const params = fc.record({
      interval: fc.constantFrom('1', '7', '45', '600', '5000', '0.000000001'),
      limit: fc.constantFrom('1', '10', '100', '5000'),
      direction: fc.constantFrom('forward', 'backward'),
    });
    await fc.assert(
      fc.asyncProperty(params, async (each) => {
        t.deepEqual(await asked(`${busy}|${quiet}`, each), await asked(both, each));
      }),
      { numRuns: deepRuns(8, 20) },
    );
    t.deepEqual(await asked(`${busy}|nobody`, { interval: '60' }), await asked(busy, { interval: '60' }));
    t.deepEqual(await asked('nobody|nowhere', { interval: '60' }), []);
  });
});
