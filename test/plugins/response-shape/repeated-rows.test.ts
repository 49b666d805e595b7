import test, { type ExecutionContext } from 'ava';
import { FakeClock } from '../../../core/testing/index.js';
import { openProxy, openStore } from '../../conformance/target.js';

const minute = 60n * 1_000_000_000n;
const baseNs = 1_793_491_200n * 1_000_000_000n;
const rows = 60;

/** Starts a proxy over an hour with one row per minute, each pushed twice; returns query helpers. */
async function overRepeats(t: ExecutionContext, rule: string) {
  const store = await openStore(undefined, false);
  t.teardown(() => store.close());
  const values = Array.from({ length: rows }, (_none, index) => [
    String(baseNs + BigInt(index) * minute),
    JSON.stringify({ level: index % 2 === 0 ? 'info' : 'error', took: index }),
  ]);
  for (let times = 0; times < 2; times += 1) {
    const pushed = await fetch(`${store.url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values }] }),
    });
    t.true(pushed.ok);
  }
  const proxy = await openProxy(store, [], [['repeated-rows', rule]], new FakeClock(baseNs + 120n * minute));
  t.teardown(() => proxy.close());
  const ask = async (path: string, query: string): Promise<unknown> => {
    const end = baseNs + 60n * minute;
    const params = new URLSearchParams({ query, time: String(end), start: String(baseNs), end: String(end) });
    const answer = await fetch(`${proxy.urls.main}/loki/api/v1/${path}?${params.toString()}`, {
      headers: { 'x-scope-orgid': '0' },
    });
    t.is(answer.status, 200);
    return answer.json();
  };
  const valueOf = async (query: string): Promise<number> => {
    const { data } = (await ask('query', query)) as { data: { result: { value: [number, string] }[] } };
    return Number(data.result[0]?.value[1]);
  };
  return { ask, valueOf };
}

for (const [rule, copies] of [
  ['once', 1],
  ['stored', 2],
] as const)
  test(`rows that were pushed twice count with -repeated-rows=${rule}`, async (t) => {
    const { ask, valueOf } = await overRepeats(t, rule);
    t.is(await valueOf('sum(count_over_time({app="a"}[61m]))'), rows * copies);
    t.is(await valueOf('sum(count_over_time({app="a"} | json | level="info" [61m]))'), (rows / 2) * copies);
    // Counts of whole rows, and of values that the backend aggregates.
    t.is(
      await valueOf('sum(count_over_time({app="a"} | line_format "{{.app}}" |= "a" [61m]))'),
      rows * copies,
    );
    t.is(
      await valueOf('sum(sum_over_time({app="a"} | json | unwrap took [61m]))'),
      ((rows * (rows - 1)) / 2) * copies,
    );
    const stats = (await ask('index/stats', '{app="a"}')) as { entries: number };
    t.is(stats.entries, rows * copies);
    // Lines are shown once in both cases.
    const { data } = (await ask('query_range', '{app="a"}')) as { data: { result: { values: unknown[] }[] } };
    t.is(
      data.result.reduce((sum, { values }) => sum + values.length, 0),
      rows,
    );
  });
