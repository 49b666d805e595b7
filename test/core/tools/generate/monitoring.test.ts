/**
 * Checks of the dashboard and the alerts that are generated from the metrics, in code and with `promtool` (`PROMTOOL`, or one in the PATH).
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { request } from 'undici';
import { parse } from 'yaml';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { allMetrics } from '../../../../core/tools/generate/metrics-doc.js';
import { alertsOf, generateAlerts } from '../../../../core/tools/generate/alerts.js';
import { dashboardExpressions } from '../../../../core/tools/generate/dashboard.js';
import { Expressions } from '../../../../core/tools/generate/expressions.js';
import { withProxyFile } from '../../../../core/testing/index.js';
import { minimalPipeline } from '../../program/child.js';
import { findProgram } from '../../program/programs.js';

const promtool = findProgram('PROMTOOL', 'promtool');
const withPromtool = promtool === undefined ? test.serial.skip : test.serial;
if (promtool === undefined)
  console.log('no promtool in the PATH and no PROMTOOL: alert rules and a scrape are not checked by it');

/** Runs promtool; returns its exit status and all of its output. */
function check(
  args: readonly string[],
  input = '',
): Promise<{ readonly status: number; readonly said: string }> {
  return new Promise((resolve) => {
    const child = execFile(promtool ?? '', args, (error, out, err) => {
      resolve({ status: error === null ? 0 : Number(error.code ?? 1), said: out + err });
    });
    child.stdin?.end(input);
  });
}

test.serial('a panel cannot name a metric, a type or a label that is not declared', async (t) => {
  const metrics = await allMetrics();
  const expressions = new Expressions(metrics, '5m');
  t.is(expressions.rate('cache_hits_total'), 'sum(rate(ref_proxy_cache_hits_total[5m]))');
  for (const [make, message] of [
    [() => expressions.rate('no_such_total'), 'no metric no_such_total is declared'],
    [() => expressions.rate('toString'), 'no metric toString is declared'],
    [() => expressions.level('cache_hits_total'), 'the metric cache_hits_total is no gauge'],
    [() => expressions.rate('requests_total', ['tenant']), 'the metric requests_total has no label tenant'],
    [
      () => expressions.growth('requests_total', { code: '5' }),
      'the metric requests_total has no label code',
    ],
    [() => expressions.quantile(0.5, 'requests_total'), 'the metric requests_total is no histogram'],
  ] as const)
    t.throws(make, { message });
});

test.serial('every alert has a page of what to do, and every page an alert', async (t) => {
  const folder = join(packageRoot(), 'docs/runbooks');
  const metrics = await allMetrics();
  const alerts = alertsOf(metrics);
  const links = [...generateAlerts(metrics).matchAll(/ runbook_url: (https:\S+)/g)].map(
    ([, url = '']) => url,
  );
  t.deepEqual(
    links.map((url) => url.replace(/^.*\//, '')),
    alerts.map(({ page }) => `${page}.md`),
  );
  t.deepEqual(readdirSync(folder).sort(), [...alerts.map(({ page }) => `${page}.md`), 'README.md'].sort());
  for (const { name, page } of alerts) {
    const text = readFileSync(join(folder, `${page}.md`), 'utf8');
    t.true(text.startsWith(`# ${name}\n`), page);
    for (const part of ['What it means', 'What users see', 'What to do'])
      t.true(text.includes(`**${part}**`), `${page}: ${part}`);
  }
});

interface Rule {
  readonly alert: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface AlertTest {
  readonly alertname: string;
  readonly exp_alerts?: readonly { exp_annotations?: Rule['annotations'] }[];
}

/** The unit tests of the alerts, with the annotations of the rules that are expected to fire; in JSON, which is valid YAML. */
function alertTests(): string {
  const read = (path: string): unknown => parse(readFileSync(join(packageRoot(), path), 'utf8'));
  const ruleFile = 'examples/monitoring/alerts.yaml';
  const { groups } = read(ruleFile) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  const annotations = new Map(
    groups.flatMap(({ rules }) => rules.map((rule) => [rule.alert, rule.annotations] as const)),
  );
  const file = read('test/data/alerts.test.yaml') as {
    readonly tests: readonly { readonly alert_rule_test: readonly AlertTest[] }[];
  };
  for (const { alertname, exp_alerts = [] } of file.tests.flatMap((each) => each.alert_rule_test))
    for (const alert of exp_alerts) alert.exp_annotations = annotations.get(alertname) ?? {};
  return JSON.stringify({ ...file, rule_files: [join(packageRoot(), ruleFile)] });
}

/** Writes a file for promtool into a temporary folder, which is removed afterwards. */
async function withFile<Result>(text: string, use: (path: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  try {
    const path = join(folder, 'file.yaml');
    await writeFile(path, text);
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

withPromtool('every alert fires when it should, and is silent otherwise', async (t) => {
  const text = alertTests();
  const { status, said } = await withFile(text, (path) => check(['test', 'rules', path]));
  t.is(status, 0, said);
  for (const { name } of alertsOf(await allMetrics()))
    t.is(text.split(`"alertname":"${name}"`).length, 3, `${name} fires in one test and not in another`);
});

withPromtool('the expressions of the dashboard are PromQL', async (t) => {
  const rules = dashboardExpressions(await allMetrics()).map((expression, at) => ({
    record: `panel:${at}`,
    expr: expression.replaceAll('$__rate_interval', '5m'),
  }));
  const text = JSON.stringify({ groups: [{ name: 'dashboard', rules }] });
  const { status, said } = await withFile(text, (path) => check(['check', 'rules', path]));
  t.is(status, 0, said);
});

withPromtool('a scrape is as it should be', async (t) => {
  const flags = { backend: 'http://127.0.0.1:9', 'server.register-instrumentation': 'true' };
  await withProxyFile(
    minimalPipeline,
    async ({ url }) => {
      for (const path of ['/loki/api/v1/labels', '/loki/api/v1/query?query=%7B'])
        await (await request(url + path)).body.dump();
      const text = await (await request(`${url}/metrics`)).body.text();
      t.deepEqual(await check(['check', 'metrics'], text), { status: 0, said: '' });
    },
    { flags },
  );
});
