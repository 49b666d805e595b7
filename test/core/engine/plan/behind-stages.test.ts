import test from 'ava';
import { metricPlan, openLogs } from './planned.js';
import { leavesOf } from '../../../../core/logql/metric/index.js';
import { parseQuery } from '../../../../core/logql/index.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';

const probes = ['|= "needle"', '| a="needle"', '| b="needle"', '| other>5', '| other=ip("10.0.0.1")'];

/** The rules that apply, after these stages, to a filter on the line, on two labels, on a number and on an address. */
const rules: readonly (readonly [stages: string, ...string[]])[] = [
  ['|= "x"', 'lineContains', 'labelText', 'labelText', 'labelNumber', 'labelAddress'],
  ['| a="x"', 'lineContains', 'labelText', 'labelText', 'labelNumber', 'labelAddress'],
  ['| a>1', 'lineContains', 'labelText', 'labelText', 'labelNumber', 'labelAfterError'],
  ['| a=ip("10.0.0.1")', 'lineContains', 'labelText', 'labelText', 'labelNumber', 'labelAfterError'],
  ['| json', 'lineContains', 'labelInLine', 'labelInLine', 'labelNumberInLine', 'labelParsed'],
  ['| json a="b"', 'lineContains', 'labelInLine', 'labelText', 'labelNumber', 'labelAfterError'],
  ['| logfmt', 'lineContains', 'labelInLine', 'labelInLine', 'labelNumberInLine', 'labelParsed'],
  ['| logfmt a="b"', 'lineContains', 'labelInLine', 'labelText', 'labelNumber', 'labelAfterError'],
  ['| regexp "(?P<a>.)"', 'lineContains', 'labelInLine', 'labelText', 'labelNumber', 'labelAddress'],
  ['| pattern "<a> "', 'lineContains', 'labelInLine', 'labelText', 'labelNumber', 'labelAddress'],
  ['| unpack', 'lineAfterChange', 'labelParsed', 'labelParsed', 'labelParsed', 'labelParsed'],
  ['| decolorize', 'lineAfterChange', 'labelText', 'labelText', 'labelNumber', 'labelAddress'],
  ['| line_format "x"', 'lineAfterChange', 'labelText', 'labelText', 'labelNumber', 'labelAfterError'],
  ['| label_format a=b', 'lineContains', 'labelParsed', 'labelParsed', 'labelNumber', 'labelAddress'],
  ['| label_format a="x"', 'lineContains', 'labelParsed', 'labelText', 'labelNumber', 'labelAfterError'],
  ['| drop a', 'lineContains', 'labelParsed', 'labelText', 'labelNumber', 'labelAddress'],
  ['| keep a', 'lineContains', 'labelParsed', 'labelParsed', 'labelParsed', 'labelParsed'],
  ['| json | regexp "(?P<c>.)"', 'lineContains', 'labelInLine', 'labelInLine', 'labelParsed', 'labelParsed'],
  ['| regexp "(?P<c>.)" | json', 'lineContains', 'labelInLine', 'labelInLine', 'labelParsed', 'labelParsed'],
  ['| json | logfmt', 'lineContains', 'labelInLine', 'labelInLine', 'labelNumberInLine', 'labelParsed'],
  [
    '| json | label_format a=b',
    'lineContains',
    'labelParsed',
    'labelInLine',
    'labelNumberInLine',
    'labelParsed',
  ],
  ['| json | unpack', 'lineAfterChange', 'labelParsed', 'labelParsed', 'labelParsed', 'labelParsed'],
  [
    '| regexp "(?P<c>.)" | unpack',
    'lineAfterChange',
    'labelParsed',
    'labelParsed',
    'labelParsed',
    'labelParsed',
  ],
  ['| line_format "x" | json', 'lineAfterChange', 'labelParsed', 'labelParsed', 'labelParsed', 'labelParsed'],
];

const naming = new Naming(namesOptions());
for (const [stages, ...expected] of rules) {
  test(`${stages} leaves to filters behind it what it may not have changed`, (t) => {
    const found = probes.map((probe) => {
      const expr = parseQuery(`{app="x"} ${stages} ${probe}`);
      if (expr.kind !== 'log') throw new Error('not a log query');
      return openLogs(expr, naming).decisions.at(-1)?.rule.id;
    });
    t.deepEqual(found, expected);
  });
}

