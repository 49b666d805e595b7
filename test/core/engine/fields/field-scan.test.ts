import test from 'ava';
import type { DetectedField, FieldType } from '../../../../core/wire/answer/types.js';
import { FieldScan, type FieldScanOptions, fieldTypeOf } from '../../../../core/engine/fields/field-scan.js';
import type { LinePlace } from '../../../../core/logql/lines/evaluator.js';
import { LineWorkers } from '../../../../core/logql/lines/line-workers.js';
import { MemoryAccount, unboundedMemory } from '../../../../core/base/memory/account.js';
import { LabelSet } from '../../../../core/base/label-set.js';
import fc from 'fast-check';
import { anyCharacter } from '../../../setup/text.js';

const stream = LabelSet.from([
  ['app', 'shop'],
  ['level', 'info'],
]);

interface Given {
  readonly line: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly parsed?: Readonly<Record<string, string>>;
}

const apart: LinePlace & { readonly memory: MemoryAccount } = {
  memory: unboundedMemory(),
  workers: { run: () => Promise.reject(new Error('a short line is read here')) },
  signal: new AbortController().signal,
};

async function scan(
  entries: readonly Given[],
  options: Partial<FieldScanOptions> = {},
  place = apart,
): Promise<Map<string, DetectedField>> {
  const fields = new FieldScan({ maxFields: 1000, keepsDots: false, ...options }, place);
  for (const { line, metadata = {}, parsed = {} } of entries)
    await fields.add(stream, {
      line,
      structuredMetadata: LabelSet.from(Object.entries(metadata)),
      parsed: LabelSet.from(Object.entries(parsed)),
    });
  return new Map((await fields.fields()).map((field) => [field.label, field]));
}

