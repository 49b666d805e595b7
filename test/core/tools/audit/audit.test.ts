/** `ref-proxy audit`: predicts how queries in files will be executed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { adviceRules } from '../../../../core/engine/advice/rules.js';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { backendWithLogs, endMs, fileOf, runTool } from './shop-logs.js';

const until = `-until=${endMs / 1000}`;

test.serial('a query that does not parse has the text of Loki, with its place in the file', async (t) => {
  const file = await fileOf(t, 'queries.logql', '# a comment\n{app="shop"}\n  rate({app="shop"})\n');
  const { status, out, err } = await runTool('audit', file);
  t.is(err, '');
  t.is(status, 1);
  t.regex(out, /line 3 \(line 3\)\n {4}query {3}rate.*\n {4}unparsed {2}parse error at line 1, col 18: /);
  t.regex(out, /^2 queries: 1 not parsed, 0 refused, 0 with advice$/m);
  t.is((await runTool('audit', '-fail-on=parse', file)).status, 1);
});

test.serial('a query that a limit refuses has the error that a client would get', async (t) => {
  const queries = ['count_over_time({app="shop"}[5m])', '{app="shop"}'];
  const file = await fileOf(t, 'queries.logql', queries.join('\n'));
  const refused = await runTool('audit', '-default-max-query-length=1h', '-range=2h', file);
  t.is(refused.status, 1);
  t.is(
    refused.out.match(
      /refused {3}the query time range exceeds the limit \(query length: 2h0m0s, limit: 1h\)/g,
    )?.length,
    2,
  );
  t.is(
    (await runTool('audit', '-fail-on=parse', '-default-max-query-length=1h', '-range=2h', file)).status,
    0,
  );
  const rules = `groups:\n  - name: shop\n    rules:\n      - alert: Lines\n        expr: '{app="shop"}'\n`;
  const instant = await runTool('audit', await fileOf(t, 'rules.yaml', rules));
  t.is(instant.status, 1);
  t.regex(
    instant.out,
    /Lines \(line 5\)\n.*\n {4}refused {3}log queries are not supported as an instant query/,
  );
});

interface Told {
  readonly total: Readonly<Record<string, number>>;
  readonly queries: readonly {
    readonly line: number;
    readonly column: number;
    readonly cost?: string;
    readonly reads: readonly {
      readonly candidate?: { readonly strategy: string };
      readonly others: readonly { readonly strategy: string; readonly declined?: string }[];
      readonly selected?: { readonly rows: number; readonly bytes: number };
    }[];
    readonly uncounted?: string;
    readonly advice: readonly {
      readonly id: string;
      readonly before?: string;
      readonly after?: string;
      readonly answers?: string;
    }[];
  }[];
}

test.serial('as JSON each query has its place, its strategies with reasons, and advice', async (t) => {
  const query = 'sum(sum by (status) (rate({app="shop"} | json [5m])))';
  const file = await fileOf(t, 'queries.logql', `\n  ${query}\n`);
  const { status, out } = await runTool('audit', '-format=json', file);
  t.is(status, 0);
  const { total, queries } = JSON.parse(out) as Told;
  t.deepEqual(total, { queries: 1, unparsed: 0, refused: 0, advised: 1 });
  const [told] = queries;
  t.like(told, { line: 2, column: 3, cost: 'statistics' });
  t.is(told?.reads[0]?.candidate?.strategy, 'statistics');
  t.deepEqual(
    told?.reads[0]?.others.map(({ strategy, declined = 'open' }) => `${strategy}: ${declined}`),
    ['short-lines: open', 'rows: open', 'whole-rows: open', 'value-groups: times-needed'],
  );
  const [first] = told?.advice ?? [];
  t.like(first, {
    id: 'nested-aggregation',
    before: 'sum(sum by (status)(rate({app="shop"} | json[5m])))',
    after: 'sum(rate({app="shop"} | json[5m]))',
    answers: 'same',
  });
  t.is((await runTool('audit', '-fail-on=advice', file)).status, 1);
});

test.serial('as SARIF each finding has a rule, a file and the place of its query', async (t) => {
  const dashboard = {
    title: 'Shop',
    panels: [
      { title: 'Good', datasource: { type: 'loki' }, targets: [{ refId: 'A', expr: '{app="shop"}' }] },
      { title: 'Broken', datasource: { type: 'loki' }, targets: [{ refId: 'A', expr: '{app="shop"} |' }] },
      { title: 'Wide', datasource: { type: 'loki' }, targets: [{ refId: 'A', expr: '{app=~".+"}' }] },
    ],
  };
  const text = JSON.stringify(dashboard, undefined, 2);
  const file = await fileOf(t, 'shop.json', text);
  const { status, out } = await runTool('audit', '-format=sarif', file);
  t.is(status, 1);
  const log = JSON.parse(out) as {
    readonly version: string;
    readonly runs: readonly {
      readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
      readonly results: readonly {
        readonly ruleId: string;
        readonly ruleIndex: number;
        readonly level: string;
        readonly message: { readonly text: string };
        readonly locations: readonly {
          readonly physicalLocation: {
            readonly artifactLocation: { readonly uri: string };
            readonly region: { readonly startLine: number; readonly startColumn: number };
          };
        }[];
      }[];
    }[];
  };
  t.is(log.version, '2.1.0');
  const [run] = log.runs;
  t.deepEqual(
    run?.results.map(({ ruleId, level }) => `${level} ${ruleId}`),
    ['error unparsed-query', 'note wide-selector'],
  );
  for (const { ruleId, ruleIndex, locations } of run?.results ?? []) {
    t.is(run?.tool.driver.rules[ruleIndex]?.id, ruleId);
    const { artifactLocation, region } = locations[0]?.physicalLocation ?? {};
    t.true(artifactLocation?.uri.endsWith('/shop.json'));
    const line = text.split('\n')[(region?.startLine ?? 0) - 1]?.slice((region?.startColumn ?? 1) - 1);
    t.regex(line ?? '', ruleId === 'unparsed-query' ? /^"\{app=\\"shop\\"\} \|"/ : /^"\{app=~/);
  }
  t.regex(run?.results[0]?.message.text ?? '', /^Shop: Broken A: parse error/);
});

test.serial(
  'with a backend its counts of the selected rows are told, and each is asked for once',
  async (t) => {
    const backend = await backendWithLogs();
    t.teardown(() => backend.close());
    const queries = [
      'sum(rate({app="cart"}[5m]))',
      'sum(rate({app="cart"} |= "error" [5m]))',
      '{job="auth"} |= "nothing"',
    ];
    const file = await fileOf(t, 'queries.logql', queries.join('\n'));
    const { status, out, err } = await runTool(
      'audit',
      `-backend=${backend.url}`,
      '-rate=1000',
      '-max-counts=1',
      until,
      '-format=json',
      file,
    );
    t.is(status, 0, err);
    const told = (JSON.parse(out) as Told).queries;
    t.deepEqual(
      told.map(({ reads }) => reads[0]?.selected?.rows),
      [480, 480, undefined],
    );
    const { bytes = 0 } = told[0]?.reads[0]?.selected ?? {};
    t.true(bytes > 480 * 40 && bytes < 480 * 80, `${bytes}`);
    t.is(told[2]?.uncounted, 'more than 1 selections (-max-counts)');
  },
);

test.serial('queries of a dashboard are audited as those of the given tenant', async (t) => {
  const backend = await backendWithLogs();
  t.teardown(() => backend.close());
  const dashboard = {
    title: 'Shop',
    templating: {
      list: [{ name: 'app', type: 'query', datasource: { type: 'loki' }, query: { label: 'app', type: 1 } }],
    },
    panels: [
      { title: 'Lines', datasource: { type: 'loki' }, targets: [{ refId: 'A', expr: '{app="$app"}' }] },
    ],
  };
  const file = await fileOf(t, 'shop.json', JSON.stringify(dashboard));
  const map = '-tenant-map={"shop":{"account_id":"0"},"other":{"account_id":"7"}}';
  const audited = async (tenant: string): Promise<readonly (number | undefined)[]> => {
    const args = [`-backend=${backend.url}`, map, '-rate=1000', until, '-format=json', `-org-id=${tenant}`];
    const { out } = await runTool('audit', ...args, file);
    return (JSON.parse(out) as Told).queries.map(({ reads }) => reads[0]?.selected?.rows);
  };
  t.deepEqual(await audited('shop'), [480]);
  t.deepEqual(await audited('other'), []);
});

test.serial('a backend that does not answer is given up, and the rest of the report is there', async (t) => {
  const file = await fileOf(
    t,
    'queries.logql',
    Array.from({ length: 5 }, (_, n) => `{app="a${n}"}`).join('\n'),
  );
  const { status, out } = await runTool('audit', '-backend=http://127.0.0.1:1', '-rate=1000', file);
  t.is(status, 0, out);
  t.is(out.match(/rows {4}unknown: the backend failed 3 times in a row/g)?.length, 2);
});

test.serial(
  'variables of a dashboard get values of the backend, or stand for one without it; an empty text box is empty',
  async (t) => {
    const variable = {
      name: 'app',
      type: 'query',
      query: 'label_values(app)',
      current: { value: ['$__all'] },
    };
    const box = { name: 'search', type: 'textbox', query: '', current: { value: '' } };
    const dashboard = {
      title: 'Shop',
      templating: { list: [variable, box] },
      panels: [
        {
          title: 'Lines',
          datasource: { type: 'loki' },
          targets: [
            { refId: 'A', expr: '{app=~"$app"} |= "$search"' },
            { refId: 'B', expr: '{app="$other"}' },
          ],
        },
      ],
    };
    const file = await fileOf(t, 'shop.json', JSON.stringify(dashboard));
    const alone = await runTool('audit', file);
    t.regex(alone.out, /query {3}\{app=~"<app>"\} \|= ""\n/);
    t.regex(alone.out, /^not audited {2}Shop: Lines B: no value for \$other: set it with -variable$/m);
    const backend = await backendWithLogs();
    t.teardown(() => backend.close());
    const asked = await runTool('audit', `-backend=${backend.url}`, until, file);
    t.regex(asked.out, /query {3}\{app=~"cart\|orders"\} \|= ""\n/);
    const chosen = await runTool('audit', '-variable=other=x;app=y', file);
    t.regex(chosen.out, /query {3}\{app="x"\}\n/);
  },
);

test.serial('a command line that cannot be used is explained', async (t) => {
  const wrong = await runTool('audit', '-rate=x', '-fail-on=nothing', '-format=pdf');
  t.is(wrong.status, 2);
  for (const text of ['-rate must be', '-fail-on must be one of', '-format must be one of', 'name files'])
    t.true(wrong.err.includes(text), text);
  t.regex((await runTool('audit', '-help')).out, /-fail-on=VALUE/);
});

test.serial('the page for users lists the advice that there is', async (t) => {
  const page = await readFile(join(packageRoot(), 'docs/audit.md'), 'utf8');
  const section = page.slice(page.indexOf('## Advice'), page.indexOf('## Measured'));
  const listed = [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, id]) => id);
  t.deepEqual(
    listed,
    adviceRules.map(({ id }) => id),
  );
});
