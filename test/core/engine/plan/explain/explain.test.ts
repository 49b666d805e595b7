import test from 'ava';
import { Query } from '../../../../../core/wire/api/request.js';
import { LogqlError } from '../../../../../core/logql/index.js';
import { Naming } from '../../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../../core/testing/options.js';
import { storedNames } from '../../../../../core/victoria/names/name-learner.js';
import { explainQuery, type QueryExplanation } from '../../../../../core/engine/plan/explain/explain.js';
import { openLogs } from '../planned.js';
import { printExplanation } from '../../../../../core/engine/plan/explain/print.js';
import { allRules, type RuleId } from '../../../../../core/engine/plan/rules/index.js';
import { FakeUpstream, makeHost } from '../../../../../core/testing/index.js';
import { explainerOfPipeline } from '../../../../../core/engine/plan/explain/of-pipeline.js';
import { readCases } from '../../../../conformance/cases.js';

const naming = new Naming(namesOptions());

function explain(text: string): QueryExplanation {
  return explainQuery(new Query(text, 'reject'), naming);
}

function reasonOf(id: RuleId): string | undefined {
  return allRules.find((rule) => rule.id === id)?.reason;
}

test('an explanation tells the tree, what the backend is asked, what is done where, and the cost', (t) => {
  const text = printExplanation(explain('{app="a"} != "zzz" | json | level="error" | status != 5'));
  t.is(
    text,
    [
      'query   {app="a"} != "zzz" | json | level="error" | status != 5',
      'tree    (log (selector app="a") (line-filter != "zzz") (json json) (label-filter level="error") (label-filter status!=5))',
      'cost    scan: selected rows, newest or oldest first, until enough rows have passed the stages that run in the proxy',
      'names   not known here: a query first reads them from the backend; this plan shows label filters with the name as its only spelling, and line filters that keep rows without a line',
      '',
      'read    {app="a"} != "zzz" | json | level="error" | status!=5',
      `logsql  {app="a"} !_msg:*"zzz"* (_msg:*"error"* or _msg:*"\\\\u"* or level:="error" or {level="error"})`,
      '  {app="a"}',
      `      by the backend (streamMatcher): ${reasonOf('streamMatcher')}`,
      '  != "zzz"',
      `      by the backend (lineContains): ${reasonOf('lineContains')}`,
      '  | json',
      `      here (parser): ${reasonOf('parser')}`,
      '  | level="error"',
      `      both (labelInLine): ${reasonOf('labelInLine')}`,
      '  | status!=5',
      `      here (labelParsed): ${reasonOf('labelParsed')}`,
      'here    | json | level="error" | status!=5',
      '',
    ].join('\n'),
  );
});

const trees: readonly (readonly [query: string, tree: string])[] = [
  ['1 + vector(2)', '(+ 1 (vector 2))'],
  [
    'sum by (a) (quantile_over_time(0.9, {app="x"} | unwrap duration(b) | __error__="" [5m] offset 1h))',
    '(sum by (a) (quantile_over_time 0.9 [5m0s] offset 1h0m0s (log (selector app="x")) (unwrap duration b) (label-filter __error__="")))',
  ],
  [
    'topk(3, rate({app="x"}[1m])) > bool on (a) group_left (b) rate({app="y"}[1m])',
    '(> bool on (a) group_left (b) (topk 3 (rate [1m0s] (log (selector app="x")))) (rate [1m0s] (log (selector app="y"))))',
  ],
  [
    'label_replace(rate({app="x"}[1m]), "a", "$1", "b", "(.*)")',
    '(label_replace "a" "$1" "b" "(.*)" (rate [1m0s] (log (selector app="x"))))',
  ],
];

for (const [query, tree] of trees) {
  test(`${query} is ${tree}`, (t) => {
    t.is(explain(query).tree, tree);
  });
}

