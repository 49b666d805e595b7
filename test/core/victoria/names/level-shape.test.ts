import test from 'ava';
import fc from 'fast-check';
import { collapseNums } from '../../../../core/victoria/logsql/eval/collapse.js';
import { levelFromLine } from '../../../../core/victoria/names/level.js';
import {
  formOf,
  levelOfShape,
  shapeOf,
  type LineShape,
} from '../../../../core/victoria/names/level-shape.js';
import { deepRuns } from '../../../setup/runs.js';

const pieces = [
  ...['{', '}', '[', ']', '"', '\\', ':', ',', '=', ' ', '\t', '{"', '":"', '","', '"}', '="', '":', ',"'],
  ...[
    '"level":"',
    '"level": "',
    '"severity":"',
    'level=',
    'lvl=',
    'LEVEL=',
    'log.level=',
    '"Level":',
    '{"a":1,',
  ],
  ...['info', 'INFO', 'error', 'warning', 'TRACE', 'Trc', 'odd', 'terror', '12', '7', 'beef', 'T', 'x_', 'é'],
  ...['"a":', '12,"', '<N>', '-1', 'beef,', '\\u0065', '"level":{', 'wrn'],
];
const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((parts) => parts.join(''));
const forms = fc.uniqueArray(
  fc.constantFrom(
    { prefix: '"level":"', suffix: '"' },
    { prefix: '"severity":"', suffix: '"' },
    { prefix: 'level=', suffix: ' ' },
    { prefix: 'lvl=', suffix: ' ' },
  ),
  { maxLength: 3 },
);

function collapsed(shape: LineShape): LineShape {
  return shape.form === undefined
    ? { form: undefined, line: collapseNums(shape.line, false) }
    : { ...shape, before: collapseNums(shape.before, false) };
}

test('what a shape tells of the level holds for every line of that shape', (t) => {
  let told = 0;
  fc.assert(
    fc.property(texts, forms, texts, (line, by, end) => {
      const shape = shapeOf(line, by);
      const level = levelOfShape(collapsed(shape));
      if (level === undefined) return;
      told += 1;
      t.is(level, levelFromLine(line) ?? '', line);
      if (shape.form === undefined) return;
      // The lines that begin alike are of that shape as well.
      const start = `${shape.before}${shape.form.prefix}${shape.value}${shape.form.suffix}`;
      t.is(level, levelFromLine(start + end) ?? '', start + end);
    }),
    { numRuns: deepRuns(2_000, 6_000) },
  );
  t.true(told > 0);
});

const told: readonly (readonly [string, string | undefined])[] = [
  ['{"ts":"2026-11-01T00:00:01Z","level":"warn","msg":"an error"}', 'warn'],
  ['ts=2026-11-01T00:00:01Z level=info msg="an error"', 'info'],
  ['[ERROR] batch 17 gave up', 'error'],
  ['GET /static/70.js 200', ''],
  // What follows may be a field that counts more, or a pair that comes to stand outside of the quotes.
  ['{"severity":"warn","level":"error"}', 'warn'],
  ['{"severity":"wrn","level":"error"}', undefined],
  ['{"http":{"level":"warn"},"level":"error"}', undefined],
  ['msg="was level=info before" level=error', undefined],
  ['took 12TRACE', ''],
  // Whether these are numbers, or escapes, is not seen any more.
  ['{"a":12,"level":"info"}', 'info'],
  ['{"a":12,"level":"trc"}', undefined],
  ['a="\\beef" lvl=trc', undefined],
  // A name that counts more may follow.
  ['a=1 lvl=trc done', undefined],
  ['a=1 level=trc done', 'trace'],
];

for (const [line, level] of told) {
  test(`the shape of ${line} tells ${level ?? 'nothing'}`, (t) => {
    const form = formOf(line);
    t.is(levelOfShape(collapsed(shapeOf(line, form === undefined ? [] : [form]))), level);
  });
}

test('whether a collapsed number was one is left open where it matters', (t) => {
  t.is(levelOfShape({ form: undefined, line: '{"a":<N>,"level":"trc"}' }), undefined);
  t.is(levelOfShape({ form: undefined, line: '{"level":"trc","a":<N>}' }), 'trace');
  t.is(levelOfShape({ form: undefined, line: '{"a":<N>,"level":"info"}' }), 'info');
});
