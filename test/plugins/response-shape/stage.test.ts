import test from 'ava';
import { type ApiRequest, Query, Selector } from '../../../core/wire/api/request.js';
import { Naming } from '../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../core/testing/options.js';
import { askedOf } from '../../core/engine/plan/planned.js';
import type { CheckedRequest } from '../../../core/engine/plan/checked-request.js';
import type { Answer, Tenant } from '../../../core/plugin/index.js';
import {
  FakeUpstream,
  makeExchange,
  makeTenant,
  runStage,
  type ExpectedCall,
} from '../../../core/testing/index.js';
import type { BackendValue } from '../../../core/victoria/upstream/types.js';
import responseShape from '../../../plugins/response-shape/index.js';

const range = { startNs: 1793491200000000000n, endNs: 1793512800000000000n };
const naming = new Naming(namesOptions());

async function answerOf(
  request: ApiRequest,
  expected: readonly ExpectedCall[],
  plan: CheckedRequest = askedOf(request, naming),
): Promise<Answer> {
  const upstream = new FakeUpstream(expected);
  const tenant: Tenant = makeTenant();
  const exchange = makeExchange<'tenant' | 'plan' | 'upstream'>({
    request,
    slots: { tenant, plan, upstream },
  });
  const { answer } = await runStage(
    responseShape,
    {
      derivedFields: [],
      repeatedRows: 'once',
      detectedFieldsMaxScanLines: 2000,
      drilldownScanTimeout: 60_000,
      lineThreads: 1,
      rowThreads: 0,
      rowThreadsMinRows: 0,
      factsPersistPath: '',
      lineTimeout: 60_000,
    },
    exchange,
  );
  upstream.done();
  return answer;
}

function values(...texts: readonly string[]): readonly BackendValue[] {
  return texts.map((value) => ({ value, hits: 1 }));
}

test('label names are labels only, with service_name wherever there is a stream', async (t) => {
  const answer = await answerOf({ op: 'labels', range, browse: {} }, [
    {
      call: 'list',
      values: values('pod', 'app', 'host.name', 'k8s.node.name', 'k8s.pod.name', 'event_name'),
    },
    { call: 'list', values: values('pod', 'app', 'host.name', 'k8s.pod.name') },
  ]);
  t.deepEqual(answer, {
    kind: 'names',
    values: ['app', 'host_name', 'k8s_pod_name', 'pod', 'service_name'],
    warnings: [],
  });
});

test('a stream without any field has a service name, no stream has none', async (t) => {
  const request: ApiRequest = { op: 'labels', range, browse: {} };
  const bare = await answerOf(request, [
    { call: 'list', values: [] },
    { call: 'list', values: values('{}') },
  ]);
  t.deepEqual(bare, { kind: 'names', values: ['service_name'], warnings: [] });
  const none = await answerOf(request, [
    { call: 'list', values: [] },
    { call: 'list', values: [] },
  ]);
  t.deepEqual(none, { kind: 'names', values: [], warnings: [] });
});

test('equal bounds are that one instant, for every request that the backend answers over a range', async (t) => {
  const instant = { startNs: range.startNs, endNs: range.startNs };
  const list: ExpectedCall = {
    call: 'list',
    when: (asked) => asked.range.startNs === range.startNs && asked.range.endNs === range.startNs + 1n,
    values: values('{app="a"}'),
  };
  const requests: readonly ApiRequest[] = [
    { op: 'labels', range: instant, browse: {} },
    { op: 'label_values', name: 'app', range: instant, browse: {} },
    { op: 'detected_labels', query: new Selector('{app="a"}', 'reject'), range: instant },
  ];
  for (const request of requests) t.truthy(await answerOf(request, [list]), request.op);
});

test('a plan of another request is a defect', async (t) => {
  const request: ApiRequest = { op: 'labels', range, browse: {} };
  const plan: CheckedRequest = { kind: 'series', selectors: [[]] };
  await t.throwsAsync(answerOf(request, [], plan), { message: /does not belong to a request for labels$/ });
});

test('browse parameters search, skip and cut', async (t) => {
  const request: ApiRequest = {
    op: 'label_values',
    name: 'pod',
    range,
    browse: { search: 'A', offset: 1, limit: 1 },
  };
  const answer = await answerOf(request, [{ call: 'list', values: values('ca', 'b', 'aa', 'ba', '') }]);
  t.deepEqual(answer, { kind: 'names', values: ['ba'], warnings: [] });
});

test('the values of service_name are derived from the streams', async (t) => {
  const request: ApiRequest = { op: 'label_values', name: 'service_name', range, browse: {} };
  const answer = await answerOf(request, [
    {
      call: 'list',
      values: values('{service.name="s",app="a"}', '{job="j"}', '{filename="f"}', '{app="a"}'),
    },
  ]);
  t.deepEqual(answer, { kind: 'names', values: ['a', 'j', 's', 'unknown_service'], warnings: [] });
});

