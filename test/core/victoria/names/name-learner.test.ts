import test from 'ava';
import { everything } from '../../../../core/victoria/logsql/build.js';
import { NameLearner, type NamesQuestion } from '../../../../core/victoria/names/name-learner.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { FakeClock, FakeUpstream, type ExpectedCall } from '../../../../core/testing/index.js';

const naming = new Naming(namesOptions());
const nowNs = 1_793_500_000_000_000_000n;
const minuteNs = 60_000_000_000n;

function listing(...fields: readonly string[]): ExpectedCall {
  return { call: 'list', values: fields.map((value) => ({ value, hits: 1 })) };
}

function question(upstream: FakeUpstream, change: Partial<NamesQuestion> = {}): NamesQuestion {
  const range = { startNs: nowNs - 60n * minuteNs, endNs: nowNs - 30n * minuteNs };
  return { naming, filter: everything, range, upstream, ...change };
}

test('names are asked for once a minute', async (t) => {
  const clock = new FakeClock(nowNs);
  const learner = new NameLearner(clock);
  const upstream = new FakeUpstream([listing('host.name', 'host/name'), listing('host.name')]);
  const first = await learner.learn(question(upstream));
  t.deepEqual(first?.fieldsOf('host_name'), ['host.name', 'host/name']);
  t.is(first?.unknownFromNs, undefined);
  await learner.learn(question(upstream));
  t.is(upstream.requests.length, 1);
  clock.advance(60_001);
  t.deepEqual((await learner.learn(question(upstream)))?.fieldsOf('host_name'), ['host.name']);
  upstream.done();
});

test('owners, selections and earlier rows have names of their own', async (t) => {
  const learner = new NameLearner(new FakeClock(nowNs));
  const upstream = new FakeUpstream([listing('a'), listing('c')], 'somebody');
  const other = new FakeUpstream([listing('b')], 'somebody else');
  const asked = question(upstream);
  await learner.learn(asked);
  await learner.learn({ ...asked, upstream: other });
  await learner.learn({ ...asked, range: { startNs: asked.range.startNs - 1n, endNs: asked.range.endNs } });
  t.notThrows(() => {
    upstream.done();
    other.done();
  });
});

test('the parts of a long query are each asked for once a minute', async (t) => {
  const clock = new FakeClock(nowNs);
  const learner = new NameLearner(clock);
  const upstream = new FakeUpstream([listing('a'), listing('b'), listing('c')]);
  const { range } = question(upstream);
  const before = { startNs: range.startNs - 600n * minuteNs, endNs: range.startNs };
  const fieldsOf = async (part: typeof range): Promise<readonly string[] | undefined> =>
    (await learner.learn(question(upstream, { range: part })))?.fields;
  for (let time = 0; time < 3; time += 1) {
    t.deepEqual(await fieldsOf(range), ['a']);
    t.deepEqual(await fieldsOf(before), ['b']);
    clock.advance(20_000);
  }
  t.deepEqual(await fieldsOf(range), ['c']);
  t.notThrows(() => {
    upstream.done();
  });
});

test('parts that are asked for together do not displace each other', async (t) => {
  const learner = new NameLearner(new FakeClock(nowNs));
  const upstream = new FakeUpstream([listing('a'), listing('b')]);
  const { range } = question(upstream);
  const parts = [range, { startNs: range.startNs - 600n * minuteNs, endNs: range.startNs }];
  const fieldsOfAll = (): Promise<readonly (readonly string[] | undefined)[]> =>
    Promise.all(
      parts.map(async (part) => (await learner.learn(question(upstream, { range: part })))?.fields),
    );
  t.deepEqual(await fieldsOfAll(), [['a'], ['b']]);
  t.deepEqual(await fieldsOfAll(), [['a'], ['b']]);
  t.notThrows(() => {
    upstream.done();
  });
});

test('what comes after the names were listed is told to be unknown', async (t) => {
  const learner = new NameLearner(new FakeClock(nowNs));
  const upstream = new FakeUpstream([listing('a')]);
  const range = { startNs: nowNs - 60n * minuteNs, endNs: nowNs };
  const first = await learner.learn(question(upstream, { range }));
  t.is(first?.unknownFromNs, nowNs - minuteNs);
  const later = await learner.learn(question(upstream, { range: { ...range, endNs: nowNs + minuteNs } }));
  t.is(later?.unknownFromNs, nowNs - minuteNs);
  const past = await learner.learn(question(upstream, { range: { ...range, endNs: nowNs - 2n * minuteNs } }));
  t.is(past?.unknownFromNs, undefined);
});

test('more names than are worth keeping are not learned', async (t) => {
  const learner = new NameLearner(new FakeClock(nowNs));
  const fields = Array.from({ length: 20_001 }, (_one, index) => `f${index}`);
  t.is(await learner.learn(question(new FakeUpstream([listing(...fields)]))), undefined);
});
