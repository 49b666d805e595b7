import test from 'ava';
import type { AskedTimes } from '../../../../core/engine/advice/advice.js';
import { adviceOn, adviceRules, type QueryAdvice } from '../../../../core/engine/advice/rules.js';
import { explainQuery, type QueryExplanation } from '../../../../core/engine/plan/explain/explain.js';
import { printPlain } from '../../../../core/logql/index.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { Query } from '../../../../core/wire/api/request.js';

const naming = new Naming(namesOptions());
const hour: AskedTimes = { kind: 'range', rangeMs: 3_600_000, stepMs: 5_000 };

function advice(text: string, times = hour, pushdown: 'on' | 'off' = 'on'): readonly QueryAdvice[] {
  const query = new Query(text, 'reject');
  const explain = (each: Query): QueryExplanation =>
    explainQuery(each, naming, { pushdown, knownOf: () => ({ rows: { hasLines: true } }) });
  const explanation = explain(query);
  return adviceOn(query.ast, { explanation, explain: (expr) => explain(query.withAst(expr)), times });
}

/** Ids of advice, each with the rewritten query if there is one. */
function told(text: string, times?: AskedTimes): readonly string[] {
  return advice(text, times).map(({ rule, rewritten }) =>
    rewritten === undefined ? rule.id : `${rule.id}: ${printPlain(rewritten)}`,
  );
}

const cases: readonly (readonly [query: string, ...advice: string[]])[] = [
  ['sum by (a) (sum by (a, b) (rate({app="x"}[5m])))', 'nested-aggregation: sum by (a)(rate({app="x"}[5m]))'],
  [
    'max(max by (a) (max_over_time({app="x"} |= "t" | json | unwrap t [5m])))',
    'nested-aggregation: max(max_over_time({app="x"} |= "t" | json | unwrap t[5m]))',
  ],
  // No advice: the outer groups are not unions of the inner groups, or the values do not add up.
  ['sum by (a) (sum by (b) (rate({app="x"}[5m])))'],
  ['sum by (a) (sum without (a) (rate({app="x"}[5m])))', 'no-grouping'],
  ['avg(avg by (a) (sum by (a, b) (rate({app="x"}[5m]))))'],
  [
    'sum by (app) (rate({app="x"} | pattern "<_> <user>" [5m]))',
    'unread-stage: sum by (app)(rate({app="x"}[5m]))',
  ],
  [
    'sum by (level) (rate({app="x"} | json | label_format y="{{.b}}" [5m]))',
    'unread-stage: sum by (level)(rate({app="x"} | json[5m]))',
  ],
  ['sum by (app) (rate({app="x"} | json [5m]))', 'unread-stage: sum by (app)(rate({app="x"}[5m]))'],
  // No advice: the label may come from the line, or the removed stage decides about errors.
  ['sum by (user) (rate({app="x"} | json [5m]))'],
  ['sum by (app) (rate({app=~".*", b="x"} | json [5m]))'],
  ['sum by (app) (rate({app="x"} | drop app | json [5m]))'],
  ['sum by (app) (rate({app="x"} | json | __error__="" [5m]))'],
  ['sum by (app) (rate({app="x"} | json | drop __error__ [5m]))'],
  ['sum by (user_extracted) (rate({app="x"} | pattern "<_> <user>" [5m]))'],
  ['sum by (app) (rate({app="x"} | regexp "(?P<y>a)" | y="a" [5m]))'],
  [
    '{app="x"} | json | line_format "{{.msg}}" |= "a.b" or "c" |= "d"',
    'filter-before-format: {app="x"} | json | msg=~`(?s).*(?:a\\.b|c).*` | msg=~`(?s).*d.*` | line_format "{{.msg}}"',
  ],
  ['{app="x"} | json | line_format "{{.a}} {{.b}}" |= "c"'],
  ['{app="x"} | json | line_format "{{.msg}}" != "c"'],
  ['sum by (status) (rate({app="x"} | json status [5m]))'],
  ['sum by (status) (rate({app="x"} | logfmt status | status="500" [5m]))'],
  [
    'sum by (status) (rate({app="x"} | logfmt status, path | status="500" [5m]))',
    'named-fields: sum by (status)(rate({app="x"} | logfmt | status="500"[5m]))',
  ],
  ['sum by (status) (rate({app="x"} | logfmt --strict status [5m]))'],
  ['sum by (status) (rate({app="x"} | json status="response.status" [5m]))'],
  ['{app="x"} | json status'],
  [
    'sum by (level) (rate({app="x"} | logfmt --strict [5m]))',
    'level-from-line: sum by (detected_level)(rate({app="x"}[5m]))',
  ],
  [
    'sum(rate({app="x"} | logfmt --strict | level="error" [5m]))',
    'level-from-line: sum(rate({app="x"} | detected_level="error"[5m]))',
  ],
  ['max by (level) (rate({app="x"} | logfmt --strict | drop x [5m]))'],
  // No advice: the backend counts by labels of JSON and logfmt.
  ['sum by (level) (rate({app="x"} | json [5m]))'],
  ['sum by (level) (rate({app="x"} | logfmt [5m]))'],
  ['sum by (level, user) (rate({app="x"} | logfmt --strict [5m]))'],
  ['{app=~".+"}', 'wide-selector'],
  ['{app="x"} | unpack | order="A-123"', 'filter-after-parser'],
  ['{app="x"} |~ "(?i)timeout"', 'any-case'],
  ['{app="x"} |~ "x*"', 'matches-all'],
  ['{app="x"} !> "<_> took <_>ms"', 'negated-filter'],
  ['count_over_time({app="x"}[5m])', 'no-grouping'],
  ['sum(sum_over_time({app="x"} |= "took" | unwrap took [5m]))', 'unwrap-unparsed'],
  ['sum(sum_over_time({app="x"} | logfmt --strict | unwrap took [5m]))', 'unwrap-all-rows'],
  ['sum(sum_over_time({app="x"} |= "took=" | logfmt --strict | unwrap took [6h]))', 'recording-rule'],
  // No advice: the planner does the same by itself.
  ['{app="x"} |~ "timeout"'],
  ['{app="x"} |~ "a|b"'],
  ['{app="x"} | json | order="A-123"'],
  ['sum(rate({app="x"} | json | line_format "{{.a}}" [5m]))'],
];

test('advice is given where it saves something, and nowhere else', (t) => {
  for (const [query, ...wanted] of cases) t.deepEqual(told(query), wanted, query);
});

test('advice about times depends on the range and the step', (t) => {
  const query = 'sum(rate({app="x"}[5m]))';
  t.deepEqual(told(query, { ...hour, stepMs: 1_000 }), ['fine-step']);
  t.deepEqual(told(query, { ...hour, stepMs: 7_000 }), ['uneven-step']);
  t.deepEqual(told(query, { ...hour, stepMs: 60_000 }), []);
  t.deepEqual(told(query, { ...hour, stepMs: 1, kind: 'instant' }), []);
});

test('without pushdown that is the only advice', (t) => {
  const [only, ...others] = advice('sum(sum by (a) (rate({app=~".+"}[5m])))', hour, 'off');
  t.is(only?.rule.id, 'pushdown-off');
  t.deepEqual(others, []);
});

test('each kind of advice has a case', (t) => {
  const named = new Set(cases.flatMap(([, ...wanted]) => wanted.map((text) => text.replace(/:.*/s, ''))));
  const others = ['pushdown-off', 'fine-step', 'uneven-step'];
  t.deepEqual(
    adviceRules.map(({ id }) => id).filter((id) => !named.has(id) && !others.includes(id)),
    [],
  );
});
