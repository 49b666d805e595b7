import test from 'ava';
import { type ApiRequest, Query, type QueryRangeRequest, Selector } from '../../../core/wire/api/request.js';
import { apiError, type ErrorId } from '../../../core/base/errors/table.js';
import { LabelSet } from '../../../core/base/label-set.js';
import { createLimits } from '../../../core/wire/limits/limits.js';
import type { Exchange } from '../../../core/kernel/plugin/exchange.js';
import type { Answer, Rest } from '../../../core/plugin/index.js';
import { limitsOptions, makeExchange, makeLogAnswer, makeTenant } from '../../../core/testing/index.js';
import { answerSeveral } from '../../../plugins/tenancy/several.js';

const range = { startNs: 0n, endNs: 3_600_000_000_000n };
const logs = (query: string, change: Partial<QueryRangeRequest> = {}): QueryRangeRequest => ({
  op: 'query_range',
  query: new Query(query, 'reject'),
  range,
  stepNs: 60_000_000_000n,
  limit: 100,
  direction: 'backward',
  intervalNs: 0n,
  ...change,
});
const selector = (text: string): Selector => new Selector(text, 'reject');

interface Asked {
  readonly answer: Answer;
  /** The request that each tenant got, by id. */
  readonly seen: ReadonlyMap<string, ApiRequest>;
}

/** Sends a request for tenants t1 and t2, each of which answers separately. */
async function ask(
  request: ApiRequest,
  answerOf: (tenantId: string, exchange: Exchange<'tenant'>) => Answer | Promise<Answer>,
  settings: {
    readonly limits?: Readonly<Record<string, unknown>>;
    readonly signal?: AbortSignal;
    readonly categorizeLabels?: boolean;
  } = {},
): Promise<Asked> {
  const seen = new Map<string, ApiRequest>();
  const rest: Rest<'tenant'> = async (exchange) => {
    const { id } = exchange.slots.tenant;
    seen.set(id, exchange.request);
    return answerOf(id, exchange);
  };
  const { signal, categorizeLabels = false } = settings;
  const caller = { categorizeLabels };
  const exchange = makeExchange(signal === undefined ? { request, caller } : { request, caller, signal });
  const limits = createLimits(limitsOptions(settings.limits));
  return { answer: await answerSeveral(exchange, rest, [makeTenant('t1'), makeTenant('t2')], limits), seen };
}
const labelsOf = (answer: Answer): Record<string, string>[] =>
  answer.kind === 'streams' ? answer.streams.map(({ labels }) => Object.fromEntries(labels.labels)) : [];
const names = (...values: string[]): Answer => ({ kind: 'names', values, warnings: [] });

test('streams carry the label of their tenant and are cut to the limit over all', async (t) => {
  const { answer } = await ask(logs('{app="a"}', { limit: 3 }), (id) =>
    makeLogAnswer({ app: 'a' }, [`${id} new`, `${id} old`]),
  );
  t.is(answer.kind, 'streams');
  t.deepEqual(labelsOf(answer), [
    { __tenant_id__: 't1', app: 'a' },
    { __tenant_id__: 't2', app: 'a' },
  ]);
  if (answer.kind === 'streams') t.is(answer.stats.entriesReturned, 3);
});

test('a stored label of that name becomes original___tenant_id__', async (t) => {
  const { answer } = await ask(logs('{app="a"}'), (id) =>
    makeLogAnswer(id === 't1' ? { __tenant_id__: 'mine' } : { app: 'a' }, ['x']),
  );
  t.deepEqual(labelsOf(answer), [
    { __tenant_id__: 't1', original___tenant_id__: 'mine' },
    { __tenant_id__: 't2', app: 'a' },
  ]);
});

