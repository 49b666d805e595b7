import test from 'ava';
import fc from 'fast-check';
import { deepRuns } from '../../../setup/runs.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import type { NamesOptions } from '../../../../core/base/options.gen.js';
import {
  type LogRow,
  parseRowTime,
  RowReader,
  RowTimeError,
} from '../../../../core/victoria/names/row-reader.js';
import type { WrittenRow } from '../../../../core/testing/index.js';

const missing =
  'missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field';

function readerWith(settings: Partial<NamesOptions> = {}): { readonly read: (row: WrittenRow) => LogRow } {
  const reader = new RowReader(new Naming({ ...namesOptions(), ...settings }));
  return { read: (row) => reader.read(row) };
}

test('a pushed row gets service_name, sanitised metadata and a level', (t) => {
  const row = readerWith().read({
    _time: '2026-11-01T00:00:00.5Z',
    _stream: '{app="orders",env="prod"}',
    _stream_id: '0',
    _msg: 'payment error',
    app: 'orders',
    env: 'prod',
    'k8s.pod.name': 'p-1',
  });
  t.is(row.timestampNs, 1793491200500000000n);
  t.is(row.line, 'payment error');
  t.is(row.stream.labels.json, '{"app":"orders","env":"prod","service_name":"orders"}');
  t.is(row.structuredMetadata.json, '{"detected_level":"error","k8s_pod_name":"p-1"}');
  t.false(row.isRebuilt);
});

test('metadata with the name of a label keeps it, and is marked as extracted where it meets the label', (t) => {
  const row = readerWith().read({
    _time: '2026-11-01T00:00:00Z',
    _stream: '{service_name="payments"}',
    _msg: 'x',
    service_name: 'payments',
    'service.name': 'inner',
  });
  t.is(row.structuredMetadata.get('service_name'), 'inner');
});

test('an attribute that hides a stream field leaves the label as it was', (t) => {
  const row = readerWith().read({
    _time: '2026-11-01T00:00:00Z',
    _stream: '{service.name="inventory"}',
    _msg: 'x',
    'service.name': 'inventory-worker',
  });
  t.is(row.stream.labels.get('service_name'), 'inventory');
  t.is(row.structuredMetadata.get('service_name'), 'inventory-worker');
});

test('what VictoriaLogs fills in for an OTLP record is dropped', (t) => {
  const row = readerWith().read({
    _time: '2026-11-01T00:00:00Z',
    _stream: '{host.name="n-1",os.type="linux",service.name="s"}',
    _msg: 'x',
    'service.name': 's',
    'host.name': 'n-1',
    severity_number: '18',
    severity_text: 'Error2',
    'scope.name': 'unknown',
    trace_id: '00000000000000000000000000000000',
  });
  t.is(row.stream.labels.json, '{"service_name":"s"}');
  t.is(
    row.structuredMetadata.json,
    '{"detected_level":"error","host_name":"n-1","os_type":"linux","severity_number":"18"}',
  );
});

test('an empty severity number is none: such a row did not come by OTLP', (t) => {
  const row = { _time: '2026-11-01T00:00:00Z', _stream: '{}', _msg: 'x', 'scope.attributes.a.b': 'v' };
  const without = readerWith().read(row).structuredMetadata;
  t.deepEqual(readerWith().read({ ...row, severity_number: '' }).structuredMetadata.labels, without.labels);
  const byOtlp = readerWith().read({ ...row, severity_number: '9' }).structuredMetadata;
  t.is(byOtlp.get('a_b'), 'v');
  t.is(without.get('a_b'), '');
  t.is(without.get('scope_attributes_a_b'), 'v');
});

test('the same texts of a pushed row are kept', (t) => {
  const row = readerWith().read({
    _time: '2026-11-01T00:00:00Z',
    _stream: '{app="a"}',
    _msg: 'x',
    app: 'a',
    severity_number: '17',
    severity_text: 'Error',
  });
  t.is(row.structuredMetadata.get('severity_text'), 'Error');
});

test('a missing line is rebuilt from the fields, and is empty without any', (t) => {
  const reader = readerWith();
  const stream = { _time: '2026-11-01T00:00:00Z', _stream: '{app="a"}', app: 'a', _msg: missing };
  const rebuilt = reader.read({ ...stream, b: '2', a: '1' });
  t.is(rebuilt.line, '{"a":"1","b":"2"}');
  t.true(rebuilt.isRebuilt);
  t.is(reader.read(stream).line, '');
});

test('the native mode shows stored names, the hybrid mode both', (t) => {
  const row = { _time: '2026-11-01T00:00:00Z', _stream: '{app="a"}', _msg: 'x', app: 'a', 'http.route': '/' };
  t.is(
    readerWith({ metadataFieldMode: 'native' }).read(row).structuredMetadata.json,
    '{"detected_level":"unknown","http.route":"/"}',
  );
  t.is(
    readerWith({ metadataFieldMode: 'hybrid' }).read(row).structuredMetadata.json,
    '{"detected_level":"unknown","http.route":"/","http_route":"/"}',
  );
});

test('names such as __proto__ are names like any other', (t) => {
  const row: unknown = JSON.parse(
    '{"_time":"2026-11-01T00:00:00Z","_stream":"{}","_msg":"x","__proto__":"y","constructor":"z"}',
  );
  const read = readerWith().read(row as Record<string, string>);
  t.is(read.structuredMetadata.get('__proto__'), 'y');
  t.is(read.structuredMetadata.get('constructor'), 'z');
});

