import test from 'ava';
import {
  type ApiRequest,
  Query,
  type QueryRangeRequest,
  type QueryRequest,
} from '../../../core/wire/api/request.js';
import { apiError } from '../../../core/base/errors/table.js';
import { LabelSet } from '../../../core/base/label-set.js';
import { createLimits } from '../../../core/wire/limits/limits.js';
import type { Answer, Rest } from '../../../core/plugin/index.js';
import { limitsOptions, makeExchange, makeTenant } from '../../../core/testing/index.js';
import { withDoor } from '../../core/wire/limits/door.js';
import { answerSeveral } from '../../../plugins/tenancy/several.js';

const stats = {
  linesProcessed: 5,
  bytesProcessed: 50,
  entriesReturned: 0,
  postFilterLines: 5,
  structuredMetadataBytes: 0,
  execTimeMs: 1,
  splits: 1,
};

function instant(text: string): QueryRequest {
  return {
    op: 'query',
    query: new Query(text, 'reject'),
    timeNs: 10n ** 18n,
    limit: 100,
    direction: 'backward',
  };
}

function vector(...samples: readonly (readonly [labels: Record<string, string>, value: number])[]): Answer {
  return {
    kind: 'vector',
    samples: samples.map(([labels, value]) => ({
      labels: LabelSet.from(Object.entries(labels)),
      point: { timestampMs: 1e12, value },
    })),
    stats,
    warnings: [],
  };
}

interface Asked {
  readonly answer: Answer;
  readonly seen: ReadonlyMap<string, readonly string[]>;
}

async function ask(
  request: QueryRangeRequest | QueryRequest,
  answerOf: (tenantId: string, request: ApiRequest) => Answer,
  limits: Readonly<Record<string, unknown>> = {},
): Promise<Asked> {
  const seen = new Map<string, string[]>();
  const rest: Rest<'tenant'> = (exchange) => {
    const { id } = exchange.slots.tenant;
    const { request: part } = exchange;
    if (part.op !== 'query' && part.op !== 'query_range') throw new Error(part.op);
    if (part.isPart !== true || exchange.isFinal) throw new Error('not a part');
    seen.set(id, [...(seen.get(id) ?? []), part.query.text]);
    return Promise.resolve(answerOf(id, part));
  };
  const tenants = [makeTenant('t1'), makeTenant('t2')] as const;
  const exchange = makeExchange({ request });
  const answer = await answerSeveral(exchange, rest, [...tenants], createLimits(limitsOptions(limits)));
  return { answer, seen };
}

function samplesOf(answer: Answer): Record<string, number> {
  if (answer.kind !== 'vector') throw new Error(answer.kind);
  return Object.fromEntries(answer.samples.map(({ labels, point }) => [labels.json, point.value]));
}

test('sums are added over the tenants', async (t) => {
  const { answer, seen } = await ask(instant('sum by (app) (count_over_time({env="x"}[5m]))'), (id) =>
    vector([{ app: 'a' }, id === 't1' ? 1 : 10], ...(id === 't1' ? [] : [[{ app: 'b' }, 5] as const])),
  );
  t.deepEqual(samplesOf(answer), { '{"app":"a"}': 11, '{"app":"b"}': 5 });
  t.deepEqual([...seen.keys()].sort(), ['t1', 't2']);
  t.is(answer.kind === 'vector' ? answer.stats.linesProcessed : 0, 10);
});

test('a grouping by the tenant label keeps the tenants apart, and the backend is not asked for it', async (t) => {
  const { answer, seen } = await ask(instant('sum by (__tenant_id__) (rate({env="x"}[5m]))'), (id) =>
    vector([{}, id === 't1' ? 1 : 2]),
  );
  t.deepEqual(samplesOf(answer), { '{"__tenant_id__":"t1"}': 1, '{"__tenant_id__":"t2"}': 2 });
  for (const texts of seen.values()) t.false(texts.join().includes('__tenant_id__'));
});

test('series without a grouping carry the tenant label; a stored one is renamed', async (t) => {
  const { answer } = await ask(instant('rate({env="x"}[5m])'), (id) =>
    vector([id === 't1' ? { __tenant_id__: 'mine' } : { app: 'a' }, 1]),
  );
  t.deepEqual(Object.keys(samplesOf(answer)).sort(), [
    '{"__tenant_id__":"t1","original___tenant_id__":"mine"}',
    '{"__tenant_id__":"t2","app":"a"}',
  ]);
});

const grouped = (op: string): QueryRequest => instant(`${op}({env="x"} | logfmt | unwrap n [5m]) by (app)`);
const aboveAndAlone = (id: string): Answer =>
  vector([{ app: 'both' }, id === 't1' ? 1 : 10], id === 't1' ? [{ app: 'one' }, 3] : [{ app: 'two' }, 4]);

for (const [op, both] of [
  ['max_over_time', 10],
  ['min_over_time', 1],
] as const) {
  test(`${op} grouped by other labels is that over the lines of all tenants`, async (t) => {
    const { answer } = await ask(grouped(op), aboveAndAlone);
    t.deepEqual(samplesOf(answer), { '{"app":"both"}': both, '{"app":"one"}': 3, '{"app":"two"}': 4 });
  });
}

