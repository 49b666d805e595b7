import test from 'ava';
import { type ApiRequest, Query, Selector } from '../../../core/wire/api/request.js';
import type { Answer, PatternsAnswer, VolumeAnswer } from '../../../core/wire/answer/types.js';
import { LabelSet } from '../../../core/base/label-set.js';
import { createLimits } from '../../../core/wire/limits/limits.js';
import type { Rest } from '../../../core/plugin/index.js';
import { limitsOptions, makeExchange, makeLogAnswer, makeTenant } from '../../../core/testing/index.js';
import { requestOf } from '../../core/cache/samples.js';
import { answerSeveral } from '../../../plugins/tenancy/several.js';

const range = { startNs: 0n, endNs: 3_600_000_000_000n };
const selector = (text: string): Selector => new Selector(text, 'reject');

async function ask(
  request: ApiRequest,
  answerOf: (tenantId: string) => Answer,
): Promise<{ readonly answer: Answer; readonly seen: ReadonlyMap<string, ApiRequest> }> {
  const seen = new Map<string, ApiRequest>();
  const rest: Rest<'tenant'> = (exchange) => {
    const { id } = exchange.slots.tenant;
    // Requests for lines precede those for the labels and fields found in them.
    if (exchange.request.op === 'query_range') return Promise.resolve(makeLogAnswer({ app: 'a' }, ['x']));
    seen.set(id, exchange.request);
    return Promise.resolve(answerOf(id));
  };
  const limits = createLimits(limitsOptions());
  const answer = await answerSeveral(
    makeExchange({ request }),
    rest,
    [makeTenant('t1'), makeTenant('t2')],
    limits,
  );
  return { answer, seen };
}

function volume(values: Readonly<Record<string, number>>): VolumeAnswer {
  const series = Object.entries(values).map(([app, value]) => ({
    labels: LabelSet.from([['app', app]]),
    points: [{ timestampMs: 1, value }],
  }));
  return { kind: 'volume', series, stats: makeLogAnswer({}, []).stats, warnings: [] };
}
for (const op of ['volume', 'volume_range'] as const) {
  test(`${op}s are added up without a tenant label, and cut when all tenants are in`, async (t) => {
    const request = requestOf(op, { query: selector('{app=~".+"}'), limit: 1 });
    const { answer, seen } = await ask(request, (id) =>
      volume(id === 't1' ? { a: 9, b: 8 } : { c: 9, b: 8 }),
    );
    t.deepEqual(
      answer.kind === 'volume' && answer.series.map(({ labels, points }) => [labels.json, points[0]?.value]),
      [['{"app":"b"}', 16]],
    );
    const asked = seen.get('t1');
    t.true(asked?.op === op && asked.limit > 1_000_000);
  });
}

test('fields of tenants are one list, and a tenant can be chosen in the query', async (t) => {
  const request = (query: string): ApiRequest => ({
    op: 'detected_fields',
    range,
    query: new Query(query, 'reject'),
    limit: 2,
    lineLimit: 100,
  });
  const fieldsOf = (...labels: readonly string[]): Answer => ({
    kind: 'detected-fields',
    fields: labels.map((label) => ({ label, type: 'int', parsers: [], jsonPath: undefined, values: ['1'] })),
    limit: 2,
    warnings: [],
  });
  const all = await ask(request('{app="a"} | json'), (id) => fieldsOf('shared', id));
  t.deepEqual(all.answer.kind === 'detected-fields' && all.answer.fields.map(({ label }) => label), [
    'shared',
    't1',
  ]);
  const one = await ask(request('{app="a", __tenant_id__=~"t2|t3"}'), (id) => fieldsOf(id));
  t.deepEqual([...one.seen.keys()], ['t2']);
});

test('values of a field are one list, cut when all tenants are in', async (t) => {
  const { answer } = await ask(requestOf('detected_field_values'), (id) => ({
    kind: 'detected-field-values',
    values: ['a', id],
    limit: 2,
    warnings: [],
  }));
  t.deepEqual(answer.kind === 'detected-field-values' && answer.values, ['a', 't1']);
});

test('labels of tenants have no tenant among them', async (t) => {
  const { answer } = await ask({ op: 'detected_labels', range }, (id) => ({
    kind: 'detected-labels',
    labels: [{ label: 'app', values: ['a', id] }],
    warnings: [],
  }));
  t.deepEqual(answer.kind === 'detected-labels' && answer.labels, [
    { label: 'app', values: ['a', 't1', 't2'] },
  ]);
});

test('lines of equal patterns are added up', async (t) => {
  const of = (pattern: string, lines: number): PatternsAnswer => ({
    kind: 'patterns',
    patterns: [{ pattern, level: 'info', samples: [[10, lines]] }],
    warnings: [],
  });
  const request: ApiRequest = {
    op: 'patterns',
    range,
    query: selector('{app="a"}'),
    stepNs: 10n,
    limit: 10,
    search: { maxRows: 1, secondPassMaxRows: 0, secondPassMaxWindows: 0, custom: [] },
  };
  const { answer } = await ask(request, (id) => of('a <_>', id === 't1' ? 40 : 50));
  t.deepEqual(answer.kind === 'patterns' && answer.patterns, of('a <_>', 90).patterns);
  const cut = await ask({ ...request, limit: 1 }, (id) => of(id, id === 't1' ? 40 : 50));
  t.deepEqual(cut.answer.kind === 'patterns' && cut.answer.patterns, of('t2', 50).patterns);
});

test('a query for fields of no tenant has none', async (t) => {
  const query = new Query('{app="a", __tenant_id__="nobody"}', 'reject');
  const { answer, seen } = await ask({ op: 'detected_fields', range, query, limit: 2, lineLimit: 100 }, () =>
    t.fail(),
  );
  t.like(answer, { kind: 'detected-fields', fields: [] });
  t.is(seen.size, 0);
});
