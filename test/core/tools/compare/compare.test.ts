/** `ref-proxy compare`: the same requests to two Loki APIs. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import {
  fast,
  fileOf,
  lokiOf,
  matrix,
  Refusal,
  runCompare,
  streams,
  until,
  vector,
  type Asked,
} from './two-lokis.js';

const shop = { app: 'shop' };
const pay = { app: 'pay' };

/** Responds by query; a query that is not listed has an empty result. */
function answering(answers: Readonly<Record<string, unknown>>): (asked: Asked) => unknown {
  return ({ params }) => answers[params.get('query') ?? ''] ?? streams();
}

test.serial('each planted difference is found, shown with both values, and nothing else is', async (t) => {
  const same = {
    '{same="yes"}': streams([shop, ['20', 'b'], ['10', 'a']]),
    'sum(rate({same="rate"}[1m]))': matrix([{}, [60, '0.1'], [120, '0.30000000000000004']]),
  };
  const reference = await lokiOf(
    t,
    answering({
      ...same,
      '{planted="value"}': matrix([shop, [60, '1'], [120, '2']]),
      '{planted="label"}': matrix([shop, [60, '1']]),
      '{planted="line"}': streams([shop, ['20', 'b'], ['10', 'a']]),
      '{planted="missing"}': streams([shop, ['20', 'b'], ['10', 'a']]),
      '{planted="order"}': streams([shop, ['20', 'b'], ['10', 'a']]),
      '{planted="error"}': new Refusal(400, 'parse error'),
    }),
  );
  const candidate = await lokiOf(
    t,
    answering({
      ...same,
      'sum(rate({same="rate"}[1m]))': matrix([{}, [60, '0.1'], [120, '0.3']]),
      '{planted="value"}': matrix([shop, [60, '1'], [120, '3']]),
      '{planted="label"}': matrix([pay, [60, '1']]),
      '{planted="line"}': streams([shop, ['20', 'b'], ['10', 'A']]),
      '{planted="missing"}': streams([shop, ['20', 'b']]),
      '{planted="order"}': streams([shop, ['10', 'a'], ['20', 'b']]),
      '{planted="error"}': new Refusal(400, 'another error'),
    }),
  );
  const queries = [
    '# comments and empty lines are no queries',
    '',
    ...Object.keys(same),
    ...['value', 'label', 'line', 'missing', 'order', 'error'].map((name) => `{planted="${name}"}`),
  ];
  const file = await fileOf(t, 'queries.txt', queries.join('\n'));
  const sides = [`-reference=${reference.url}`, `-candidate=${candidate.url}`, until, fast];
  const { status, out } = await runCompare(...sides, file);
  t.is(status, 1);
  const kinds = [...out.matchAll(/^different {2}.*?: line (\d+): (.*)$/gm)].map(
    ([, line, text]) => `${line} ${text}`,
  );
  t.deepEqual(kinds, [
    '5 value in {"app":"shop"}',
    '6 series',
    '7 entry in {"app":"shop"}',
    '8 number of entries',
    '9 order in {"app":"shop"}',
    '10 error text',
  ]);
  t.regex(out, /reference {2}\[120,"2"\]\n {2}candidate {2}\[120,"3"\]/);
  t.regex(out, /all +2 +0 +6 +0 +0 +0\n/);

  const json = join(file, '..', 'report.json');
  await runCompare(...sides, '-format=json', `-output=${json}`, file);
  const report = JSON.parse(await readFile(json, 'utf8')) as {
    total: Record<string, number>;
    requests: { outcome: string; reason?: string }[];
  };
  t.deepEqual(report.total, { equal: 2, empty: 0, different: 6, unsteady: 0, failed: 0, notAsked: 0 });
  t.is(report.requests.filter(({ outcome }) => outcome === 'different').length, 6);

  const junit = await runCompare(...sides, '-format=junit', file);
  t.is(junit.out.match(/<failure /g)?.length, 6);
  t.regex(junit.out, /tests="8" failures="6"/);
  t.false(/<failure message="[^"]*</.test(junit.out), 'text is escaped');

  const html = await runCompare(...sides, '-format=html', file);
  t.is(html.out.match(/<details>/g)?.length, 6);
  t.regex(html.out, /{planted=&quot;value&quot;}/);
  t.notRegex(html.out, /<script|https?:\/\/(?!127)/);
});

