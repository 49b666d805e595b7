import test from 'ava';
import fc from 'fast-check';
import { parseQuery, printPlain, type RangeAggregation } from '../../../../core/logql/index.js';
import { compileExtractor, pushedGrouping } from '../../../../core/logql/pipeline/extractor.js';
import type { SampleGroups } from '../../../../core/logql/pipeline/types.js';
import { dropUnusedLineFormats, withoutUnread, withStages } from '../../../../core/logql/pipeline/output.js';
import { deepRuns } from '../../../setup/runs.js';
import { entryOf } from './run-query.js';

interface Aggregated {
  readonly range: RangeAggregation;
  readonly pushed: SampleGroups | undefined;
}

function aggregated(query: string): Aggregated {
  const expr = parseQuery(query);
  if (expr.kind === 'range-aggregation') return { range: expr, pushed: undefined };
  if (expr.kind !== 'vector-aggregation' || expr.expr.kind !== 'range-aggregation')
    throw new Error('not a range aggregation');
  return { range: expr.expr, pushed: pushedGrouping(expr) };
}

const left: readonly (readonly [query: string, stages: string])[] = [
  ['sum(rate({a="b"} | json | line_format "{{.x}}" [1m]))', ''],
  ['sum by (x) (rate({a="b"} | json | line_format "{{.x}}" [1m]))', ' | json'],
  ['sum(rate({a="b"} | line_format "{{.x}}" | json [1m]))', ' | line_format "{{.x}}" | json'],
  ['sum(rate({a="b"} | json | drop __error__ [1m]))', ' | drop __error__'],
  ['sum(rate({a="b"} | json | __error__="" [1m]))', ' | json | __error__=""'],
  ['sum(rate({a="b"} | regexp "(?P<x>.)" [1m]))', ''],
  [
    'sum(rate({a="b"} | regexp "(?P<x>.)" | label_format y="{{.}}" [1m]))',
    ' | regexp "(?P<x>.)" | label_format y="{{.}}"',
  ],
  ['rate({a="b"} | json [1m])', ' | json'],
  ['absent_over_time({a="b"} | json [1m])', ''],
  ['rate({a="b"} | decolorize [1m])', ''],
  ['rate({a="b"} | decolorize |= "x" [1m])', ' | decolorize |= "x"'],
  [
    'rate({a="b"} | decolorize | label_format y="{{__line__}}" [1m])',
    ' | decolorize | label_format y="{{__line__}}"',
  ],
  ['bytes_rate({a="b"} | decolorize | line_format "x" [1m])', ' | decolorize | line_format "x"'],
  ['sum(sum_over_time({a="b"} | json | decolorize | unwrap x [1m]))', ' | json'],
];

for (const [query, stages] of left)
  test(`${query} runs "${stages}"`, (t) => {
    const { range, pushed } = aggregated(query);
    t.is(printPlain(withoutUnread(range, pushed).range.query), `{a="b"}${stages}`);
  });

const anyStage = fc.constantFrom(
  ...['json', 'json x="y"', 'logfmt', 'unpack', 'pattern "<x> <_>"', 'regexp "(?P<x>[a-z]+)"', 'decolorize'],
  ...['line_format "{{.x}} {{__line__}}"', 'line_format "{{unixToTime .x}}"', 'label_format y=x'],
  ...['label_format y="{{__line__}}"', 'label_format y="{{.}}"', 'x="a"', 'x > 1', '__error__=""'],
  ...['drop x', 'drop __error__', 'keep app', 'keep x="a"'],
);
const anyFilter = fc.constantFrom('', ' |= "a"', ' !~ "1"');
const anyQuery = fc
  .tuple(
    fc.array(fc.tuple(anyStage, anyFilter), { maxLength: 4 }),
    fc.constantFrom('count_over_time', 'rate', 'bytes_over_time', 'absent_over_time', 'sum_over_time'),
    fc.constantFrom('', 'sum', 'sum by (x)', 'sum by (app)', 'sum without (x)', 'max by (x)'),
  )
  .map(([stages, op, around]) => {
    const text = stages.map(([stage, filter]) => ` | ${stage}${filter}`).join('');
    const unwrap = op === 'sum_over_time' ? ' | unwrap x' : '';
    const range = `${op}({app="shop"}${text}${unwrap} [1m])`;
    return around === '' ? range : `${around} (${range})`;
  });
const anyLine = fc.constantFrom(
  ...['a 1', '\u001b[31ma\u001b[0m 2', '{"x":"a","y":1}', '{"x":2}', 'x=a y=1', 'x=3', '', '{"x":', '1'],
  '{"_entry":"x=1","x":"a"}',
);

test('stages that nothing reads make no difference to samples and their errors', (t) => {
  let [fewer, samples, errors] = [0, 0, 0];
  const law = fc.property(anyQuery, fc.array(anyLine, { minLength: 1, maxLength: 6 }), (query, lines) => {
    const { range, pushed } = aggregated(query);
    const whole = withStages(range, dropUnusedLineFormats(range));
    const read = withoutUnread(range, pushed);
    if (read !== whole && read.range.query.stages.length < whole.range.query.stages.length) fewer += 1;
    const [ofWhole, ofRead] = [compileExtractor(whole, pushed), compileExtractor(read, pushed)];
    for (const line of lines) {
      const [expected, sample] = [ofWhole(entryOf(line)), ofRead(entryOf(line))];
      if (expected !== undefined) samples += 1;
      if (expected?.error !== undefined) errors += 1;
      t.deepEqual(shown(sample), shown(expected), `${query} of ${line}`);
    }
  });
  const tries = deepRuns(1200, 4000);
  fc.assert(law, { numRuns: tries, endOnFailure: true });
  t.true(fewer > tries / 40 && samples > tries / 4 && errors > tries / 40, `${fewer}, ${samples}, ${errors}`);
});

function shown(sample: ReturnType<ReturnType<typeof compileExtractor>>): unknown {
  return sample === undefined ? undefined : [sample.value, sample.labels.labels, sample.error];
}
