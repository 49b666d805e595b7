import test, { type ExecutionContext } from 'ava';
import { FakeClock } from '../../../core/testing/index.js';
import { openProxy, openStore } from '../../conformance/target.js';

const second = 1_000_000_000n;
const hour = 3_600n * second;
const baseNs = 1_793_491_200n * second;

/** A proxy over 20 hours of lines, with a query helper and its metrics. */
async function overLines(t: ExecutionContext, flags: Readonly<Record<string, string>>) {
  const store = await openStore(undefined, false);
  t.teardown(() => store.close());
  const clock = new FakeClock(baseNs + 20n * hour);
  const proxy = await openProxy(
    store,
    [],
    [
      ['compat-cache-enabled', 'false'],
      ['server.register-instrumentation', 'true'],
      ...Object.entries(flags),
    ],
    clock,
  );
  t.teardown(() => proxy.close());
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${proxy.urls.main}/metrics`)).text();
    return Number(new RegExp(`^ref_proxy_${name} (?<count>\\d+)$`, 'm').exec(text)?.groups?.['count'] ?? NaN);
  };
  const ask = async (fromHour: number, toHour: number): Promise<void> => {
    const params = new URLSearchParams({
      query: 'sum(count_over_time({app="a"}[5m]))',
      start: (baseNs + BigInt(fromHour) * hour).toString(),
      end: (baseNs + BigInt(toHour) * hour - 300n * second).toString(),
      step: '300',
    });
    const answer = await fetch(`${proxy.urls.main}/loki/api/v1/query_range?${params.toString()}`, {
      headers: { 'x-scope-orgid': '0' },
    });
    t.is(answer.status, 200, await answer.text());
  };
  const lines = Array.from({ length: 20 }, (_none, index) => [String(baseNs + BigInt(index) * hour), 'x']);
  const pushed = await fetch(`${store.url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values: lines }] }),
  });
  t.true(pushed.ok);
  const warmed = async (count: number): Promise<void> => {
    while ((await metric('window_warmed_total')) < count)
      await new Promise((resolve) => setTimeout(resolve, 50));
  };
  return { metric, ask, warmed };
}

test('the windows before a query that comes again are read ahead, and somebody who looks back finds them', async (t) => {
  const { metric, ask, warmed } = await overLines(t, { 'query-range-background-warm-max-windows': '5' });
  await ask(10, 18);
  // Another range of the same query, which no cache of whole answers has.
  await ask(11, 18);
  await warmed(5);
  const missed = await metric('window_cache_miss_total');
  const read = await metric('window_fetch_seconds_count');
  await ask(6, 18);
  t.is(await metric('window_cache_miss_total'), missed);
  t.is(await metric('window_fetch_seconds_count'), read);
  // A range beyond the prefetched windows causes reads.
  await ask(4, 18);
  t.true((await metric('window_fetch_seconds_count')) > read);
});

const off: readonly Readonly<Record<string, string>>[] = [
  { 'query-range-background-warm': 'false' },
  { 'query-range-background-warm-max-windows': '0' },
];
for (const flags of off) {
  test(`no windows are read ahead with ${JSON.stringify(flags)}`, async (t) => {
    const without = await overLines(t, flags);
    const beside = await overLines(t, {});
    for (const { ask } of [without, beside]) {
      await ask(10, 18);
      await ask(11, 18);
    }
    // Both proxies are in one process and got the same requests: the one that prefetches has had its turn.
    // Seven windows take two reads; the second is skipped if the process has other work.
    await beside.warmed(4);
    const read = await without.metric('window_fetch_seconds_count');
    await without.ask(6, 18);
    t.true((await without.metric('window_fetch_seconds_count')) > read);
    t.false((await without.metric('window_warmed_total')) > 0);
  });
}