for (const categorizeLabels of [false, true]) {
  test(`an empty parsed label is ${categorizeLabels ? 'kept apart' : 'lost where labels are merged'}`, async (t) => {
    const parsed = LabelSet.from(Object.entries({ x: '', y: '1' }));
    const made = makeLogAnswer({ app: 'a' }, ['x']);
    const streams = made.streams.map(({ labels, entries }) => ({
      labels,
      entries: entries.map((entry) => ({ ...entry, parsed })),
    }));
    const { answer } = await ask(logs('{app="a"}'), () => ({ ...made, streams }), { categorizeLabels });
    const shown = answer.kind === 'streams' ? answer.streams[0]?.entries[0]?.parsed.json : undefined;
    t.is(shown, categorizeLabels ? '{"x":"","y":"1"}' : '{"y":"1"}');
  });
}

test('metadata of that name is renamed too', async (t) => {
  const { answer } = await ask(logs('{app="a"}'), () => {
    const plain = makeLogAnswer({ app: 'a' }, ['x']);
    const structuredMetadata = LabelSet.from([['__tenant_id__', 'mine']]);
    return {
      ...plain,
      streams: plain.streams.map((s) => ({
        ...s,
        entries: s.entries.map((e) => ({ ...e, structuredMetadata })),
      })),
    };
  });
  t.is(answer.kind, 'streams');
  if (answer.kind !== 'streams') return;
  t.deepEqual(answer.streams[0]?.entries[0]?.structuredMetadata.labels, [['original___tenant_id__', 'mine']]);
});

const filters: readonly [matcher: string, chosen: readonly string[]][] = [
  ['__tenant_id__="t2"', ['t2']],
  ['__tenant_id__!="t2"', ['t1']],
  ['__tenant_id__=~"t.*"', ['t1', 't2']],
  ['__tenant_id__=~"1"', []],
  ['__tenant_id__!~"t1|x"', ['t2']],
  ['__tenant_id__="t1", __tenant_id__="t2"', []],
];
for (const [matcher, chosen] of filters) {
  test(`the matcher ${matcher} chooses ${chosen.join(' and ') || 'nobody'} and is taken out of the query`, async (t) => {
    const { answer, seen } = await ask(logs(`{app="a", ${matcher}} |= "x" | json`), () =>
      makeLogAnswer({ app: 'a' }, ['x']),
    );
    t.deepEqual([...seen.keys()], chosen);
    for (const request of seen.values()) {
      const { query } = request as QueryRangeRequest;
      t.is(query.text, '{app="a"} |= "x" | json');
      t.deepEqual(query.ast.kind === 'log' && query.ast.selector.matchers.map(({ name }) => name), ['app']);
    }
    t.deepEqual(
      labelsOf(answer).map((labels) => labels['__tenant_id__']),
      chosen,
    );
  });
}

test('a query without such a matcher goes on as it was written', async (t) => {
  const request = logs('{app="a"}   |= "__tenant_id__"');
  const { seen } = await ask(request, () => makeLogAnswer({}, []));
  t.deepEqual([...seen.values()], [request, request]);
});

test('labels are united, with the tenant label sorted in', async (t) => {
  const { answer } = await ask({ op: 'labels', range, browse: {} }, (id) =>
    id === 't1' ? names('app', 'env') : names('Zone', 'app', '__tenant_id__'),
  );
  t.deepEqual(answer, names('Zone', '__tenant_id__', 'app', 'env', 'original___tenant_id__'));
});

test('label values are united', async (t) => {
  const request: ApiRequest = { op: 'label_values', name: 'app', range, browse: {} };
  const { answer } = await ask(request, (id) => (id === 't1' ? names('a', 'c') : names('b', 'c')));
  t.deepEqual(answer, names('a', 'b', 'c'));
});

test('the values of the tenant label are the tenants, whatever a selector leaves, and nobody is asked', async (t) => {
  const request: ApiRequest = { op: 'label_values', name: '__tenant_id__', range, browse: {} };
  const all = await ask(request, () => names('never'));
  t.deepEqual(all.answer, names('t1', 't2'));
  t.is(all.seen.size, 0);
  const some = await ask({ ...request, query: selector('{app="a", __tenant_id__=~".*2"}') }, () =>
    names('never'),
  );
  t.deepEqual(some.answer, names('t1', 't2'));
});

