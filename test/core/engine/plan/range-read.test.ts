/** Stored names are looked up in the whole range that a query reads, which begins and ends at multiples of its step. */
import test from 'ava';
import { openProxy, openStore } from '../../../conformance/target.js';

const baseSeconds = 1_793_491_200;
const account = '1';

interface Answered {
  readonly data: { readonly result: readonly { readonly values?: readonly (readonly [number, string])[] }[] };
}

test('a field that only occurs outside of the requested times, but in a window of them, is found by its name', async (t) => {
  t.timeout(60_000);
  const store = await openStore(undefined, false);
  t.teardown(() => store.close());
  const rows = [
    // In the window of the first step, which is before the requested start.
    { _time: timeOf(30), app: 'a', 'error.kind': 'x' },
    { _time: timeOf(150), app: 'a', status: '200' },
    // In the window of the last step, which is after the requested end.
    { _time: timeOf(239), app: 'a', 'late.error': 'x' },
  ];
  const pushed = await fetch(`${store.url}/insert/jsonline?_stream_fields=app`, {
    method: 'POST',
    headers: { 'content-type': 'application/stream+json', accountid: account },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  });
  t.true(pushed.ok);
  const proxy = await openProxy(store);
  t.teardown(() => proxy.close());
  const params = new URLSearchParams({
    query: 'sum(count_over_time({app="a"} |~ "\\\\berror\\\\b" [1m]))',
    start: String(baseSeconds + 110),
    end: String(baseSeconds + 190),
    step: '60',
  });
  const answer = await fetch(`${proxy.urls.main}/loki/api/v1/query_range?${params.toString()}`, {
    headers: { 'x-scope-orgid': account },
  });
  t.is(answer.status, 200);
  const { data } = (await answer.json()) as Answered;
  t.deepEqual(
    data.result.map(({ values }) => values),
    [
      [
        [baseSeconds + 60, '1'],
        [baseSeconds + 240, '1'],
      ],
    ],
  );
});

function timeOf(seconds: number): string {
  return new Date((baseSeconds + seconds) * 1000).toISOString();
}