test('a NaN of one tenant is no extreme where another has a number, as over the lines of one tenant', async (t) => {
  const atNs = BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n;
  await withDoor(async ({ push, get }) => {
    await push({ app: 'a' }, [[atNs, 'n=NaN']], 1);
    await push({ app: 'a' }, [[atNs, 'n=7']], 2);
    await push({ app: 'b' }, [[atNs, 'n=NaN']], 2);
    for (const op of ['max_over_time', 'min_over_time'])
      for (const orgId of ['1|2', '2|1']) {
        const query = `${op}({app=~"a|b"} | logfmt | unwrap n [5m]) by (app)`;
        const { text } = await get('/loki/api/v1/query', { query, time: String(atNs + 1n) }, orgId);
        const { data } = JSON.parse(text) as Got;
        const values = data.result.map(({ metric, value }) => [metric.app, value[1]]);
        t.deepEqual(Object.fromEntries(values), { a: '7', b: 'NaN' }, `${op} ${orgId}`);
      }
  });
});

interface Got {
  readonly data: {
    readonly result: readonly {
      readonly metric: { readonly app: string };
      readonly value: readonly [number, string];
    }[];
  };
}

test('an average grouped by other labels is told by tenant only where several have one', async (t) => {
  const { answer } = await ask(grouped('avg_over_time'), aboveAndAlone);
  t.deepEqual(samplesOf(answer), {
    '{"__tenant_id__":"t1","app":"both"}': 1,
    '{"__tenant_id__":"t2","app":"both"}': 10,
    '{"app":"one"}': 3,
    '{"app":"two"}': 4,
  });
});

for (const op of ['first_over_time', 'last_over_time', 'stddev_over_time', 'stdvar_over_time']) {
  test(`${op} grouped by other labels is told by tenant`, async (t) => {
    const { answer } = await ask(grouped(op), aboveAndAlone);
    t.deepEqual(samplesOf(answer), {
      '{"__tenant_id__":"t1","app":"both"}': 1,
      '{"__tenant_id__":"t2","app":"both"}': 10,
      '{"__tenant_id__":"t1","app":"one"}': 3,
      '{"__tenant_id__":"t2","app":"two"}': 4,
    });
  });
}

test('labels without a value are no labels where several tenants are asked', async (t) => {
  const query = 'count_over_time({env="x"} | json [5m])';
  const { answer } = await ask(instant(query), () => vector([{ app: 'a', empty: '' }, 1]));
  t.deepEqual(samplesOf(answer), {
    '{"__tenant_id__":"t1","app":"a"}': 1,
    '{"__tenant_id__":"t2","app":"a"}': 1,
  });
});

test('a grouping by all but some labels keeps the tenants apart', async (t) => {
  const query = 'max_over_time({env="x"} | logfmt | unwrap n [5m]) without (pod)';
  const { answer } = await ask(instant(query), (id) => vector([{ app: 'a' }, id === 't1' ? 1 : 2]));
  t.deepEqual(samplesOf(answer), {
    '{"__tenant_id__":"t1","app":"a"}': 1,
    '{"__tenant_id__":"t2","app":"a"}': 2,
  });
});

test('a matcher on the tenant label chooses whom a part asks, and stays in the query', async (t) => {
  const query =
    'sum(count_over_time({env="x",__tenant_id__="t2"}[5m])) / sum(count_over_time({env="x"}[5m]))';
  const { answer, seen } = await ask(instant(query), (id) => vector([{}, id === 't1' ? 1 : 3]));
  t.deepEqual(samplesOf(answer), { '{}': 0.75 });
  t.is(seen.get('t1')?.length, 1);
  t.deepEqual(seen.get('t2')?.toSorted(), [
    'sum(count_over_time({env="x", __tenant_id__="t2"}[5m]))',
    'sum(count_over_time({env="x"}[5m]))',
  ]);
});

test('absent is what no tenant has', async (t) => {
  const only = (has: string) => (id: string) => (id === has ? vector() : vector([{ env: 'x' }, 1]));
  const present = await ask(instant('absent_over_time({env="x"}[5m])'), only('t1'));
  t.deepEqual(samplesOf(present.answer), {});
  const absent = await ask(instant('absent_over_time({env="x"}[5m])'), () => vector([{ env: 'x' }, 1]));
  t.deepEqual(samplesOf(absent.answer), { '{"env":"x"}': 1 });
});

test('points of a range land on the steps of the whole query', async (t) => {
  const request: QueryRangeRequest = {
    op: 'query_range',
    query: new Query('sum(count_over_time({env="x"}[1m]))', 'reject'),
    range: { startNs: 0n, endNs: 120_000_000_000n },
    stepNs: 60_000_000_000n,
    limit: 100,
    direction: 'backward',
    intervalNs: 0n,
  };
  const { answer } = await ask(request, (id) => ({
    kind: 'matrix',
    series: [{ labels: LabelSet.empty, points: [{ timestampMs: id === 't1' ? 0 : 120_000, value: 4 }] }],
    stats,
    warnings: [],
  }));
  t.deepEqual(answer.kind === 'matrix' ? answer.series[0]?.points : [], [
    { timestampMs: 0, value: 4 },
    { timestampMs: 120_000, value: 4 },
  ]);
});

test('the limit on series holds for the whole, and a refusal of one tenant is the whole request’s', async (t) => {
  const many = ask(
    instant('sum by (app) (rate({env="x"}[5m]))'),
    (id) => vector([{ app: `${id}1` }, 1], [{ app: `${id}2` }, 1]),
    { maxStatsQuerySeries: 3 },
  );
  await t.throwsAsync(many, { message: /maximum number of series \(3\) reached/ });
  const failed = ask(instant('sum(rate({env="x"}[5m]))'), (id) => {
    if (id === 't2') throw apiError('metricRows', {});
    return vector([{}, 1]);
  });
  await t.throwsAsync(failed, { message: 'manual range metric row limit exceeded' });
});