test('the values of the renamed label are those of the stored one', async (t) => {
  const request: ApiRequest = { op: 'label_values', name: 'original___tenant_id__', range, browse: {} };
  const { answer, seen } = await ask(request, () => names('mine'));
  t.deepEqual(answer, names('mine'));
  t.deepEqual(
    [...seen.values()].map((each) => each.op === 'label_values' && each.name),
    ['__tenant_id__', '__tenant_id__'],
  );
});

test('a page of values is cut from the union', async (t) => {
  const request: ApiRequest = {
    op: 'label_values',
    name: 'app',
    range,
    browse: { limit: 2, offset: 1, search: 'x' },
  };
  const { answer, seen } = await ask(request, (id) =>
    id === 't1' ? names('xa', 'xc', 'xe') : names('xb', 'xd'),
  );
  t.deepEqual(answer, names('xb', 'xc'));
  t.like(seen.get('t1'), { browse: { limit: 3, search: 'x' } });
});

test('the tenant label is listed only when the search finds it', async (t) => {
  const { answer } = await ask({ op: 'labels', range, browse: { search: 'app' } }, () => names('app'));
  t.deepEqual(answer, names('app'));
  const found = await ask({ op: 'labels', range, browse: { search: 'TENANT' } }, () => names());
  t.deepEqual(found.answer, names('__tenant_id__'));
});

const someStats = { kind: 'index-stats', streams: 1, chunks: 2, bytes: 3, entries: 4, warnings: [] } as const;
const someSeries: Answer = { kind: 'series', series: [LabelSet.from([['app', 'a']])], warnings: [] };
const onLabel = selector('{app="a", __tenant_id__="t1"}');
const listings: readonly ApiRequest[] = [
  { op: 'labels', range, browse: {}, query: onLabel },
  { op: 'label_values', name: 'app', range, browse: {}, query: onLabel },
  { op: 'series', range, selectors: [onLabel, selector('{app="b"}')] },
  { op: 'index_stats', range, query: onLabel },
  { op: 'detected_labels', range, query: onLabel },
];
for (const request of listings) {
  test(`a matcher on the tenant label in ${request.op} is one on a label that no stream has, for every tenant`, async (t) => {
    const { seen } = await ask(request, () =>
      request.op === 'index_stats'
        ? someStats
        : request.op === 'series'
          ? someSeries
          : request.op === 'detected_labels'
            ? { kind: 'detected-labels', labels: [], warnings: [] }
            : names('app'),
    );
    t.deepEqual(
      [...seen],
      [
        ['t1', request],
        ['t2', request],
      ],
    );
  });
}

test('series carry the label of their tenant', async (t) => {
  const { answer } = await ask({ op: 'series', range, selectors: [] }, () => someSeries);
  t.is(answer.kind, 'series');
  if (answer.kind !== 'series') return;
  t.deepEqual(
    answer.series.map((labels) => labels.get('__tenant_id__')),
    ['t1', 't2'],
  );
});

test('a log query whose selector needs its matchers on the tenant label is refused in Loki’s words', async (t) => {
  for (const text of ['{__tenant_id__="t1"}', '{__tenant_id__="t1", app!="x"} |= "y"'])
    await t.throwsAsync(
      ask(logs(text), () => t.fail()),
      {
        message: /^log selector is invalid after matcher update: parse error : queries require at least one/,
      },
    );
});

test('index statistics are summed', async (t) => {
  const { answer } = await ask({ op: 'index_stats', range, query: selector('{app="a"}') }, () => someStats);
  t.deepEqual(answer, { kind: 'index-stats', streams: 2, chunks: 4, bytes: 6, entries: 8, warnings: [] });
});