test('a label with two stored spellings has the values of both', async (t) => {
  const request: ApiRequest = { op: 'label_values', name: 'k8s_pod_name', range, browse: {} };
  const answer = await answerOf(request, [
    { call: 'list', when: ({ listing }) => listing === 'stream_field_names', values: values('k8s.pod.name') },
    { call: 'list', when: ({ field }) => field === 'k8s_pod_name', values: values('p1') },
    { call: 'list', when: ({ field }) => field === 'k8s.pod.name', values: values('p2', 'p1') },
  ]);
  t.deepEqual(answer, { kind: 'names', values: ['p1', 'p2'], warnings: [] });
});

test('a name that is never a label has no values', async (t) => {
  const answer = await answerOf({ op: 'label_values', name: 'event_name', range, browse: {} }, [
    { call: 'list', when: ({ listing }) => listing === 'stream_field_names', values: values('event_name') },
  ]);
  t.deepEqual(answer, { kind: 'names', values: [], warnings: [] });
});

test('backend streams with the same labels are one series', async (t) => {
  const answer = await answerOf({ op: 'series', range, selectors: [] }, [
    { call: 'list', values: values('{os.type="x",service.name="s"}', '{os.type="y",service.name="s"}') },
  ]);
  t.deepEqual(answer.kind === 'series' ? answer.series.map(({ json }) => json) : [], [
    '{"service_name":"s"}',
  ]);
});

test('a stream that is silent in a short range is a series when it speaks on both sides', async (t) => {
  const short = { startNs: range.startNs, endNs: range.startNs + 60_000_000_000n };
  const answer = await answerOf({ op: 'series', range: short, selectors: [] }, [
    { call: 'list', when: (asked) => asked.range.startNs === short.startNs, values: values('{app="now"}') },
    {
      call: 'list',
      when: (asked) => asked.range.endNs === short.startNs,
      values: values('{app="gone"}', '{app="quiet"}', '{app="now"}'),
    },
    {
      call: 'list',
      when: (asked) => asked.range.startNs === short.endNs,
      values: values('{app="quiet"}', '{app="new"}', '{app="now"}'),
    },
  ]);
  const apps = answer.kind === 'series' ? answer.series.map((labels) => labels.get('app')) : [];
  t.deepEqual(apps, ['now', 'quiet']);
});

test('index statistics add up entries and bytes of all streams', async (t) => {
  const plan: CheckedRequest = { kind: 'index-stats', selectors: [[]] };
  const streams = ['{app="a"}', '{app="b"}'];
  const times = { first: '2026-11-01T00:00:00Z', last: '2026-11-01T00:10:00Z' };
  const request: ApiRequest = { op: 'index_stats', query: new Selector('{app="a"}', 'reject'), range };
  const answer = await answerOf(
    request,
    [
      { call: 'list', values: streams.map((value) => ({ value, hits: 10 })) },
      {
        call: 'rows',
        when: ({ query }) => JSON.stringify(query.pipes).includes('sum_len'),
        batches: [streams.map((_stream) => ({ _stream, entries: '10', lines: '30720', ...times }))],
      },
      { call: 'list', values: [] },
      { call: 'rows', batches: [streams.map((_stream) => ({ _stream, rows: '10', different: '10' }))] },
      { call: 'list', values: [] },
    ],
    plan,
  );
  // The bytes of the lines, of a level of eight bytes for each, and of its name and text once in each stream.
  t.deepEqual(answer, {
    kind: 'index-stats',
    streams: 2,
    chunks: 2,
    bytes: 61_652,
    entries: 20,
    warnings: [],
  });
});

test('constants stand on multiples of the step around the range', async (t) => {
  const query = new Query('vector(1)+vector(1)', 'reject');
  const stepNs = 60_000_000_000n;
  const shifted = { startNs: range.startNs + 1n, endNs: range.startNs + stepNs + 1n };
  const answer = await answerOf(
    { op: 'query_range', query, range: shifted, stepNs, limit: 1, direction: 'backward', intervalNs: 0n },
    [],
  );
  const points = answer.kind === 'matrix' ? answer.series.flatMap((series) => series.points) : [];
  t.deepEqual(
    points.map(({ timestampMs, value }) => [timestampMs - Number(range.startNs / 1_000_000n), value]),
    [
      [0, 2],
      [60_000, 2],
      [120_000, 2],
    ],
  );
});

test('an instant constant is a vector or a scalar', async (t) => {
  const ask = (text: string): Promise<Answer> =>
    answerOf(
      {
        op: 'query',
        query: new Query(text, 'reject'),
        timeNs: 4_000_000_000_000_000_000n,
        limit: 1,
        direction: 'backward',
      },
      [],
    );
  t.like(await ask('vector(1)+vector(1)'), {
    kind: 'vector',
    samples: [{ point: { timestampMs: 4_000_000_000_000, value: 2 } }],
  });
  t.like(await ask('1+1'), { kind: 'scalar', point: { timestampMs: 4_000_000_000_000, value: 2 } });
});

test('a query is printed', async (t) => {
  const answer = await answerOf({ op: 'format_query', query: new Query('{a="b"}|="c"', 'reject') }, []);
  t.deepEqual(answer, { kind: 'formatted', query: '{a="b"} |= "c"' });
});