/**
 * The way in which `sum by (z) (count_over_time(...))` is counted after stages: the rule, the labels of the groups, true if lines with
 * an error of the parser count like others, and true if rows have the column of `a`.
 */
const counts: readonly (readonly [
  stages: string,
  rule: string,
  names: string | undefined,
  dropsErrors: boolean | undefined,
  hasColumn: boolean | undefined,
])[] = [
  ['|= "x"', 'metricGroups', 'z', undefined, false],
  ['| a="x"', 'metricGroups', 'z,a', undefined, true],
  ['| a>1', 'metricGroups', 'z,a', undefined, true],
  ['| a=ip("10.0.0.1")', 'metricGroups', 'z,a', undefined, true],
  ['| json', 'metricJson', 'z', false, false],
  ['| json a="b"', 'metricJson', 'z', false, false],
  ['| json a="b" | drop __error__', 'metricJson', 'z', true, false],
  ['| drop __error__ | json a="b"', 'metricJson', 'z', false, false],
  ['| json a="b[0]"', 'metricStages', undefined, undefined, false],
  ['| json a="b", a="c"', 'metricStages', undefined, undefined, false],
  ['| logfmt a', 'metricLogfmt', 'z', true, false],
  ['| logfmt a, b', 'metricStages', undefined, undefined, false],
  ['| logfmt --strict a', 'metricStages', undefined, undefined, false],
  ['| logfmt', 'metricLogfmt', 'z', true, false],
  ['| logfmt --strict', 'metricStages', undefined, undefined, false],
  ['| logfmt --keep-empty', 'metricStages', undefined, undefined, false],
  ['| logfmt a="b"', 'metricStages', undefined, undefined, false],
  ['| regexp "(?P<a>.)"', 'metricRegexp', 'z', true, false],
  ['| pattern "<a> "', 'metricPattern', 'z', true, false],
  ['| unpack', 'metricStages', undefined, undefined, false],
  ['| decolorize', 'metricGroups', 'z', undefined, false],
  ['| decolorize | json', 'metricStages', undefined, undefined, false],
  ['| line_format "x"', 'metricGroups', 'z', undefined, false],
  ['| json | line_format "{{.a}}"', 'metricJson', 'z', false, false],
  ['| label_format a=b', 'metricGroups', 'z,a,b', undefined, true],
  ['| label_format a="x"', 'metricGroups', 'z,a', undefined, true],
  ['| label_format a="{{.b}}"', 'metricGroups', 'z,a,b', undefined, true],
  ['| label_format a="{{.}}"', 'metricStages', undefined, undefined, undefined],
  ['| drop a', 'metricGroups', 'z', undefined, true],
  ['| keep a', 'metricGroups', 'z', undefined, true],
  ['| json | regexp "(?P<c>.)"', 'metricStages', undefined, undefined, false],
  ['| json | label_format a=b', 'metricJson', 'z,a,b', false, true],
  ['| label_format a=b, c="x"', 'metricGroups', 'z,a,b,c', undefined, true],
  ['| json | label_format a="{{.b}}"', 'metricJson', 'z,a,b', false, true],
  ['| json | unpack', 'metricStages', undefined, undefined, false],
  ['| line_format "x" | json', 'metricStages', undefined, undefined, undefined],
  ['| drop a="x"', 'metricGroups', 'z,a', undefined, true],
  ['| keep a="x", z', 'metricGroups', 'z,a', undefined, true],
  ['| json | drop __error__', 'metricJson', 'z', true, false],
  ['| json | drop __error__="x"', 'metricJson', 'z,__error__', false, false],
];

for (const [stages, ...expected] of counts) {
  test(`${stages} decides what is counted by groups, and what is read`, (t) => {
    const expr = parseQuery(`sum by (z) (count_over_time({app="x"} ${stages} [1m]))`);
    if (expr.kind === 'log') throw new Error('not a metric query');
    const [leaf] = leavesOf(metricPlan(expr, naming).tree);
    const names: unknown = leaf?.push?.names;
    t.deepEqual(
      [
        leaf?.rule.id,
        names instanceof Set ? [...names].join(',') : names,
        leaf?.push?.dropsErrors,
        leaf?.columns?.some((column) => column.kind === 'prefix' && column.prefix === 'a'),
      ],
      expected,
    );
  });
}