test('a log query of no tenant is answered empty without asking anybody', async (t) => {
  const { answer, seen } = await ask(logs('{app="a", __tenant_id__="nobody"}'), () => t.fail());
  t.like(answer, { kind: 'streams', streams: [] });
  t.is(seen.size, 0);
});

test('a query that reads no logs is evaluated once', async (t) => {
  const { stats } = makeLogAnswer({}, []);
  const scalar: Answer = { kind: 'scalar', point: { timestampMs: 0, value: 2 }, stats, warnings: [] };
  const request: ApiRequest = {
    op: 'query',
    query: new Query('1+1', 'reject'),
    timeNs: 0n,
    limit: 100,
    direction: 'backward',
  };
  const { answer, seen } = await ask(request, () => scalar);
  t.is(answer, scalar);
  t.is(seen.size, 1);
});

test('a query that is no LogQL is refused in Loki’s words', async (t) => {
  await t.throwsAsync(
    ask(logs('{app="x"'), () => makeLogAnswer({}, [])),
    {
      message: 'parse error at line 1, col 9: syntax error: unexpected $end, expecting } or ,',
    },
  );
});

const failures: readonly [id: ErrorId, values: Readonly<Record<string, string>>, status: number][] = [
  ['badRequest', { text: 'refused' }, 400],
  ['backendUnreachable', { cause: 'refused' }, 500],
  ['breakerOpen', {}, 500],
  ['queryTimeout', {}, 504],
  ['rateLimited', {}, 429],
  ['tooManyConcurrent', {}, 503],
  ['stopping', {}, 503],
  ['clientGone', {}, 499],
];
for (const [id, values, status] of failures) {
  test(`when one tenant fails with ${id}, the whole request fails with ${status} and its text`, async (t) => {
    const failure = apiError(id, values as never);
    const error = await t.throwsAsync(
      ask(logs('{app="a"}'), (tenantId) =>
        tenantId === 't2' ? Promise.reject(failure) : makeLogAnswer({}, []),
      ),
    );
    t.like(error, { status, message: failure.message, headers: failure.headers });
  });
}

test('the first failure aborts the parts that still run', async (t) => {
  let aborted = false;
  const error = await t.throwsAsync(
    ask(logs('{app="a"}'), (tenantId, { signal }) =>
      tenantId === 't2'
        ? Promise.reject(apiError('queryTimeout', {}))
        : new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              aborted = true;
              reject(new Error('aborted'));
            });
          }),
    ),
  );
  t.like(error, { status: 504 });
  t.true(aborted);
});

test('a client that goes away aborts every part', async (t) => {
  const client = new AbortController();
  const aborted: string[] = [];
  const asked = ask(
    logs('{app="a"}'),
    (tenantId, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push(tenantId);
          reject(new Error('gone'));
        });
        if (tenantId === 't2') client.abort();
      }),
    { signal: client.signal },
  );
  await t.throwsAsync(asked);
  t.deepEqual(aborted.sort(), ['t1', 't2']);
});

test('a merged answer over the bound is 413', async (t) => {
  const error = await t.throwsAsync(
    ask(logs('{app="a"}'), () => makeLogAnswer({ app: 'a' }, ['x'.repeat(600)]), {
      limits: { multiTenantMaxMergedResponseBytes: 1_000 },
    }),
    { message: 'multi-tenant merged response exceeds configured safety limit' },
  );
  t.like(error, { status: 413 });
});

test('what the limit cuts off does not count against the bound of the merged answer', async (t) => {
  const { answer } = await ask(
    logs('{app="a"}', { limit: 1 }),
    () => makeLogAnswer({ app: 'a' }, ['x'.repeat(600)]),
    { limits: { multiTenantMaxMergedResponseBytes: 1_100 } },
  );
  t.is(labelsOf(answer).length, 1);
});
