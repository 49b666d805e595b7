import test from 'ava';
import { type ApiRequest, Query, Selector } from '../../../../core/wire/api/request.js';
import { printFilter } from '../../../../core/victoria/logsql/print.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { askedOf, planOf } from './planned.js';

const naming = new Naming(namesOptions());
const range = { startNs: 0n, endNs: 1n };

function rangeQuery(text: string): ApiRequest {
  return {
    op: 'query_range',
    query: new Query(text, 'reject'),
    range,
    stepNs: 1n,
    limit: 1,
    direction: 'backward',
    intervalNs: 0n,
  };
}

function instantQuery(text: string): ApiRequest {
  return { op: 'query', query: new Query(text, 'reject'), timeNs: 0n, limit: 1, direction: 'backward' };
}

function volumeRequest(text: string, targetLabels: readonly string[] = []): ApiRequest {
  const query = new Selector(text, 'reject');
  return { op: 'volume', query, range, limit: 1, targetLabels, aggregateBy: 'series' };
}

const refused: readonly (readonly [ApiRequest, RegExp])[] = [
  [rangeQuery('{app="x"'), /^parse error at line 1, col 9/],
  [rangeQuery('{}'), /^parse error : queries require at least one/],
  [rangeQuery('{app="x"} |~ "["'), /^parse error : stage '\|~ "\["' : error parsing regexp/],
  [rangeQuery('{service.name="x"}'), /^parse error at line 1, col 9: syntax error: unexpected \./],
  [rangeQuery('approx_topk(2, rate({app="x"}[1m]))'), /^approx_topk is not enabled/],
  [instantQuery('{app="x"}'), /^log queries are not supported as an instant query type/],
  [
    rangeQuery('{app="x", ü="y"}'),
    /^parse error at line 1, col 11: syntax error: unexpected STRING, expecting IDENTIFIER$/,
  ],
  [
    instantQuery('sum(rate({ü="y"} | json [1m]))'),
    /^parse error at line 1, col 2: syntax error: unexpected STRING, expecting IDENTIFIER or }$/,
  ],
  [instantQuery('{app='), /^parse error at line 1, col 6/],
  [
    { op: 'labels', query: new Selector('{}', 'reject'), range, browse: {} },
    /^parse error : queries require/,
  ],
  [
    { op: 'label_values', name: 'a', query: new Selector('{a="b"} |= "x"', 'reject'), range, browse: {} },
    /^only label matchers are supported/,
  ],
  [
    { op: 'series', selectors: [new Selector('{a!="b"}', 'reject')], range },
    /^parse error : queries require/,
  ],
  [volumeRequest('{a=~".*"}'), /^parse error : queries require/],
  [volumeRequest('{ }'), /^parse error : queries require/],
  [{ op: 'format_query', query: new Query('{', 'reject') }, /^parse error/],
];

for (const [request, message] of refused) {
  const text = 'query' in request ? request.query.text : '';
  test(`${request.op} of ${text} is refused in Loki's words`, (t) => {
    t.throws(() => askedOf(request, naming), { message });
  });
}

test('a listing without a selector reads everything, series take the union', (t) => {
  const labels = planOf({ op: 'labels', range, browse: {} }, naming);
  t.is(labels.kind === 'label-names' ? printFilter(labels.filter) : '', '*');
  const selectors = ['{a="1"}', '{b="2"}'].map((text) => new Selector(text, 'reject'));
  const series = planOf({ op: 'series', range, selectors }, naming);
  t.is(series.kind === 'series' ? printFilter(series.filter) : '', '{a="1"} or {b="2"}');
  const all = planOf({ op: 'series', range, selectors: [new Selector('{}', 'reject')] }, naming);
  t.is(all.kind === 'series' ? printFilter(all.filter) : '', '*');
});

test('constants are planned for both kinds of query', (t) => {
  t.is(planOf(rangeQuery('1+1'), naming).kind, 'metric');
  t.is(planOf(instantQuery('vector(1)+vector(1)'), naming).kind, 'metric');
});

test('volumes are of streams that have the labels asked for, whatever those of the selector are', (t) => {
  const filterOf = (text: string, targets?: readonly string[]): string => {
    const plan = planOf(volumeRequest(text, targets), naming);
    return plan.kind === 'volume' ? printFilter(plan.filter) : '';
  };
  t.is(filterOf('{}'), '*');
  t.is(filterOf('{a="1",b!="2"}'), '{a="1",b!="2"}');
  t.is(filterOf('{a="1",b!="2"}', ['b', 'c']), '{a="1",b!="2",c=~".+"}');
});
