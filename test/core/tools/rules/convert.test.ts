/** `ref-proxy rules convert`: converts rules of a Loki ruler to rules of vmalert; both forms are compared over the same logs. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { request } from 'undici';
import { startDevBackend, type DevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { runProgram } from '../../../../core/program/program.js';
import { pushRulerLogs, type RulerLogs } from './ruler-logs.js';
import { deepRuns } from '../../../setup/runs.js';

const rules = join(packageRoot(), 'test/data/ruler');
/** Number of times at which each rule is evaluated in both forms. */
const times = deepRuns(8, 25);
const tenants = { shop: 7, platform: 8 } as const;
const tenantMap = '-tenant-map={"shop":{"account_id":7},"platform":{"account_id":8,"project_id":0}}';

let backend: DevBackend;
let logs: RulerLogs;

test.before(async () => {
  backend = await startDevBackend();
  logs = await pushRulerLogs(backend.url, 'shop', tenants.shop);
  await pushRulerLogs(backend.url, 'platform', tenants.platform);
});
test.after.always(() => backend.close());

interface Run {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function convert(...args: readonly string[]): Promise<Run> {
  let [out, err] = ['', ''];
  const io = { out: (text: string) => (out += text), err: (text: string) => (err += text), env: {} };
  const status = await runProgram(['rules', 'convert', `-backend=${backend.url}`, tenantMap, ...args], io);
  return { status, out, err };
}

async function folderOf(t: ExecutionContext, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-rules-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

/** Converts one rule expression without a tenant, with additional flags. */
async function convertOne(t: ExecutionContext, expr: string, ...flags: readonly string[]): Promise<ToldRule> {
  const group = { name: 'g', rules: [{ record: 'r', expr }] };
  const folder = await folderOf(t, { 'one.json': JSON.stringify({ groups: [group] }) });
  const { out } = await convert(...flags, '-format=json', join(folder, 'one.json'));
  const [rule] = (JSON.parse(out) as Told).rules;
  if (rule === undefined) throw new Error(out);
  return rule;
}

async function push(url: string, streams: readonly unknown[]): Promise<void> {
  const { statusCode } = await request(`${url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams }),
  });
  if (statusCode !== 204) throw new Error(`${statusCode}`);
}

interface ToldRule {
  readonly file: string;
  readonly name: string;
  readonly outcome: string;
  readonly logsql?: string;
  readonly reason?: string;
}
interface Told {
  readonly rules: readonly ToldRule[];
  readonly check?: {
    readonly times: number;
    readonly rules: readonly {
      readonly name: string;
      readonly equal: number;
      readonly withSeries: number;
      readonly differences: readonly { readonly text: string }[];
    }[];
  };
}

/** The reasons in the rule files for rules that stay LogQL, by rule name. */
async function expectedReasons(): Promise<ReadonlyMap<string, string>> {
  const reasons = new Map<string, string>();
  for (const file of ['shop/alerts.yaml', 'shop/recording.yml', 'platform/nodes.yaml']) {
    const text = await readFile(join(rules, file), 'utf8');
    for (const [, name = '', rest = ''] of text.matchAll(/- (?:alert|record): (\S+)\n([^]*?)(?=\n +- |$)/g)) {
      const reason = /# stays LogQL: (.*)/.exec(rest)?.[1];
      if (reason !== undefined) reasons.set(name, reason);
    }
  }
  return reasons;
}

test.serial(
  'each rule is converted, or stays LogQL for a reason; both forms give the same series',
  async (t) => {
    const { status, out, err } = await convert(
      '-tenant-directories',
      '-format=json',
      '-check',
      `-check-until=${logs.endSeconds}`,
      '-check-range=100m',
      `-check-times=${times}`,
      rules,
    );
    t.is(err, '');
    const told = JSON.parse(out) as Told;
    const reasons = await expectedReasons();
    t.is(told.rules.length, 47);
    for (const { name, outcome, reason } of told.rules) {
      const expected = reasons.get(name);
      t.is(outcome, expected === undefined ? 'converted' : 'kept', `${name}: ${reason ?? ''}`);
      if (expected !== undefined) t.true(reason?.includes(expected), `${name}: ${reason ?? ''}`);
    }
    t.true(reasons.size >= 11);
    const checked = told.check?.rules ?? [];
    t.is(checked.length, told.rules.length - reasons.size);
    for (const { name, equal, differences } of checked)
      t.is(equal, times, `${name}: ${JSON.stringify(differences)}`);
    const silent = checked.filter(({ withSeries }) => withSeries === 0).map(({ name }) => name);
    t.deepEqual(silent, ['shop:nothing']);
    const changing = checked.filter(({ withSeries }) => withSeries > 0 && withSeries < times);
    t.true(changing.length >= 5, 'some rules have series at some times only');
    t.is(status, 0);
  },
);

test.serial(
  'files of vmalert keep what a rule says, name the data source, and carry the tenant in headers',
  async (t) => {
    const output = await folderOf(t);
    await convert(tenantMap, '-tenant-directories', `-output=${output}`, rules);
    const read = async (path: string): Promise<VmalertDocument> =>
      parse(await readFile(join(output, path), 'utf8')) as VmalertDocument;
    const [alerts] = (await read('victorialogs/shop/alerts.yaml')).groups;
    t.like(alerts, {
      name: 'checkout',
      type: 'vlogs',
      interval: '30s',
      limit: 50,
      headers: ['AccountID: 7', 'ProjectID: 0'],
    });
    t.deepEqual(alerts?.rules[0], {
      alert: 'CheckoutErrors',
      expr: '_time:300s offset -1ns {namespace="shop",app="checkout"} _msg:*"level=error"* | stats by (namespace) count(*) as lines | filter lines:>"10"',
      labels: { severity: 'page', team: '{{ $labels.namespace }}', stats_result: '' },
      for: '2m',
      annotations: { summary: '{{ $value }} errors in {{ $labels.namespace }}' },
    });
    const [kept] = (await read('logql/shop/alerts.yaml')).groups;
    t.like(kept, { name: 'checkout', type: 'prometheus', headers: ['X-Scope-OrgID: shop'] });
    t.deepEqual(kept?.rules.at(-1), {
      alert: 'LargeStatus',
      expr: 'sum(count_over_time({app="checkout"} | status >= 500 [5m])) > 5',
    });
    const recorded = (await read('victorialogs/shop/recording.yaml')).groups[0]?.rules ?? [];
    t.like(recorded[0], { record: 'app:lines:rate1m', labels: { source: 'logs', stats_result: '' } });
    t.true((await read('victorialogs/platform/nodes.yaml')).groups[0]?.headers?.includes('AccountID: 8'));
    await t.throwsAsync(read('logql/platform/nodes.yaml'), { code: 'ENOENT' });
  },
);

interface VmalertDocument {
  readonly groups: readonly {
    readonly headers?: readonly string[];
    readonly rules: readonly Readonly<Record<string, unknown>>[];
  }[];
}

test.serial(
  'a label with several stored names stays LogQL; without the backend, names are those of the rules',
  async (t) => {
    const own = await startDevBackend();
    t.teardown(() => own.close());
    const now = `${Date.now()}000000`;
    await push(own.url, [
      {
        stream: { app: 'a' },
        values: [
          [now, 'x', { 'team.owner': 'red', 'data.center': 'x' }],
          [now, 'y', { 'team-owner': 'red' }],
        ],
      },
    ]);
    const backendFlag = `-backend=${own.url}`;
    const expr = (label: string): string => `sum by (${label}) (rate({app="a"}[1m]))`;
    t.like(await convertOne(t, expr('team_owner'), backendFlag), {
      outcome: 'kept',
      reason: 'the label team_owner is stored under several names: team-owner, team.owner',
    });
    t.regex(
      (await convertOne(t, expr('data_center'), backendFlag)).logsql ?? '',
      /stats by \(data\.center\) .* \| rename data\.center as data_center \| fields data_center, value$/,
    );
    t.regex(
      (await convertOne(t, expr('team_owner'), '-stored-names=as-written')).logsql ?? '',
      /by \(team_owner\)/,
    );
  },
);

test.serial(
  'tenants that share an account by a label are selected by it; a tenant without an account keeps its rules',
  async (t) => {
    const expr = 'sum(rate({app="a"}[1m]))';
    const named = ['-tenant=red', '-stored-names=as-written'];
    t.regex(
      (await convertOne(t, expr, ...named, '-tenant-label=team')).logsql ?? '',
      /\{app="a"\} \{team="red"\}/,
    );
    t.like(await convertOne(t, expr, ...named), {
      outcome: 'kept',
      reason: 'the tenant is in no tenant map, so it has no account in VictoriaLogs',
    });
  },
);

/** LogQL expressions, each with a part of the reason why it stays LogQL. */
const reasons: readonly (readonly [expr: string, reason: string])[] = [
  ['{app="a"}', 'a rule needs a metric query'],
  ['vector(1)', 'reads no logs'],
  ['sum(rate({app="a"}[1m])) or sum(rate({app="b"}[1m]))', 'or: LogsQL has no operations between sets'],
  ['sum by (pod) (rate({app="a"}[1m])) or vector(0)', 'only a sum without labels'],
  ['sum(rate({app="a"}[1m])) and sum(rate({app="b"}[1m]))', 'and: LogsQL has no operations between sets'],
  ['sum(rate({app="a"}[1m])) > bool 1', '> bool'],
  ['sum(rate({app="a"}[1m])) ^ 2', '^: LogsQL computes it in another way'],
  ['sum(rate({app="a"}[1m])) / 0', 'a division by zero'],
  ['sum(rate({app="a"}[1m])) * 1e-9', '1e-9 has no plain decimal form'],
  ['1 / sum(bytes_rate({app="a"}[1m]))', 'may be zero'],
  ['sum by (pod) (rate({app="a"}[1m])) / sum(rate({app="a"}[1m]))', 'different labels'],
  ['max(sum by (pod) (rate({app="a"}[1m]))) / sum(rate({app="a"}[1m]))', 'one chain of steps'],
  ['sum(rate({app="a"}[1m] offset -1m))', 'a negative offset'],
  ['label_replace(sum by (pod) (rate({app="a"}[1m])), "x", "$1", "pod", "(.*)")', 'label_replace'],
  ['max(rate({app="a"}[1m]))', 'rate without sum by (...)'],
  ['stddev(sum by (pod) (rate({app="a"}[1m])))', 'stddev: LogsQL computes or orders it'],
  ['absent_over_time({app="<a>"}[1m])', 'cannot write the label value "<a>"'],
  ['sum(rate({__aggregated_metric__="x"}[1m]))', 'Logs Drilldown only'],
  ['sum(rate({app="a"} | ip=ip("10.0.0.0/8") [1m]))', 'addresses in another way'],
  ['sum(rate({app="a"} | version="1.10" [1m]))', 'such values in another way'],
  ['sum(rate({app="a"} |~ "x*" [1m]))', 'matches the empty text'],
  ['sum by (_private) (rate({app="a"}[1m]))', 'computes the label _private'],
];

test.serial('an expression that no LogsQL query equals says why', async (t) => {
  const rulesOfAll = reasons.map(([expr], index) => ({ record: `r${index}`, expr }));
  const folder = await folderOf(t, {
    'all.json': JSON.stringify({ groups: [{ name: 'g', rules: rulesOfAll }] }),
  });
  const { out, status } = await convert('-stored-names=as-written', '-format=json', folder);
  t.is(status, 0, out);
  const { rules: told } = JSON.parse(out) as Told;
  t.is(told.length, reasons.length);
  for (const [index, { outcome, reason }] of told.entries()) {
    const [expr, expected] = reasons[index] ?? ['', ''];
    t.is(outcome, 'kept', expr);
    t.true(reason?.includes(expected), `${expr}: ${reason ?? ''}`);
  }
});

test.serial('columns of a query have other names than its labels', async (t) => {
  const one = async (expr: string): Promise<string> =>
    (await convertOne(t, expr, '-stored-names=as-written')).logsql ?? '';
  t.regex(
    await one('max by (value) (sum by (value, lines) (rate({app="a"}[1m])))'),
    /by \(value, lines\) count\(\*\) as lines_2 \| math lines_2 \/ 60 as value_2 \| stats by \(value\) max\(value_2\) as value_3$/,
  );
  t.regex(
    await one('absent_over_time({lines="x", value="y"}[1m])'),
    /count\(\*\) as lines_2 \| filter lines_2:="0" \| format "x" as lines \| format "y" as value \| math 1 as value_2/,
  );
});

test.serial('the check finds rules whose forms differ: over rows that were pushed twice', async (t) => {
  const own = await startDevBackend();
  t.teardown(() => own.close());
  const seconds = Math.floor(Date.now() / 1000) - 600;
  const values = [1, 2, 3].map((n) => [`${seconds - n}000000000`, `error ${n}`]);
  await push(own.url, [{ stream: { app: 'a' }, values: [...values, ...values] }]);
  await push(own.url, [{ stream: { app: 'b' }, values }]);
  const rule = (app: string): unknown => ({
    alert: app,
    expr: `sum(count_over_time({app="${app}"}[1m])) > 0`,
  });
  const folder = await folderOf(t, {
    'two.json': JSON.stringify({ groups: [{ name: 'g', rules: [rule('a'), rule('b')] }] }),
  });
  const flags = [
    `-backend=${own.url}`,
    '-check',
    `-check-until=${seconds + 30}`,
    '-check-range=30s',
    '-check-times=2',
  ];
  const { status, out } = await convert(...flags, folder);
  t.is(status, 1);
  t.regex(out, /^different {2}g: a: at 2 of 2 times\n.* value in \{\}: .*"6"\] \| reference: .*"3"\]$/m);
  t.regex(out, /^1 of 2 converted rules give the same series as LogQL at 2 times$/m);
});

test.serial(
  'namespaces of mimirtool and lists by namespace are read; what cannot be used is said',
  async (t) => {
    const group = {
      name: 'g',
      source_tenants: ['x'],
      rules: [{ alert: 'A', expr: 'sum(rate({app="a"}[1m])) > 1' }],
    };
    const folder = await folderOf(t, {
      'namespace.yaml': JSON.stringify({ namespace: 'n', groups: [group] }),
      'listed.yaml': JSON.stringify({ one: [group], two: [group] }),
      'bad.txt': JSON.stringify({ groups: [{ name: 'g', rules: [{ alert: 'A' }] }] }),
      'wrong.txt': JSON.stringify({
        groups: [{ name: 'g', rules: [{ alert: 'A', expr: 'sum(rate({app="a"}' }] }],
      }),
    });
    const { out, status } = await convert('-stored-names=as-written', folder);
    t.is(status, 0);
    t.regex(out, /^left out {3}listed\.yaml: source_tenants of groups: vmalert has no such setting$/m);
    t.regex(out, /^3 rules converted, 0 kept as LogQL, 0 invalid$/m);
    const bad = await convert(join(folder, 'bad.txt'));
    t.is(bad.status, 2);
    t.regex(bad.err, /group "g": a rule needs an expr, and a name as alert or record/);
    const wrong = await convert('-stored-names=as-written', join(folder, 'wrong.txt'));
    t.is(wrong.status, 1);
    t.regex(wrong.out, /^invalid .*: A: parse error at line 1/m);
    for (const [args, text] of [
      [['-check-times=0', '-check', folder], /-check-times must be a whole number from 1/],
      [['-check-range=1h', folder], /-check-range requires -check/],
      [[], /rules convert needs a file or a directory/],
      [[join(folder, 'nothing')], /there is no file/],
    ] as const) {
      const { err, status: refused } = await convert(...args);
      t.is(refused, 2, err);
      t.regex(err, text);
    }
  },
);

test.serial('a label whose stored name is not known stays LogQL, wherever a rule names it', async (t) => {
  const unknown = /no log line within -lookback has the label team_lead,/;
  for (const expr of [
    'sum by (team_lead) (count_over_time({namespace="infra"}[5m]))',
    'sum(count_over_time({namespace="infra"} | team_lead="ann" [5m]))',
    'sum(count_over_time({namespace="infra", team_lead="ann"}[5m]))',
  ]) {
    const kept = await convertOne(t, expr, '-tenant=shop');
    t.is(kept.outcome, 'kept', expr);
    t.regex(kept.reason ?? '', unknown);
    t.is((await convertOne(t, expr, '-tenant=shop', '-stored-names=as-written')).outcome, 'converted', expr);
  }
  const known = await convertOne(
    t,
    'sum by (team_owner) (count_over_time({namespace="infra"}[5m]))',
    '-tenant=shop',
  );
  t.is(known.outcome, 'converted');
  t.regex(known.logsql ?? '', /"team\.owner"|team\.owner/);
});
