import test from 'ava';
import fc from 'fast-check';
import { LabelSet } from '../../../../core/base/label-set.js';
import { entryOf, extractorOf, objectOf, parsedLabels, pipelineOf } from './run-query.js';
import { anyCharacter } from '../../../setup/text.js';
import { deepRuns } from '../../../setup/runs.js';

const stages: readonly string[] = [
  '|= "a" |~ "b.*c" != ip("10.0.0.0/8")',
  '| json | a > 1 or b_c = "x"',
  '| json x="a.b[0]", y="[\\"k\\"]" | x=~"a.*"',
  '| logfmt --strict --keep-empty | a > 1s or b < 5KB',
  '| logfmt a, b="c" | drop a, b="x"',
  '| unpack | json | keep a, b',
  '| pattern `<a>=<b> <_>` | a = ip("10.0.0.0/8")',
  '| regexp `(?P<a>\\w+)(?P<b>=)?` | decolorize',
  '| json | logfmt | label_format c=a, d="{{.b}}-{{.c}}" | line_format "{{.d}} {{.__error__}}"',
];
const unit = fc.oneof(
  fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', '=', ' ', '\n', '\u001b', ';', '\ud83d', '\ufffd'),
  fc.constantFrom('a', 'b', 'c', '1', '-', '.', 'e', 'true', 'null', '\\u00e9', '"a":', '"b":{', 'a="'),
  fc.string({ unit: anyCharacter, maxLength: 3 }),
);
const line = fc.array(unit, { maxLength: 60 }).map((units) => units.join(''));

for (const query of stages) {
  test(`no line makes ${query} throw`, (t) => {
    const pipeline = pipelineOf(query);
    fc.assert(
      fc.property(line, (text) => {
        t.notThrows(() => pipeline(entryOf(text, { a: '7' })));
      }),
      { numRuns: deepRuns(120, 350) },
    );
  });
}

test('no line makes a metric query throw', (t) => {
  const extract = extractorOf(
    'sum by (a) (sum_over_time({app="shop"} | json | logfmt | unwrap duration(b) | __error__!="x" [1m]))',
  );
  fc.assert(
    fc.property(line, (text) => {
      t.notThrows(() => extract(entryOf(text)));
    }),
    { numRuns: deepRuns(120, 350) },
  );
});

test('one line leaves nothing behind for the next', (t) => {
  for (const query of stages) {
    const used = pipelineOf(query);
    fc.assert(
      fc.property(line, line, (before, text) => {
        used(entryOf(before, { b: 'x' }));
        t.deepEqual(used(entryOf(text)), pipelineOf(query)(entryOf(text)));
      }),
      { numRuns: deepRuns(15, 30) },
    );
  }
});

test('lines may bring in more names than are remembered', (t) => {
  const pipeline = pipelineOf('| json | last="yes" | keep last, k5_extracted');
  for (let round = 0; round < 40; round += 1) {
    const fields = Array.from({ length: 500 }, (_, index) => [`k${round * 500 + index}`, index] as const);
    const text = JSON.stringify(Object.fromEntries([...fields, ['last', 'yes']]));
    t.deepEqual(parsedLabels(pipeline, text), { last: 'yes' });
  }
  t.deepEqual(parsedLabels(pipeline, '{"k5":1,"last":"yes"}', { k5: 'm' }), {
    k5_extracted: '1',
    last: 'yes',
  });
});

test('keys that crowd together in the table are still told apart', (t) => {
  const pipeline = pipelineOf('| logfmt');
  const keys = Array.from({ length: 20_000 }, (_, index) => `key_${(index * 7919).toString(36)}`);
  const text = keys.map((key, index) => `${key}=${index}`).join(' ');
  const labels = parsedLabels(pipeline, text) ?? {};
  t.is(Object.keys(labels).length, keys.length);
  t.true(keys.every((key, index) => labels[key] === String(index)));
});

test('equal labels are one set, so that who groups by them makes their keys once', (t) => {
  const pipeline = pipelineOf('| json | keep level');
  const first = pipeline(entryOf('{"level":"info","n":1}'));
  const second = pipeline(entryOf('{"n":2,"level":"info"}'));
  t.is(first?.parsed, second?.parsed);
  t.is(first?.stream, LabelSet.empty);
  const extract = extractorOf('sum by (level, n) (count_over_time({app="shop"} | json [1m]))');
  const one = extract(entryOf('{"level":"info","n":1}'));
  t.deepEqual(one && objectOf(one.labels), { level: 'info', n: '1' });
  t.is(extract(entryOf('{"n":1,"level":"info"}'))?.labels, one?.labels);
});

test('filters may nest as deep as a query is long', (t) => {
  const deep = `| ${'(a="1" or (b="1" and '.repeat(300)}c="1"${'))'.repeat(300)}`;
  t.truthy(pipelineOf(`| logfmt ${deep}`)(entryOf('a=1')));
  t.is(pipelineOf(`| logfmt ${deep}`)(entryOf('a=2')), undefined);
  const long = `| a="0"${' or a="1"'.repeat(900)} or b="x"`;
  t.truthy(pipelineOf(`| logfmt ${long}`)(entryOf('a=2 b=x')));
});
