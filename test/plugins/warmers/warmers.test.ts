import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';
import { metric, pipeline } from '../peer-cache/stored.js';

const listings = '/select/logsql/streams';
const roomMs = 150_000;

async function setup(t: ExecutionContext, flags: Readonly<Record<string, string>> = {}) {
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  await pushLoki(backend.url, { app: 'a' }, [[BigInt(Date.now() - 3_600_000) * 1_000_000n, 'line']]);
  const asked = (): number => backend.stats().calls[listings] ?? 0;
  const start = (use: (url: string) => Promise<void>): Promise<void> =>
    withProxy(`${pipeline(backend.url)}\nservices:\n  - use: warmers\n`, ({ url }) => use(url), {
      flags: {
        'server.register-instrumentation': 'true',
        // The gate for long listings depends on the speed of the machine and its free memory.
        'backend-max-concurrent-metadata-scans': '0',
        ...flags,
      },
    });
  return { asked, start };
}

const warmed = async (url: string): Promise<number> =>
  Number((await metric(url, 'label_warmups_total{outcome="warmed"}')) ?? 0);

async function until(t: ExecutionContext, isTrue: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + roomMs;
  while (!(await isTrue())) {
    if (Date.now() > endMs) {
      t.fail('it did not happen');
      return;
    }
    await sleep(50);
  }
}

test('label pickers of all presets are warm after the start', async (t) => {
  t.timeout(2 * roomMs);
  const { asked, start } = await setup(t);
  await start(async (url) => {
    await until(t, async () => (await warmed(url)) === 4);
    const before = asked();
    t.true(before > 4);
    const endMs = Date.now();
    const range = `start=${endMs - 168 * 3_600_000}000000&end=${endMs}000000`;
    const answer = await fetch(`${url}/loki/api/v1/labels?${range}`);
    t.deepEqual(((await answer.json()) as { data: unknown }).data, ['app', 'service_name']);
    // Edges, and one or two buckets if the clock has just passed a boundary.
    t.true(asked() - before < before / 2, `${asked() - before} of ${before}`);
  });
});

test('listings are warmed again before they are due, those of tenants that were seen as well', async (t) => {
  t.timeout(2 * roomMs);
  const { start } = await setup(t, { 'labels-cache-ttl': '1s' });
  await start(async (url) => {
    await fetch(`${url}/loki/api/v1/labels`, { headers: { 'x-scope-orgid': '7' } });
    await until(t, async () => (await warmed(url)) >= 9);
    t.true((await warmed(url)) >= 9);
  });
});

for (const [what, flags] of [
  ['-labels-cache-warm=false', { 'labels-cache-warm': 'false' }],
  ['a long -warmup-max-jitter', { 'warmup-max-jitter': '100000h' }],
] as const)
  test(`with ${what} nothing is asked ahead`, async (t) => {
    const { asked, start } = await setup(t, flags);
    await start(async (url) => {
      await sleep(1_500);
      t.is(asked(), 0);
      t.is(await warmed(url), 0);
    });
  });

test('where nobody may be the default tenant nothing is asked for it, and that is no failure', async (t) => {
  t.timeout(2 * roomMs);
  const { asked, start } = await setup(t, { 'labels-cache-ttl': '1s', 'tenant.unknown': 'reject' });
  await start(async (url) => {
    await sleep(1_500);
    t.is(asked(), 0);
    await fetch(`${url}/loki/api/v1/labels`, { headers: { 'x-scope-orgid': '7' } });
    await until(t, async () => (await warmed(url)) >= 4);
    t.is(await metric(url, 'label_warmups_total{outcome="failed"}'), undefined);
  });
});