test.serial('equal answers end with status 0, and empty ones are counted', async (t) => {
  const answer = answering({ '{app="shop"}': streams([shop, ['10', 'a']]) });
  const [reference, candidate] = [await lokiOf(t, answer), await lokiOf(t, answer)];
  const file = await fileOf(
    t,
    'queries.logql',
    '{app="shop"}\n{app="nothing"}\n/loki/api/v1/labels?since=1h&x=1\n',
  );
  const { status, out } = await runCompare(
    `-reference=${reference.url}`,
    `-candidate=${candidate.url}`,
    until,
    fast,
    file,
  );
  t.is(status, 0);
  t.regex(out, /all +3 +2 +0 +0 +0 +0\n/);
  t.is(candidate.asked.at(-1)?.path, '/loki/api/v1/labels');
  t.is(candidate.asked.at(-1)?.params.get('since'), '1h');
});

test.serial(
  'a reference that does not repeat its answer is unsteady, and logs that arrive meanwhile are no difference',
  async (t) => {
    let count = 0;
    const reference = await lokiOf(t, ({ params }) =>
      params.get('query') === '{unsteady="yes"}'
        ? streams([shop, [String((count += 1)), 'a']])
        : streams([shop, ...(reference.asked.length > 3 ? [['20', 'late'] as const] : []), ['10', 'a']]),
    );
    const candidate = await lokiOf(t, ({ params }) =>
      params.get('query') === '{unsteady="yes"}'
        ? streams([shop, ['99', 'a']])
        : streams([shop, ['20', 'late'], ['10', 'a']]),
    );
    const file = await fileOf(t, 'queries.txt', '{unsteady="yes"}\n{late="yes"}\n');
    const { status, out } = await runCompare(
      `-reference=${reference.url}`,
      `-candidate=${candidate.url}`,
      until,
      fast,
      file,
    );
    t.is(status, 0, out);
    t.regex(out, /all +1 +0 +0 +1 +0 +0\n/);
  },
);

test.serial(
  'a side that does not answer in time, or with too much, is named with the flag that allows more',
  async (t) => {
    const reference = await lokiOf(t, () => streams([shop, ['10', 'a'.repeat(5000)]]));
    const candidate = await lokiOf(t, ({ params }) =>
      params.get('query') === '{slow="yes"}' ? 'no answer' : streams([shop, ['10', 'a'.repeat(5000)]]),
    );
    const file = await fileOf(t, 'queries.txt', '{slow="yes"}\n{large="yes"}\n');
    const sides = [`-reference=${reference.url}`, `-candidate=${candidate.url}`, until, fast];
    const slow = await runCompare(...sides, '-timeout=300ms', file);
    t.is(slow.status, 1);
    t.regex(slow.out, /failed {2}.*no answer within 300 ms \(-timeout\)/);
    t.regex(slow.out, /all +1 +0 +0 +0 +1 +0\n/);
    const large = await runCompare(...sides, '-timeout=300ms', '-max-answer-bytes=1000', file);
    t.regex(large.out, /more than 1000 bytes \(-max-answer-bytes\)/);
  },
);

const dashboard = {
  title: 'Shop',
  templating: {
    list: [
      { name: 'ds', type: 'datasource', query: 'loki', current: { value: 'loki' } },
      { name: 'env', type: 'custom', query: 'prod, test', current: {} },
      {
        name: 'app',
        type: 'query',
        query: 'label_values({env="$env"}, app)',
        current: { value: ['$__all'] },
        includeAll: true,
      },
      { name: 'search', type: 'textbox', query: 'error', current: { value: 'failed' } },
    ],
  },
  panels: [
    {
      title: 'Rate',
      datasource: { type: 'loki', uid: '${ds}' },
      targets: [
        { refId: 'A', expr: 'sum by (app) (rate({app=~"$app", env="${env}"} |= "[[search]]" [$__auto]))' },
        { refId: 'B', expr: '{app="hidden"}', hide: true },
      ],
    },
    {
      type: 'row',
      title: 'Logs',
      panels: [
        {
          title: 'Newest lines',
          datasource: { type: 'loki' },
          targets: [{ refId: 'A', expr: '{app=~"$app"}', maxLines: 20 }],
        },
        { title: 'CPU', datasource: { type: 'prometheus' }, targets: [{ refId: 'A', expr: 'up' }] },
        {
          title: 'Missing',
          datasource: { type: 'loki' },
          targets: [{ refId: 'A', expr: '{app="$unknown"}' }],
        },
      ],
    },
  ],
};