test('costs tell apart what is moved', (t) => {
  t.is(explain('1').cost, 'none');
  t.is(explain('{app="a"} |= "x"').cost, 'page');
  t.is(explain('{app="a"} | json').cost, 'scan');
  t.is(explain('count_over_time({app="a"} | json [1m])').cost, 'rows');
  t.is(explain('count_over_time({app="a"}[1m])').cost, 'statistics');
  t.is(explain('sum(count_over_time({app="a"}[1m]))').cost, 'statistics');
});

test('with pushdown off everything but streams is evaluated here', (t) => {
  const query = new Query('{app="a"} |= "x" | b="c"', 'reject');
  const [read] = explainQuery(query, naming, { pushdown: 'off' }).reads;
  t.is(read?.logsql, '{app="a"}');
  t.deepEqual(read?.evaluatedHere, ['|= "x"', '| b="c"']);
});

test('every query of the recordings is explained, or refused as Loki refuses it', (t) => {
  let explained = 0;
  for (const { request, golden } of [...readCases('http'), ...readCases('otel')]) {
    const { query } = request.params;
    if (typeof query !== 'string' || golden.status !== 200 || !/query(_range)?$/.test(request.path)) continue;
    const { reads, tree } = explain(query);
    t.true(tree.length > 0);
    for (const { parts } of reads) t.true(parts.length > 0);
    explained += 1;
  }
  t.true(explained > 500, String(explained));
  t.throws(() => explain('{app=}'), { instanceOf: LogqlError });
});

test('with the stored names a label filter is shown as the backend is asked', (t) => {
  const query = new Query('{app="a"} | team_owner="x"', 'reject');
  const unknown = explainQuery(query, naming);
  t.is(unknown.names, 'unknown');
  t.regex(printExplanation(unknown), /^names {3}not known here/m);
  const stored = storedNames(['team.owner'], naming);
  const known = explainQuery(query, naming, { recall: () => stored });
  t.is(known.names, 'learned');
  t.regex(known.reads[0]?.logsql ?? '', / team\.owner:="x"/);
  t.notRegex(unknown.reads[0]?.logsql ?? '', /team\.owner/);
  t.is(explain('{app="a"} |= "x"').names, 'unknown');
  t.is(explain('{app="a"} != "x"').names, 'unneeded');
  const metric = new Query('sum(rate({app="a"} | team_owner="x" [5m]))', 'reject');
  t.regex(explainQuery(metric, naming, { recall: () => stored }).reads[0]?.logsql ?? '', / team\.owner:="x"/);
});

test('a query is explained as it is planned: with the names of entries, and without stages that nothing reads', (t) => {
  const dotted = new Naming({ ...namesOptions(), logqlDottedNames: 'accept' });
  const [logs] = explainQuery(new Query('{app="a"} | team.owner="x"', 'accept'), dotted).reads;
  t.deepEqual(logs?.evaluatedHere, ['| team_owner="x"']);
  const [counted] = explain('sum(rate({app="a"} | json | line_format "{{.x}}" [5m]))').reads;
  t.deepEqual(counted?.evaluatedHere, []);
  t.is(counted?.logql, '{app="a"}');
});

test('a running pipeline is explained with its own pushdown and with what its queries have learned', async (t) => {
  const host = makeHost({});
  const query = new Query('{app="a"} | team_owner="x"', 'reject');
  t.is((await explainerOfPipeline(host, undefined))(query).names, 'unknown');
  const { wanted } = openLogs(query.ast.kind === 'log' ? query.ast : raise(), host.naming);
  await host.learner.learn({
    tenantId: 't1',
    naming: host.naming,
    filter: wanted ?? raise(),
    range: { startNs: 0n, endNs: 1n },
    upstream: new FakeUpstream([{ call: 'list', values: [{ value: 'team.owner', hits: 1 }] }]),
  });
  for (const tenant of [undefined, 't1']) {
    const { names, reads } = (await explainerOfPipeline(host, tenant))(query);
    t.is(names, 'learned');
    t.regex(reads[0]?.logsql ?? '', / team\.owner:="x"/);
  }
  t.is((await explainerOfPipeline(host, 't2'))(query).names, 'unknown');
});

function raise(): never {
  throw new Error('not a log query with label filters');
}