test('JSON fields have their path, logfmt fields have none, structured metadata has no parser', async (t) => {
  const found = await scan([
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

test('what a query’s parser extracted decides the type, before what is found in the line', async (t) => {
  const lines = [
    { line: 'size=info took=90s', parsed: { size: '90s' } },
    { line: 'size=warn took=1m', parsed: { size: '1m' } },
  ];
  const found = await scan(lines);
  t.is(found.get('size')?.type, 'duration');
  t.deepEqual(found.get('size')?.values, ['90s', 'info', '1m', 'warn']);
  t.is((await scan([...lines, { line: 'size=7' }])).get('size')?.type, 'int', 'the line read last');
});

test('a name that the stream has is marked, and keeps its path', async (t) => {
  const found = await scan([{ line: '{"level":"warn"}' }]);
  t.deepEqual([...found.keys()], ['level_extracted']);
  t.deepEqual(found.get('level_extracted')?.jsonPath, ['level']);
});

test('a field of metadata and lines has the parser of the lines', async (t) => {
  const found = await scan([{ line: '{"pod":"a"}', metadata: { pod: 'b' } }]);
  t.deepEqual(found.get('pod')?.parsers, ['json']);
  t.deepEqual(found.get('pod')?.values, ['b', 'a']);
});

test('the path of a field is that of the last JSON line that has it', async (t) => {
  const found = await scan([{ line: '{"a.b":1,"c-d":1}' }, { line: '{"a-b":1}' }, { line: 'a_b=1 c_d=1' }]);
  t.deepEqual(found.get('a_b')?.jsonPath, ['a-b']);
  t.deepEqual(found.get('c_d')?.jsonPath, ['c-d']);
});

test('what parsers of the query found counts, but no errors of theirs', async (t) => {
  const found = await scan([{ line: '{"a":1}', parsed: { a: '1', made: 'x', __error__: 'JSONParserErr' } }]);
  t.deepEqual([...found.keys()], ['a', 'made']);
  t.is(found.get('made')?.jsonPath, undefined);
});

test('a value that comes again is one value, and the last line tells the type', async (t) => {
  const found = await scan([{ line: 'n=1' }, { line: 'n=1' }, { line: 'n=2.5' }]);
  t.deepEqual(found.get('n')?.values, ['1', '2.5']);
  t.is(found.get('n')?.type, 'float');
});

test('fields beyond the bound are left out, those that are there keep gathering values', async (t) => {
  const found = await scan([{ line: 'a=1 b=2' }, { line: 'a=3 c=4' }], { maxFields: 1 });
  t.deepEqual([...found.keys()], ['a']);
  t.deepEqual(found.get('a')?.values, ['1', '3']);
});

test('asked for one field, a scan gathers no other', async (t) => {
  const found = await scan([{ line: 'a=1 b=2', metadata: { c: '3' } }], { only: 'b', maxFields: 1 });
  t.deepEqual([...found.keys()], ['b']);
});

test('where names may have dots a key of the line keeps them, a nested one does not get any', async (t) => {
  const found = await scan([{ line: '{"k8s.pod":"a","user":{"id":1}}' }], { keepsDots: true });
  t.deepEqual([...found.keys()].sort(), ['k8s.pod', 'user_id']);
});

test('lines that no parser reads have no fields', async (t) => {
  const found = await scan([{ line: '' }, { line: 'just words' }, { line: '{"cut":' }]);
  t.is(found.size, 0);
});

test('asked for one field, sizes of lines are listed as Loki prints them, those of metadata as they are', async (t) => {
  const sizes = ['100KB', '13KiB', '7b', '1.55 mb', '2K', '12', '3ms', 'cube'];
  const given = [
    ...sizes.map((size) => ({ line: `size="${size}"` })),
    { line: '', metadata: { size: '5KiB' } },
    { line: '', parsed: { size: '6KiB' } },
  ];
  const listed = ['100kB', '13kB', '7B', '1.6MB', '2.0kB', '12', '3ms', 'cube', '5KiB', '6.1kB'];
  const one = await scan(given, { maxFields: 1, only: 'size' });
  t.deepEqual(one.get('size')?.values, listed);
  t.is((await scan(given)).get('size')?.values[0], '100KB');
});

test('a long line is read in a thread, with the same fields', async (t) => {
  const nested = { user: { id: 7 }, 'k8s.pod': 'a' };
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_none, index) => [`key${index}`, index]));
  const given = [JSON.stringify({ ...nested, ...many }), `a=1 ${'b '.repeat(50_000)}`].map((line) => ({
    line,
  }));
  const workers = new LineWorkers({ threads: 1, timeoutMs: 60_000 });
  const { signal } = new AbortController();
  let asked = 0;
  const counted: LinePlace['workers'] = {
    run: (work, entry, ended) => ((asked += 1), workers.run(work, entry, ended)),
  };
  try {
    for (const keepsDots of [false, true]) {
      const here = await scan(given, { keepsDots }, { ...apart, limit: Infinity });
      t.deepEqual(await scan(given, { keepsDots }, { ...apart, workers: counted, signal }), here);
    }
    // The first line is read as JSON and for its paths, the second one as JSON, which fails, and as logfmt.
    t.is(asked, 2 * 4);
  } finally {
    workers.close();
  }
});

test('what is gathered counts towards the memory of the query', async (t) => {
  const memory = new MemoryAccount(1_000_000);
  const given = Array.from({ length: 40 }, (_none, index) => ({ line: `a="${'x'.repeat(30_000)}${index}"` }));
  const { message } = await t.throwsAsync<Error>(scan(given, {}, { ...apart, memory }));
  t.regex(message, /the values of fields/);
  t.true(memory.peak > 900_000);
});

const examples: readonly (readonly [type: FieldType, values: readonly string[]])[] = [
  ['int', ['0', '-12', '+7', '9007199254740993', '0012']],
  ['float', ['0.25', '1e9', '-.5', 'NaN', 'Inf', '99999999999999999999']],
  ['boolean', ['true', 'False', 'T', 'f']],
  ['duration', ['74s', '1h2m', '739µs', '1.70s', '-3ms']],
  ['bytes', ['966B', '361KB', '9.1MB', '52KiB', '1,024 kb']],
  ['string', ['', 'yes', '10.0.0.1', '74 s', '1.2.3', '2026-11-01T05:59:58Z', 'u10', '5 apples']],
];

for (const [type, values] of examples) {
  test(`values of type ${type} are told apart from all others`, (t) => {
    for (const value of values) t.is(fieldTypeOf(value), type, JSON.stringify(value));
  });
}

test('every whole number of 64 bits is an int, and a fraction makes it a float', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.nat(999), (number, fraction) => {
      t.is(fieldTypeOf(String(number)), 'int');
      t.is(fieldTypeOf(`${number}.${fraction}`), 'float');
    }),
  );
});

test('no text makes the detection fail, however long', (t) => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => typeof fieldTypeOf(text) === 'string'));
  t.is(fieldTypeOf('9'.repeat(1_000_000)), 'string');
});