test.serial(
  'the queries of a dashboard are asked with its variables filled in, and those of other data sources are left out',
  async (t) => {
    const answer = ({ path }: Asked): unknown =>
      path.endsWith('/values') ? { status: 'success', data: ['a.b', 'c'] } : streams();
    const [reference, candidate] = [await lokiOf(t, answer), await lokiOf(t, answer)];
    const file = await fileOf(t, 'shop.json', JSON.stringify(dashboard));
    const sides = [`-reference=${reference.url}`, `-candidate=${candidate.url}`, until, fast];
    const { status, out, err } = await runCompare(...sides, '-range=6h', '-header=X-Scope-OrgID: a', file);
    t.is(status, 0);
    const [values] = reference.asked;
    t.is(values?.path, '/loki/api/v1/label/app/values');
    t.is(values?.params.get('query'), '{env="prod"}');
    const asked = candidate.asked.map(({ params }) => [
      params.get('query'),
      params.get('step'),
      params.get('limit'),
    ]);
    t.deepEqual(asked, [
      ['sum by (app) (rate({app=~"a\\\\.b|c", env="prod"} |= "failed" [20s]))', '20', '100'],
      ['{app=~"a\\\\.b|c"}', '20', '20'],
    ]);
    t.true(candidate.asked.every(({ headers }) => headers['x-scope-orgid'] === 'a'));
    t.regex(out, /not asked {2}Shop: Missing A: no value for \$unknown: set it with -variable/);
    t.regex(err, /1 queries of other data sources/);
    const chosen = await runCompare(...sides, '-variable=unknown=x; env=test;app=only', file);
    t.regex(chosen.out, /Shop +3 +3 +0 +0 +0 +0\n/);
    t.is(candidate.asked.at(-1)?.params.get('query'), '{app="x"}');
  },
);

const rules = `
groups:
  - name: shop
    rules:
      - alert: ShopErrors
        expr: sum(rate({app="shop"} |= "error" [5m])) > 1
        for: 5m
      - record: shop:lines:rate1m
        expr: sort_desc(sum by (app) (rate({app="shop"}[1m])))
`;

test.serial('rules are asked at one time, and the order of series counts where a rule sorts', async (t) => {
  const [one, two] = [
    [shop, [1, '2']],
    [pay, [1, '1']],
  ] as const;
  const isSorted = ({ params }: Asked): boolean => params.get('query')?.startsWith('sort_desc') === true;
  const reference = await lokiOf(t, (asked) =>
    isSorted(asked) ? vector([...one], [...two]) : vector([...one]),
  );
  const candidate = await lokiOf(t, (asked) =>
    isSorted(asked) ? vector([...two], [...one]) : vector([...one]),
  );
  const file = await fileOf(t, 'rules.yaml', rules);
  const { status, out } = await runCompare(
    `-reference=${reference.url}`,
    `-candidate=${candidate.url}`,
    until,
    fast,
    file,
  );
  t.is(status, 1);
  t.deepEqual(
    candidate.asked.slice(0, 2).map(({ path, params }) => [path, params.get('time')]),
    [
      ['/loki/api/v1/query', '1793534400000000000'],
      ['/loki/api/v1/query', '1793534400000000000'],
    ],
  );
  t.regex(out, /different {2}shop: shop:lines:rate1m: order in position 0/);
});

