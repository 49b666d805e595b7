import test from 'ava';
import { type DetectedFieldsRequest, Query, Selector } from '../../../../core/wire/api/request.js';
import type { Answer } from '../../../../core/wire/answer/types.js';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { FakeClock, matching, type ExpectedCall, type WrittenRow } from '../../../../core/testing/index.js';
import type { RowsRequest } from '../../../../core/victoria/upstream/types.js';
import { runDiscovery } from '../discovery-run.js';

const range = { startNs: 1_793_491_200_000_000_000n, endNs: 1_793_494_800_000_000_000n };

function fields(query: string, change: Partial<DetectedFieldsRequest> = {}): DetectedFieldsRequest {
  return {
    op: 'detected_fields',
    query: new Query(query, 'reject'),
    range,
    lineLimit: 100,
    limit: 1000,
    ...change,
  };
}

function row(second: number, line: string, metadata: WrittenRow = {}): WrittenRow {
  return {
    _time: `2026-11-01T00:00:${String(second).padStart(2, '0')}Z`,
    _stream: '{app="a"}',
    _msg: line,
    ...metadata,
  };
}

/** A response about the number of rows in the streams: few. */
const fewRows: ExpectedCall = { call: 'stats', samples: [] };
const noNames: ExpectedCall = { call: 'list', values: [] };

function labelsOf(answer: Answer): unknown {
  return answer.kind === 'detected-fields' && answer.fields.map(({ label, type }) => [label, type]);
}

test('fields are those of the newest lines, as many as the client asks for', async (t) => {
  const rows: ExpectedCall = {
    call: 'rows',
    when: matching<RowsRequest>({ newest: 2 }),
    batches: [[row(2, 'took=3ms'), row(1, '{"status":200}', { trace_id: 'x' })]],
  };
  const { answer } = await runDiscovery(fields('{app="a"}', { lineLimit: 2 }), [fewRows, rows]);
  t.deepEqual(labelsOf(answer), [
    ['detected_level', 'string'],
    ['took', 'duration'],
    ['trace_id', 'string'],
    ['status', 'int'],
  ]);
});

test('the type of a field is that of its last line in the last stream, by labels', async (t) => {
  const ofStream = (app: string, second: number, line: string): WrittenRow => ({
    ...row(second, line),
    _stream: `{app="${app}"}`,
  });
  const lines = [ofStream('b', 3, '{"n":1}'), ofStream('c', 2, '{"n":"x"}'), ofStream('a', 1, '{"n":true}')];
  for (const batch of [lines, lines.toReversed()]) {
    const rows: ExpectedCall = { call: 'rows', batches: [batch] };
    const { answer } = await runDiscovery(fields('{app=~"a|b|c"}'), [fewRows, rows]);
    t.deepEqual(labelsOf(answer), [
      ['detected_level', 'string'],
      ['n', 'string'],
    ]);
  }
});

test('no client makes the scan longer than the operator allows', async (t) => {
  const rows: ExpectedCall = { call: 'rows', when: matching<RowsRequest>({ newest: 7 }), batches: [[]] };
  const options = { detectedFieldsMaxScanLines: 7 };
  await t.notThrowsAsync(
    runDiscovery(fields('{app="a"}', { lineLimit: 5000 }), [fewRows, rows], { options }),
  );
});

test('only lines that the query lets through are looked at', async (t) => {
  const rows: ExpectedCall = { call: 'rows', batches: [[row(2, 'a=1 b=2'), row(1, 'c=3')]] };
  const { answer } = await runDiscovery(fields('{app="a"} | logfmt | a="1"'), [fewRows, rows]);
  t.deepEqual(labelsOf(answer), [
    ['detected_level', 'string'],
    ['a', 'int'],
    ['b', 'int'],
  ]);
});

/** A first page of a thousand lines that takes six seconds to read. */
function slowPage(clock: FakeClock, line: (index: number) => string): ExpectedCall {
  const rows = Array.from({ length: 1000 }, (_row, index) => row(59 - Math.floor(index / 20), line(index)));
  return { call: 'rows', when: () => (clock.advance(6000), true), batches: [rows] };
}

test('when time runs out the lines found so far must do', async (t) => {
  const clock = new FakeClock();
  const page = slowPage(clock, (index) => (index === 0 ? 'a=1 rare=x' : `a=${index}`));
  const { answer } = await runDiscovery(
    fields('{app="a"} | logfmt | rare="x" or a > 99999'),
    [noNames, fewRows, page],
    { clock },
  );
  t.deepEqual(labelsOf(answer), [
    ['detected_level', 'string'],
    ['a', 'int'],
    ['rare', 'string'],
  ]);
});

test('when time runs out before any line is found, that is said', async (t) => {
  const clock = new FakeClock();
  const page = slowPage(clock, (index) => `a=${index}`);
  const query = '{app="a"} | logfmt | rare="x" or a > 99999';
  const run = runDiscovery(fields(query), [noNames, fewRows, page], { clock });
  const error = await t.throwsAsync(run, { instanceOf: ApiError });
  t.is(error.status, 504);
  t.regex(error.message, /^request timed out/);
});

test('a metric query is refused', async (t) => {
  const error = await t.throwsAsync(runDiscovery(fields('rate({app="a"}[1m])'), []));
  t.is(error.message, 'only log selector is supported');
});

test('the values of a field are each there once, up to the limit', async (t) => {
  const rows: ExpectedCall = {
    call: 'rows',
    batches: [[row(3, 's=3'), row(2, 's=2'), row(1, 's=3'), row(0, 's=1')]],
  };
  const request = { ...fields('{app="a"}', { limit: 2 }), op: 'detected_field_values', name: 's' } as const;
  const { answer } = await runDiscovery(request, [fewRows, rows]);
  t.deepEqual(answer, { kind: 'detected-field-values', values: ['3', '2'], limit: 2, warnings: [] });
});

test('a label is no field, and a field that nothing has has no values', async (t) => {
  const rows: ExpectedCall = { call: 'rows', batches: [[row(1, 's=1')]] };
  const request = { ...fields('{app="a"}'), op: 'detected_field_values', name: 'app' } as const;
  const { answer } = await runDiscovery(request, [fewRows, rows]);
  t.deepEqual(answer.kind === 'detected-field-values' && answer.values, []);
});

test('labels are those of the streams, without the ones that hold only ids', async (t) => {
  const streams = ['{app="a",run="1"}', '{app="b",run="2"}'].map((value) => ({ value, hits: 1 }));
  const { answer } = await runDiscovery(
    { op: 'detected_labels', range, query: new Selector('{app=~".+"}', 'reject') },
    [{ call: 'list', values: streams }],
  );
  t.deepEqual(answer.kind === 'detected-labels' && answer.labels, [
    { label: 'app', values: ['a', 'b'] },
    { label: 'service_name', values: ['a', 'b'] },
  ]);
});
