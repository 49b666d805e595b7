import test from 'ava';
import { parser } from '@grafana/lezer-logql';
import { situationAt, type Situation } from '../../../../plugins/ui/browser/editor/situation.js';

/** The situation at `^`. */
function at(marked: string): Situation {
  const place = marked.indexOf('^');
  const text = marked.replace('^', '');
  return situationAt(parser.parse(text), text, place);
}

const kinds: readonly (readonly [Situation['kind'], readonly string[]])[] = [
  ['start', ['^', '  ^']],
  [
    'label-name',
    ['{^', '{^}', '{ap^', '{app="a", ^', '{app="a", p^}', 'rate({^', 'sum(rate({app="a",^}[5m]))'],
  ],
  ['label-value', ['{app=^', '{app="^', '{app="^"}', '{app=~"sh^', '{a="b", app="^"} | json', '{app = `^']],
  ['stage', ['{app="a"} ^', '{app="a"} |= "x" ^', '{app="a"} | json ^']],
  ['range', ['rate({app="a"}[^', 'rate({app="a"}[5^])', 'sum(rate({app="a"} | json [^]))']],
  ['expression', ['sum(^', 'sum by (app) (^', 'ra^', 'rate({app="a"}[5m]) / ^']],
  [
    'row-label',
    [
      '{app="a"} | ^',
      '{app="a"} | json | st^',
      'sum by (^',
      'sum by (app, ^',
      '{app="a"} | unwrap ^',
      '{app="a"} | drop a, ^',
      '{app="a"} | json | a="b" and ^',
    ],
  ],
  ['none', ['{app="a"} |= "^', '{app="a"} |= "x^"', '# a comment ^', '{app="a"} | line_format "{{.^']],
];

test('what belongs at the cursor is known, in queries that are not whole too', (t) => {
  for (const [kind, queries] of kinds) for (const query of queries) t.is(at(query).kind, kind, query);
});

test('values are asked of the label in front, narrowed by the other comparisons', (t) => {
  t.like(at('{app="a", pod=~"b.*", env="^"}'), {
    name: 'env',
    isQuoted: true,
    others: [
      { name: 'app', op: '=', value: '"a"' },
      { name: 'pod', op: '=~', value: '"b.*"' },
    ],
  });
  t.like(at('{app=^}'), { name: 'app', isQuoted: false, others: [] });
});

test('labels of rows are asked of the whole stages in front', (t) => {
  t.like(at('{app="a"} |= "x" | json | ^'), { in: 'filter', logQuery: '{app="a"} |= "x" | json' });
  t.like(at('sum by (lev^) (rate({app="a"} | logfmt [5m]))'), { in: 'grouping' });
  t.like(at('{app="a"} | logfmt | unwrap ^'), { in: 'unwrap', logQuery: '{app="a"} | logfmt' });
});
