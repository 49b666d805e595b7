import test from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import {
  decodeListing,
  decodeStats,
  decodeStatsRange,
  UnexpectedAnswer,
} from '../../../../core/victoria/upstream/decode.js';
import { doAll } from '../../../../core/base/pace/steps.js';
import { CallGate } from '../../../../core/victoria/upstream/gate.js';
import {
  isOlder,
  parseVersion,
  versionOfBuildInfo,
  versionOfMetrics,
} from '../../../../core/victoria/upstream/version.js';

test('a listing gives values with their hits', (t) => {
  t.deepEqual(doAll(decodeListing('{"values":[{"value":"a","hits":3},{"value":"b","hits":0}]}')), [
    { value: 'a', hits: 3 },
    { value: 'b', hits: 0 },
  ]);
});

test('statistics lose empty labels and their name', (t) => {
  const text =
    '{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"c","level":"","app":"x"},"value":[17,"28"]}]}}';
  const [sample] = doAll(decodeStats(text));
  t.is(sample?.name, 'c');
  t.deepEqual([...(sample?.labels ?? [])], [['app', 'x']]);
  t.is(sample?.value, '28');
});

test('a body that was cut is a timeout, another shape is told as odd', (t) => {
  t.throws(() => doAll(decodeListing('{"values":[{"va')), { message: /^request timed out/ });
  for (const text of ['', '<html>Welcome</html>', 'OK'])
    t.throws(() => doAll(decodeListing(text)), {
      instanceOf: UnexpectedAnswer,
      message: /^not JSON; is -backend/,
    });
});

test('a listing of another form is odd', (t) => {
  for (const [text, message] of [
    ['[]', /the object that should have values is a list, not an object/],
    ['42', /is 42, not an object/],
    ['{}', 'values is missing, not a list'],
    ['{"error":"x"}', 'values is missing, not a list'],
    ['{"values":null}', 'values is null, not a list'],
    ['{"values":5}', 'values is 5, not a list'],
    ['{"__proto__":{"values":[]}}', 'values is missing, not a list'],
    ['{"values":["a"]}', /not an object/],
    ['{"values":[{"value":1,"hits":1}]}', 'value is 1, not a string'],
    ['{"values":[{"value":"a","hits":-1}]}', 'the hits of "a" are -1, not a count'],
    ['{"values":[{"value":"a","hits":"1"}]}', 'the hits of "a" are "1", not a count'],
    ['{"values":[{"value":"a"}]}', 'the hits of "a" are missing, not a count'],
  ] as const)
    t.throws(() => doAll(decodeListing(text)), { instanceOf: UnexpectedAnswer, message }, text);
});

test('statistics of another form are odd', (t) => {
  const vector = (result: string): string =>
    `{"status":"success","data":{"resultType":"vector","result":${result}}}`;
  for (const text of [
    '[]',
    '{}',
    '{"status":"success"}',
    '{"status":"error","data":{"resultType":"vector","result":[]}}',
    '{"status":"success","data":{"resultType":"matrix","result":[]}}',
    vector('null'),
    vector('[{"value":[1,"2"]}]'),
    vector('[{"metric":{},"value":[1,2]}]'),
    vector('[{"metric":{},"value":["1","2"]}]'),
    vector('[{"metric":{"a":1},"value":[1,"2"]}]'),
  ])
    t.throws(() => doAll(decodeStats(text)), { instanceOf: UnexpectedAnswer }, text);
  t.throws(() => doAll(decodeStatsRange(vector('[]'))), { instanceOf: UnexpectedAnswer });
});

test('versions are read from wherever the backend tells them', (t) => {
  t.deepEqual(versionOfBuildInfo('{"status":"success","data":{"version":"v1.52.0"}}'), {
    major: 1,
    minor: 52,
    patch: 0,
  });
  t.is(versionOfBuildInfo('{"status":"success","data":{"version":""}}'), undefined);
  t.is(versionOfBuildInfo('unsupported path'), undefined);
  const metrics =
    'vm_rows 5\nvm_app_version{version="victoria-logs-20260701-tags-v1.50.1-0-g1", short_version="v1.50.1"} 1\n';
  t.deepEqual(versionOfMetrics(metrics), { major: 1, minor: 50, patch: 1 });
  t.is(versionOfMetrics('vm_app_version{version="",short_version=""} 1'), undefined);
});

test('versions compare by number', (t) => {
  const least = parseVersion('v1.30.0');
  if (least === undefined) return t.fail();
  t.true(isOlder({ major: 1, minor: 9, patch: 9 }, least));
  t.false(isOlder({ major: 1, minor: 30, patch: 0 }, least));
  t.false(isOlder({ major: 2, minor: 0, patch: 0 }, least));
});

function makeGate(limit: number, waitMs = 60_000) {
  const seen = { running: 0, waiting: 0 };
  const onChange = (running: number, waiting: number): void => void Object.assign(seen, { running, waiting });
  return {
    gate: new CallGate({
      limit,
      waitMs,
      nowMs: () => 0,
      maxWaiting: 10_000,
      full: () => new Error('full'),
      onChange,
    }),
    seen,
  };
}

const { signal: never } = new AbortController();

test('the gate lets so many in, and the others of an owner in their order', async (t) => {
  const { gate, seen } = makeGate(1);
  const order: string[] = [];
  const first = await gate.enter(['a'], never);
  const others = ['second', 'third'].map(async (name) => {
    const place = await gate.enter(['a'], never);
    order.push(name);
    place.leave();
  });
  t.deepEqual(seen, { running: 1, waiting: 2 });
  t.deepEqual(order, []);
  first.leave();
  first.leave();
  await Promise.all(others);
  t.deepEqual(order, ['second', 'third']);
  t.deepEqual(seen, { running: 0, waiting: 0 });
});

test('a request with many calls keeps nobody waiting for all of them', async (t) => {
  const { gate } = makeGate(2);
  const many = {};
  const order: string[] = [];
  const call = async (owner: readonly (string | object)[], name: string): Promise<void> => {
    const place = await gate.enter(owner, never);
    order.push(name);
    await new Promise(setImmediate);
    place.leave();
  };
  const calls = Array.from({ length: 10 }, (_, at) => call(['tenant', many], `many ${at}`));
  await Promise.all([...calls, call(['tenant', {}], 'few')]);
  t.true(order.indexOf('few') <= 3, order.join());
});

test('a place that is paused is free for others, and is there again when it is needed', async (t) => {
  const { gate, seen } = makeGate(1);
  const first = await gate.enter(['a'], never);
  const resume = first.pause();
  const second = await gate.enter(['b'], never);
  resume();
  t.is(seen.running, 2);
  first.leave();
  const third = gate.enter(['c'], never);
  t.deepEqual(seen, { running: 1, waiting: 1 });
  second.leave();
  (await third).leave();
  t.deepEqual(seen, { running: 0, waiting: 0 });
});

test('who gives up waiting, or waits too long, takes no place', async (t) => {
  const { gate, seen } = makeGate(1, 1);
  const first = await gate.enter(['a'], never);
  const controller = new AbortController();
  const waiting = gate.enter(['a'], controller.signal);
  controller.abort(new Error('gone'));
  await t.throwsAsync(waiting, { message: 'gone' });
  await t.throwsAsync(gate.enter(['a'], never), { instanceOf: ApiError, message: /timed out/ });
  t.is(seen.waiting, 0);
  first.leave();
  (await gate.enter(['a'], never)).leave();
  t.deepEqual(seen, { running: 0, waiting: 0 });
});
