import test from 'ava';
import { parseQuery } from '../../../../core/logql/index.js';
import { printFilter } from '../../../../core/victoria/logsql/print.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import type { OpenLogs } from '../../../../core/engine/plan/logs.js';
import type { LogsPlan } from '../../../../core/engine/plan/types.js';
import { openLogs } from './planned.js';

const naming = new Naming(namesOptions());
const missing =
  '!_msg:* or _msg:="missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field"*';

function open(text: string): OpenLogs {
  const ast = parseQuery(text);
  if (ast.kind !== 'log') throw new Error('not a log query');
  return openLogs(ast, naming);
}

function plan(text: string): LogsPlan {
  return open(text).close(undefined);
}

function filterOf(text: string): string {
  return printFilter(plan(text).filter);
}

const filters: readonly (readonly [string, string])[] = [
  ['{app="x", env!="y"}', '{app="x",env!="y"}'],
  ['{app=~"a|b"}', '{app=~"a|b"}'],
  ['{k8s_pod_name="p"}', '{k8s_pod_name="p" or k8s_pod_name="",k8s.pod.name="p"}'],
  ['{app="x", k8s_pod_name!="p"}', '{app="x"} !({k8s_pod_name="p" or k8s_pod_name="",k8s.pod.name="p"})'],
  ['{app="x", k8s_pod_name=""}', '{app="x",k8s_pod_name="",k8s.pod.name=""}'],
  ['{app="x", k8s_pod_name!=""}', '{app="x"} {k8s_pod_name!="" or k8s.pod.name!=""}'],
  ['{k8s_pod_name=~".+"}', '{k8s_pod_name=~".+" or k8s.pod.name=~".+"}'],
  ['{app="x", k8s_pod_name=~".*"}', '{app="x"}'],
  ['{app="x", service_name=~".+"}', '{app="x"}'],
  ['{app="x", event_name="e"}', '{app="x"} !(*)'],
  ['{app="x", event_name!="e"}', '{app="x"}'],
  ['{app="a\\"}b"}', '{app="a\\"}b"}'],
  ['{app="x"} |= "e\\"f"', `{app="x"} (_msg:*"e\\"f"* or ${missing})`],
  ['{app="x"} != "e"', `{app="x"} (!_msg:*"e"* or ${missing})`],
  ['{app="x"} != "zzz"', '{app="x"} !_msg:*"zzz"*'],
  ['{app="x"} |= ""', '{app="x"}'],
  ['{app="x"} |= "a" or "b"', `{app="x"} (_msg:*"a"* or _msg:*"b"* or ${missing})`],
  ['{app="x"} |= "a" |= "b"', `{app="x"} (_msg:*"a"* _msg:*"b"* or ${missing})`],
  ['{app="x"} |= "au caf\ufffd lait"', `{app="x"} (_msg:*"au caf"* _msg:*" lait"* or ${missing})`],
  ['{app="x"} |~ "order.caf\ufffd"', `{app="x"} (_msg:*"order"* _msg:*"caf"* or ${missing})`],
  ['{app="x"} |> "<_>caf\ufffd <_>"', `{app="x"} (_msg:*"caf"* _msg:*" "* or ${missing})`],
  ['{app="x"} != "caf\ufffd"', '{app="x"}'],
  ['{app="x"} |~ "a.b"', `{app="x"} (_msg:~"(?-s)a.b" or ${missing})`],
  ['{app="x"} |~ "(?i)a.b"', `{app="x"} (_msg:~"(?i-s)a.b" or ${missing})`],
  ['{app="x"} |~ "(?s)a.b"', `{app="x"} (_msg:~"(?:\\\\b|\\\\B)(?:(?s)a.b)" or ${missing})`],
  [
    '{app="x"} |~ `foo\\b`',
    `{app="x"} (_msg:*"foo"* _msg:~"(?:\\\\b|\\\\B)(?:(?-s)foo\\\\b)" or ${missing})`,
  ],
  ['{app="x"} |~ `foo(\\s|.)`', `{app="x"} (_msg:*"foo"* or ${missing})`],
  ['{app="x"} !~ `foo(\\s|.)`', '{app="x"}'],
  ['{app=~`foo\\b.*`}', '{app=~"(?:\\\\b|\\\\B)(?:foo\\\\b.*)"}'],
  ['{app="x"} |~ "foo|"', `{app="x"} (_msg:*"foo"* or ${missing})`],
  ['{app="x"} |~ "a*"', '{app="x"}'],
  ['{app="x"} !~ "(?i)ok"', `{app="x"} (!_msg:~"(?-s)[Oo][Kk\u212a]" or ${missing})`],
  ['{app="x"} |~ "(?i)oké"', `{app="x"} (_msg:~"(?-s)[Oo][Kk\u212a][Éé]" or ${missing})`],
  ['{app="x"} |~ "lit.*(ab|cd)"', `{app="x"} (_msg:*"litab"* or _msg:*"litcd"* or ${missing})`],
  ['{app="x"} |~ ".+"', `{app="x"} (_msg:* or ${missing})`],
  ['{app="x"} |> "a <_> b"', `{app="x"} (_msg:*"a "* _msg:*" b"* or ${missing})`],
  ['{app="x"} !> "a <_> b"', '{app="x"}'],
  ['{app="x"} |= ip("10.0.0.1")', `{app="x"} (_msg:*"10.0.0.1"* or ${missing})`],
  ['{app="x"} |= ip("10.0.0.0/8")', `{app="x"} (_msg:*"10."* or ${missing})`],
  ['{app="x"} |= ip("172.16.0.0/12")', `{app="x"} (_msg:*"172."* or ${missing})`],
  ['{app="x"} |= ip("10.1.2.3-10.1.2.9")', `{app="x"} (_msg:*"10.1.2."* or ${missing})`],
  ['{app="x"} |= ip("0.0.0.0/1")', '{app="x"}'],
  ['{app="x"} |= ip("2001:db8::/32")', '{app="x"}'],
  ['{app="x"} != ip("10.0.0.0/8")', '{app="x"}'],
  ['{app="x"} | json | a="b"', '{app="x"}'],
];

