import test from 'ava';
import type { DetectedField } from '../../../core/answer/types.js';
import { FieldScan, type FieldScanOptions } from '../../../core/discovery/field-scan.js';
import { LabelSet } from '../../../core/labels/label-set.js';

const stream = LabelSet.from([
  ['app', 'shop'],
  ['level', 'info'],
]);

interface Given {
  readonly line: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly parsed?: Readonly<Record<string, string>>;
}

function scan(
  entries: readonly Given[],
  options: Partial<FieldScanOptions> = {},
): Map<string, DetectedField> {
  const fields = new FieldScan({ maxFields: 1000, keepsDots: false, ...options });
  for (const { line, metadata = {}, parsed = {} } of entries)
    fields.add(stream, {
      line,
      structuredMetadata: LabelSet.from(Object.entries(metadata)),
      parsed: LabelSet.from(Object.entries(parsed)),
    });
  return new Map(fields.fields().map((field) => [field.label, field]));
}

test('JSON fields have their path, logfmt fields have none, structured metadata has no parser', (t) => {
  const found = scan([
    { line: '{"user":{"id":7},"http.method":"GET"}', metadata: { trace_id: 'abc' } },
    { line: 'took=3ms msg="a b"' },
  ]);
  t.deepEqual(found.get('user_id'), {
    label: 'user_id',
    type: 'int',
    parsers: ['json'],
    jsonPath: ['user', 'id'],
    values: ['7'],
  });
  t.deepEqual(found.get('http_method')?.jsonPath, ['http.method']);
  t.deepEqual(found.get('took')?.parsers, ['logfmt']);
  t.is(found.get('took')?.type, 'duration');
  t.is(found.get('took')?.jsonPath, undefined);
  t.deepEqual(found.get('trace_id')?.parsers, []);
});

test('a name that the stream has is marked, and keeps its path', (t) => {
  const found = scan([{ line: '{"level":"warn"}' }]);
  t.deepEqual([...found.keys()], ['level_extracted']);
  t.deepEqual(found.get('level_extracted')?.jsonPath, ['level']);
});

test('a field of metadata and lines has the parser of the lines', (t) => {
  const found = scan([{ line: '{"pod":"a"}', metadata: { pod: 'b' } }]);
  t.deepEqual(found.get('pod')?.parsers, ['json']);
  t.deepEqual(found.get('pod')?.values, ['b', 'a']);
});

test('what parsers of the query found counts, but no errors of theirs', (t) => {
  const found = scan([{ line: '{"a":1}', parsed: { a: '1', made: 'x', __error__: 'JSONParserErr' } }]);
  t.deepEqual([...found.keys()], ['a', 'made']);
  t.is(found.get('made')?.jsonPath, undefined);
});

test('a value that comes again is one value, and the last line tells the type', (t) => {
  const found = scan([{ line: 'n=1' }, { line: 'n=1' }, { line: 'n=2.5' }]);
  t.deepEqual(found.get('n')?.values, ['1', '2.5']);
  t.is(found.get('n')?.type, 'float');
});

test('fields beyond the bound are left out, those that are there keep gathering values', (t) => {
  const found = scan([{ line: 'a=1 b=2' }, { line: 'a=3 c=4' }], { maxFields: 1 });
  t.deepEqual([...found.keys()], ['a']);
  t.deepEqual(found.get('a')?.values, ['1', '3']);
});

test('asked for one field, a scan gathers no other', (t) => {
  const found = scan([{ line: 'a=1 b=2', metadata: { c: '3' } }], { only: 'b', maxFields: 1 });
  t.deepEqual([...found.keys()], ['b']);
});

test('where names may have dots a key of the line keeps them, a nested one does not get any', (t) => {
  const found = scan([{ line: '{"k8s.pod":"a","user":{"id":1}}' }], { keepsDots: true });
  t.deepEqual([...found.keys()].sort(), ['k8s.pod', 'user_id']);
});

test('lines that no parser reads have no fields', (t) => {
  t.is(scan([{ line: '' }, { line: 'just words' }, { line: '{"cut":' }]).size, 0);
});

test('asked for one field, sizes of lines are listed as the reference prints them, those of metadata as they are', (t) => {
  const sizes = ['100KB', '13KiB', '7b', '1.55 mb', '2K', '12', '3ms', 'cube'];
  const given = [
    ...sizes.map((size) => ({ line: `size="${size}"` })),
    { line: '', metadata: { size: '5KiB' } },
    { line: '', parsed: { size: '6KiB' } },
  ];
  const listed = ['100kB', '13kB', '7B', '1.6MB', '2.0kB', '12', '3ms', 'cube', '5KiB', '6.1kB'];
  t.deepEqual(scan(given, { maxFields: 1, only: 'size' }).get('size')?.values, listed);
  t.is(scan(given).get('size')?.values[0], '100KB');
});
