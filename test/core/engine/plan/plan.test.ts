import test from 'ava';
import { type ApiRequest, Query } from '../../../../core/wire/api/request.js';
import { printFilter } from '../../../../core/victoria/logsql/print.js';
import { NameLearner } from '../../../../core/victoria/names/name-learner.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { planRequest } from '../../../../core/engine/plan/plan.js';
import type { Plan } from '../../../../core/engine/plan/types.js';
import {
  FakeClock,
  FakeUpstream,
  makeExchange,
  makeTenant,
  type ExpectedCall,
} from '../../../../core/testing/index.js';
import { askedOf } from './planned.js';

const naming = new Naming(namesOptions());
const hourNs = 3_600_000_000_000n;
const startNs = 1_793_491_200_000_000_000n;
const range = { startNs, endNs: startNs + hourNs };
const later = new FakeClock(startNs + 10n * hourNs);

function queryOf(text: string): ApiRequest {
  const query = new Query(text, 'reject');
  return {
    op: 'query_range',
    query,
    range,
    stepNs: hourNs,
    limit: 10,
    direction: 'backward',
    intervalNs: 0n,
  };
}

async function planned(
  request: ApiRequest,
  learner: NameLearner,
  expected: readonly ExpectedCall[],
  owner = 'somebody',
): Promise<{ readonly plan: Plan; readonly upstream: FakeUpstream }> {
  const upstream = new FakeUpstream(expected, owner);
  const plan = askedOf(request, naming);
  const slots = { tenant: makeTenant(), plan, upstream };
  const exchange = makeExchange<'tenant' | 'plan' | 'upstream'>({ request, slots });
  const { plan: made } = await planRequest(exchange, naming, learner);
  upstream.done();
  return { plan: made, upstream };
}

const listing: ExpectedCall = { call: 'list', values: [{ value: 'team.owner', hits: 1 }] };

test('a label filter is asked of the backend in every stored spelling', async (t) => {
  const { plan } = await planned(queryOf('{app="a"} | team_owner!=""'), new NameLearner(later), [listing]);
  t.is(plan.kind === 'logs' ? printFilter(plan.filter) : '', '{app="a"} (team_owner:* or team.owner:*)');
});

test('names of metric queries are learned in all of their windows, and nowhere else', async (t) => {
  const request = queryOf('sum(count_over_time({app="a"} | team_owner!="" [2h] offset 1h))');
  const { upstream } = await planned(request, new NameLearner(later), [listing]);
  t.like(upstream.requests[0], {
    range: { startNs: startNs - 3n * hourNs + 1n, endNs: range.endNs - hourNs + 1n },
  });
});

test('a query that looks at no field asks for no names', async (t) => {
  for (const text of ['{app="a"}', '{app="a"} != "x"', '{app="a"} | json'])
    t.is((await planned(queryOf(text), new NameLearner(later), [])).upstream.requests.length, 0, text);
});

test('rows without a line are asked for where their fields may hold what is looked for', async (t) => {
  const learner = new NameLearner(later);
  const found = await planned(queryOf('{app="a"} |= "such"'), learner, [listing]);
  const asked = found.upstream.requests[0];
  t.regex(
    asked !== undefined && 'query' in asked ? printFilter(asked.query.filter) : '',
    /^\{app="a"\} \(!_msg:\* or _msg:=/,
  );
  const filter = found.plan.kind === 'logs' ? printFilter(found.plan.filter) : '';
  t.true(filter.endsWith(' or team.owner:*"such"*)'), filter);
  t.is((await planned(queryOf('{app="a"} |= "other"'), learner, [])).upstream.requests.length, 0);
  const none = await planned(queryOf('{app="b"} |= "such"'), learner, [{ call: 'list', values: [] }]);
  t.false(none.plan.kind === 'logs' && printFilter(none.plan.filter).includes('!('));
});

test('who sees other rows learns other names', async (t) => {
  const learner = new NameLearner(later);
  const request = queryOf('{app="a"} | team_owner!=""');
  await planned(request, learner, [listing]);
  t.is((await planned(request, learner, [])).upstream.requests.length, 0);
  t.is((await planned(request, learner, [listing], 'somebody else')).upstream.requests.length, 1);
});