test.serial(
  'query logs of a Loki and of this proxy are asked once each, with their range, step and tenant',
  async (t) => {
    const [reference, candidate] = [await lokiOf(t, () => streams()), await lokiOf(t, () => streams())];
    const loki =
      'level=info ts=2026-11-01T10:00:00Z caller=metrics.go:223 component=frontend org_id=a latency=fast query="sum(rate({app=\\"shop\\"}[1m]))" query_type=metric range_type=range length=2h0m0s step=1m0s status=200';
    const own = JSON.stringify({
      'http.route': '/loki/api/v1/query',
      'ref.query': 'vector(1)',
      'ref.tenant.id': 'b',
    });
    const digest = JSON.stringify({
      'http.route': '/loki/api/v1/query',
      'ref.query': 'sha256:01234567+len=9',
    });
    const file = await fileOf(t, 'query.log', [loki, loki, own, digest].join('\n'));
    const { status, err } = await runCompare(
      `-reference=${reference.url}`,
      `-candidate=${candidate.url}`,
      until,
      fast,
      file,
    );
    t.is(status, 0);
    t.deepEqual(
      reference.asked.map(({ path, params, headers }) => [
        path,
        params.get('query'),
        params.get('step'),
        headers['x-scope-orgid'],
      ]),
      [
        ['/loki/api/v1/query_range', 'sum(rate({app="shop"}[1m]))', '60', 'a'],
        ['/loki/api/v1/query', 'vector(1)', null, 'b'],
      ],
    );
    const [first] = reference.asked;
    t.is(Number(first?.params.get('end')) - Number(first?.params.get('start')), 2 * 3_600_000_000_000);
    t.regex(err, /2 queries of other data sources, or repeated ones, are left out/);
  },
);

test.serial('a known difference is explained by its row in the table of differences', async (t) => {
  const query = 'topk(1, rate({app="shop"}[1m]))';
  const reference = await lokiOf(t, () => matrix([shop, [60, '1']]));
  const candidate = await lokiOf(t, () => matrix([pay, [60, '1']]));
  const file = await fileOf(t, 'queries.txt', query);
  const { out } = await runCompare(
    `-reference=${reference.url}`,
    `-candidate=${candidate.url}`,
    until,
    fast,
    file,
  );
  t.regex(out, /known +docs\/differences\.md: `topk`, `bottomk` among equal values/);
});

test.serial('a side that is gone ends the run after ten requests, with a report of those', async (t) => {
  const reference = await lokiOf(t, () => streams());
  const file = await fileOf(
    t,
    'queries.txt',
    Array.from({ length: 30 }, (_, index) => `{a="${index}"}`).join('\n'),
  );
  const sides = [`-reference=${reference.url}`, '-candidate=http://127.0.0.1:1'];
  const { status, out, err } = await runCompare(...sides, until, fast, file);
  t.is(status, 1);
  t.regex(err, /stopped: 10 requests in a row got no answer/);
  t.regex(out, /all +0 +0 +0 +0 +10 +0\n/);
});

test.serial(
  'requests beyond the limit are not asked, and a command line that cannot be used is explained',
  async (t) => {
    const [reference, candidate] = [await lokiOf(t, () => streams()), await lokiOf(t, () => streams())];
    const file = await fileOf(t, 'queries.txt', '{a="1"}\n{a="2"}\n{a="3"}\n');
    const sides = [`-reference=${reference.url}`, `-candidate=${candidate.url}`, until, fast];
    const limited = await runCompare(...sides, '-max-requests=2', file);
    t.regex(limited.out, /not asked .*line 3: more than 2 requests \(-max-requests\)/);
    const wrong = await runCompare(
      '-reference=nothing',
      '-rate=x',
      '-until=soon',
      '-format=pdf',
      '-range=long',
    );
    t.is(wrong.status, 2);
    for (const text of [
      '-reference must be',
      '-candidate must be',
      '-rate must be',
      '-until must be',
      '-format must be',
      '-range must be',
      'name files',
    ])
      t.true(wrong.err.includes(text), text);
    const broken = await runCompare(...sides, await fileOf(t, 'rules.yaml', 'groups: [\n'));
    t.is(broken.status, 2);
    t.regex(broken.err, /rules\.yaml: .*line \d+, column \d+/s);
    const missing = await runCompare(...sides, '/nonexistent/file.txt');
    t.regex(missing.err, /there is no file \/nonexistent\/file\.txt/);
  },
);
