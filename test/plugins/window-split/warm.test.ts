import test from 'ava';
import { FakeClock } from '../../../core/testing/index.js';
import { openProxy, openStore } from '../../conformance/target.js';

const second = 1_000_000_000n;
const hour = 3_600n * second;
const baseNs = 1_793_491_200n * second;

test('the windows before a query that comes again are read ahead, and somebody who looks back finds them', async (t) => {
  const store = await openStore(undefined, false);
  const clock = new FakeClock(baseNs + 20n * hour);
  const proxy = await openProxy(
    store,
    [],
    [
      ['compat-cache-enabled', 'false'],
      ['server.register-instrumentation', 'true'],
      ['query-range-background-warm-max-windows', '5'],
    ],
    clock,
  );
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
  try {
    const lines = Array.from({ length: 20 }, (_none, index) => [String(baseNs + BigInt(index) * hour), 'x']);
    const pushed = await fetch(`${store.url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values: lines }] }),
    });
    t.true(pushed.ok);
    await ask(10, 18);
    // Another range of the same question, so that no cache of whole answers has it.
    await ask(11, 18);
    while ((await metric('window_warmed_total')) < 5) await new Promise((resolve) => setTimeout(resolve, 20));
    const missed = await metric('window_cache_miss_total');
    const read = await metric('window_fetch_seconds_count');
    await ask(6, 18);
    t.is(await metric('window_cache_miss_total'), missed);
    t.is(await metric('window_fetch_seconds_count'), read);
    // One more than was asked for before is one too many.
    await ask(4, 18);
    t.true((await metric('window_fetch_seconds_count')) > read);
  } finally {
    await proxy.close();
    await store.close();
  }
});