for (const [query, filter] of filters) {
  test(`${query} reads ${filter}`, (t) => {
    t.is(filterOf(query), filter);
  });
}

test('service_name asks for the first label of the discovery list that a stream has', (t) => {
  const filter = filterOf('{service_name="v"}');
  t.true(
    filter.startsWith(
      '{service_name="v" or service_name="",service.name="v" or service_name="",service.name="",service="v" or ',
    ),
  );
  t.false(filterOf('{service_name="v"}').includes('k8s_job_name="",k8s.job.name="" or'));
  t.true(filterOf('{service_name="unknown_service"}').endsWith('k8s_job_name="",k8s.job.name=""}'));
  t.true(filterOf('{app="x", service_name!="v"}').startsWith('{app="x"} !({service_name="v" or '));
  t.true(
    filterOf('{app="x", service_name=~"v|"}').startsWith(
      '{app="x"} {service_name=~"v|",service_name!="" or ',
    ),
  );
  t.is(filterOf('{app="x", service_name=""}'), '{app="x"} !(*)');
});

test('stages that the backend does exactly are not evaluated again, except on rebuilt lines', (t) => {
  const made = plan('{app="x"} |= "a" |> "b<_>" | json |~ "c.d"');
  t.deepEqual(
    made.recheck.map(({ kind }) => kind),
    ['line-filter', 'line-filter'],
  );
  t.deepEqual(
    made.residual.map(({ kind }) => kind),
    ['line-filter', 'json'],
  );
});

test('a filter on a changed line stays here', (t) => {
  const made = plan('{app="x"} |= "a" | line_format "b" |= "b"');
  t.is(printFilter(made.filter), `{app="x"} (_msg:*"a"* or ${missing})`);
  t.deepEqual(
    made.residual.map(({ kind }) => kind),
    ['line-format', 'line-filter'],
  );
});

test('filters that would make the query too long stay here', (t) => {
  const texts = Array.from({ length: 2000 }, (_, index) => `word${index}`).join('|');
  const { close, decisions } = open(`{app="x"} |~ "${texts}"`);
  const made = close(undefined);
  t.is(printFilter(made.filter), '{app="x"}');
  t.is(made.residual.length, 1);
  t.is(decisions.at(-1)?.rule.id, 'queryTooLong');
});

test('every part of a query has a rule', (t) => {
  const { decisions } = open(
    '{app="x", service_name="y"} |= "a" !~ "(?i)s" | json | line_format "z" | keep b',
  );
  t.deepEqual(
    decisions.map(({ rule }) => rule.id),
    ['streamMatcher', 'serviceName', 'lineContains', 'lineAnyCase', 'parser', 'lineRewrite', 'labelRewrite'],
  );
});