test('row times are exact to the nanosecond', (t) => {
  t.is(parseRowTime('2026-11-01T00:00:00.000000001Z'), 1793491200000000001n);
  t.is(parseRowTime('1969-12-31T23:59:59.999999999Z'), -1n);
  t.throws(() => parseRowTime('yesterday'), { instanceOf: RowTimeError });
  t.throws(() => parseRowTime('2026-13-01T00:00:00Z'), { instanceOf: RowTimeError });
});

const clashes: readonly (readonly [Record<string, string>, Record<string, string>])[] = [
  [{ 'a-b': 'dash', 'a.b': 'dot', a_b: 'under' }, { a_b: 'dot' }],
  [{ a_b: 'under', 'a.b': 'dot', 'a-b': 'dash' }, { a_b: 'dot' }],
  [
    { '1digit': 'x', b: 'y' },
    { b: 'y', key_1digit: 'x' },
  ],
  [{ 'host.name': '500', host_name: '200' }, { host_name: '500' }],
  [{ severity: 'info', 'Severity-Text': 'x', 'severity.text': 'FATAL' }, {}],
];

for (const [metadata, shown] of clashes) {
  test(`of ${Object.keys(metadata).join(', ')} the last renamed one counts`, (t) => {
    const stream = { app: 'a', host_name: 'h' };
    const read = readerWith().read({
      ...{ _time: '2026-11-01T00:00:00Z', _stream: '{app="a",host_name="h"}', _msg: 'x' },
      ...stream,
      ...metadata,
    });
    const labels = Object.fromEntries(read.structuredMetadata.labels);
    for (const [name, value] of Object.entries(shown)) t.is(labels[name], value);
    if (Object.keys(shown).length > 0) t.is(Object.keys(labels).length, Object.keys(shown).length + 1);
    t.is(labels['detected_level'], 'severity' in metadata ? 'info' : 'unknown');
  });
}

test('a stored level is shown by its normal name, also beside a label of that name', (t) => {
  const row = { _time: '2026-11-01T00:00:00Z', _stream: '{app="a"}', _msg: 'an error', app: 'a' };
  const json = (fields: Record<string, string>): string =>
    readerWith().read({ ...row, ...fields }).structuredMetadata.json;
  t.is(json({ detected_level: 'WARN' }), '{"detected_level":"warn"}');
  t.is(json({ detected_level: 'Odd' }), '{"detected_level":"Odd"}');
  t.is(json({ 'detected.level': 'ERR', level: 'info' }), '{"detected_level":"error","level":"info"}');
  const _stream = '{app="a",detected_level="WARN"}';
  t.is(json({ _stream, detected_level: 'WARN' }), '{"detected_level":"error"}');
});

test('a row has the stream of its own text, also between rows of another one', (t) => {
  const { read } = readerWith();
  const texts = ['{app="a"}', '{app="a"}', '{app="b"}', '{app="a"}', '{app="b"}', '{app="b"}'];
  const streams = texts.map(
    (text) => read({ _time: '2026-11-01T00:00:00Z', _stream: text, _msg: '' }).stream,
  );
  t.deepEqual(
    streams.map(({ labels }) => labels.get('app')),
    ['a', 'a', 'b', 'a', 'b', 'b'],
  );
  t.is(new Set(streams).size, 2);
});

const fieldNames = ['level', 'app', 'trace_id', 'k8s.pod.name', 'detected_level', '__proto__', 'constructor'];
const otlpNames = ['severity_number', 'severity_text', 'service.name', 'scope.name'];
/** Rows of one stream that have the same fields, except for empty ones. */
const rowsOfFew = fc
  .record({
    stream: fc.constantFrom('{app="a"}', '{app="b",level="warn"}', '{"service.name"="s"}', '{}'),
    names: fc.uniqueArray(fc.constantFrom(...fieldNames, ...otlpNames), { minLength: 1, maxLength: 3 }),
    rows: fc.array(
      fc.tuple(
        fc.constantFrom('', 'an error', 'level=debug', 'nothing', missing),
        fc.array(fc.constantFrom('', 'a', 'Info', '9', 'unknown', 'ERR'), { minLength: 3, maxLength: 3 }),
      ),
      { minLength: 2, maxLength: 6 },
    ),
  })
  .map(({ stream, names, rows }) =>
    rows.map(([line, values]) => {
      const fields = names.map((name, index) => [name, values[index] ?? '']);
      const columns = [['_time', '2026-11-01T00:00:00Z'], ['_stream', stream], ['_msg', line], ...fields];
      // Parsed like real rows, because a name may be that of a prototype.
      const text = columns.map((pair) => pair.map((part) => JSON.stringify(part)).join(':')).join(',');
      return JSON.parse(`{${text}}`) as WrittenRow;
    }),
  );

test('what was read before changes nothing about a row', (t) => {
  fc.assert(
    fc.property(
      rowsOfFew,
      rowsOfFew,
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 20 }),
      (some, others, order) => {
        const rows = [...some, ...others];
        const reader = readerWith();
        for (const [place, times] of order)
          for (let time = 0; time < times; time += 1) {
            const row = rows[place % rows.length] ?? {};
            const [got, alone] = [reader.read(row), readerWith().read(row)];
            t.is(got.structuredMetadata.json, alone.structuredMetadata.json, JSON.stringify(row));
            t.is(got.line, alone.line);
          }
      },
    ),
    { numRuns: deepRuns(40, 100), seed: 20_261_125 },
  );
});
