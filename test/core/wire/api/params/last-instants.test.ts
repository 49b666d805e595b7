import test from 'ava';
import { forMany, heldOpen, type Held } from '../../../../setup/held-open.js';
import { spreadSample } from '../../../../setup/runs.js';
import { withDoor, type Door, type Got } from '../../limits/door.js';

const selector = '{app="a"}';
const counted = 'sum(count_over_time({app="a"}[5m]))';
const counts = [
  counted,
  'count_over_time({app="a"} | json [5m] offset 1h)',
  'count_over_time({app="a"}[5m] offset -1h)',
  'sum by (x) (rate({app="a"} | json [100y]))',
];
const last = '9223372036854775807';
const first = '-9223372036854775808';
const now = String(Math.floor(Date.now() / 1000));
const ranges = [
  [last, last],
  [first, first],
  [first, last],
  [first, now],
  [now, last],
  ['9223372036854775806', last],
  [first, '-9223372036854775807'],
  ['-1', '0'],
  [last, first],
] as const;

/** Each endpoint that reads a time range, with its queries. */
const endpoints: readonly (readonly [path: string, queries: readonly string[]])[] = [
  ['query_range', [selector, '{app="a"} | json', ...counts]],
  ['labels', [selector]],
  ['label/app/values', [selector]],
  ['series', [selector]],
  ['index/stats', [selector]],
  ['index/volume', [selector]],
  ['index/volume_range', [selector]],
  ['index/shards', [selector]],
  ['detected_fields', [selector]],
  ['detected_field/x/values', [selector]],
  ['detected_labels', [selector]],
  ['patterns', [selector]],
];

/** All combinations of endpoints, queries and ranges; `npm test` runs a sample that contains every endpoint, query and range. */
const combinations = endpoints.flatMap(([path, queries]) =>
  queries.flatMap((query) => ranges.map((range) => [path, query, range] as const)),
);

let held: Held<Door>;
let door: Door;

test.before('a proxy over a line of now', async () => {
  held = await heldOpen((use) => withDoor(use, forMany));
  door = held.thing;
  await door.push({ app: 'a' }, [[BigInt(Date.now()) * 1_000_000n - 1000n, '{"x":"1"}']]);
});

test.after.always(() => held.close());

for (const [turn, orgId] of ['1', '1|2'].entries()) {
  test(`an instant at either end of time is answered: X-Scope-OrgID ${orgId}`, async (t) => {
    for (const query of counts)
      for (const time of [last, '9223372036854775806', first, '-1', '4294967295'])
        t.like(resultOf(await door.get('/loki/api/v1/query', { query, time }, orgId)), {
          status: 200,
          type: 'vector',
          results: query.includes('100y') && time === '4294967295' ? 1 : 0,
        });
  });

  test(`a range that goes to either end of time is answered or refused: X-Scope-OrgID ${orgId}`, async (t) => {
    t.timeout(300_000);
    for (const [path, query, [start, end]] of spreadSample(combinations, 4, 1, 2 * turn)) {
      const params = { query, 'match[]': selector, targetBytesPerShard: '1MB', start, end };
      const { status, text } = await door.get(`/loki/api/v1/${path}`, params, orgId);
      t.true(status === 200 || isRefusal({ status, text }), `${path} ${query} ${start} ${end} ${text}`);
    }
  });
}

test('a range that does not fit 64 bits of nanoseconds is refused, and whole numbers that are longer', async (t) => {
  for (const time of ['9223372036854775808', '-9223372036854775809', '1.0e12'])
    t.deepEqual(errorOf(await door.get('/loki/api/v1/query', { query: counted, time })), [
      400,
      `strconv.ParseInt: parsing "${time}": value out of range`,
    ]);
  for (const path of ['query_range', 'labels', 'series', 'index/stats', 'detected_fields', 'patterns'])
    t.deepEqual(
      errorOf(await door.get(`/loki/api/v1/${path}`, { query: counted, end: '9999999999' })),
      [400, `could not parse 'end' parameter: strconv.ParseInt: parsing "9999999999": value out of range`],
      path,
    );
});

for (const orgId of ['1', '1|2'])
  test(`an instant after April 2262, or before 1677, has no logs: X-Scope-OrgID ${orgId}`, async (t) => {
    for (const [time, seconds] of [
      ['9999999999', 9999999999],
      ['9223372037', 9223372037],
      ['2300-01-01T00:00:00Z', 10413792000],
      ['9999999999.25', '9999999999.250'],
      ['1600-01-01T00:00:00Z', -11676096000],
    ] as const) {
      for (const query of counts)
        t.like(resultOf(await door.get('/loki/api/v1/query', { query, time }, orgId)), {
          status: 200,
          type: 'vector',
          results: 0,
        });
      const { text } = await door.get('/loki/api/v1/query', { query: 'vector(1)', time }, orgId);
      t.true(text.includes(`"value":[${seconds},"1"]`), text.slice(0, 200));
    }
  });

test('a range that goes beyond April 2262 has no volumes', async (t) => {
  for (const path of ['index/volume', 'index/volume_range'])
    for (const times of [
      { start: now, end: '9999999999' },
      { start: '9999999990', end: '9999999999' },
      { start: '1600-01-01T00:00:00Z', end: now },
      { time: '9999999999', start: '0', end: '1' },
    ])
      t.like(resultOf(await door.get(`/loki/api/v1/${path}`, { query: selector, ...times })), {
        status: 200,
        results: 0,
      });
});

test('a range is as long as 64 bits can say, and its step is a 250th of that', async (t) => {
  const params = { query: counted, start: first, end: last };
  // 9223372036 seconds over a step of 838488 seconds are 10,999.99 points; twice that range would have too many.
  t.is((await door.get('/loki/api/v1/query_range', { ...params, step: '838489' })).status, 200);
  const [status, error] = errorOf(await door.get('/loki/api/v1/query_range', { ...params, step: '838400' }));
  t.is(status, 400);
  t.regex(error, /^exceeded maximum resolution of 11,000 points/);
});

test('lines of now are found by ranges that reach both ends of time', async (t) => {
  const { text } = await door.get('/loki/api/v1/query_range', { query: selector, start: first, end: last });
  t.regex(text, /\{\\"x\\":\\"1\\"\}/);
  const labels = await door.get('/loki/api/v1/label/app/values', { start: first, end: last });
  t.is(labels.text, '{"status":"success","data":["a"]}');
});

function isRefusal({ status, text }: Got): boolean {
  return (
    status === 400 &&
    /only supported on query endpoints|end timestamp must not be before|no longer available|maximum resolution/.test(
      text,
    )
  );
}

function resultOf({ status, text }: Got): { status: number; type?: unknown; results?: number; text: string } {
  if (status !== 200) return { status, text };
  const { data } = JSON.parse(text) as { data: { resultType: unknown; result: readonly unknown[] } };
  return { status, type: data.resultType, results: data.result.length, text };
}

function errorOf({ status, text }: Got): readonly [status: number, error: string] {
  return [status, (JSON.parse(text) as { error: string }).error];
}
