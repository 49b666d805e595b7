/**
 * Runs a real vmalert with rules of a Loki ruler: as LogQL through the proxy, and as LogsQL from `ref-proxy rules convert` on the backend.
 * Needs `vmalert` 1.141 or later and `victoria-metrics` (`VMALERT` and `VICTORIA_METRICS`, or in the PATH).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { startDevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { runProgram } from '../../../../core/program/program.js';
import { withProxyFile } from '../../../../core/testing/index.js';
import { freePort, isOpen, minimalPipeline } from '../../program/child.js';
import { findProgram } from '../../program/programs.js';
import { until } from '../../../setup/until.js';

const vmalert = findProgram('VMALERT', 'vmalert');
const victoriaMetrics = findProgram('VICTORIA_METRICS', 'victoria-metrics');
const arePresent = vmalert !== undefined && victoriaMetrics !== undefined;
if (!arePresent)
  console.log(
    'no vmalert or victoria-metrics in the PATH, VMALERT or VICTORIA_METRICS: rules are not run by them',
  );
const withPrograms = arePresent ? test.serial : test.serial.skip;

const tenantMap = '{"shop":{"account_id":7},"field":{"account_id":8}}';
const accounts = { shop: 7, field: 8 } as const;
type TenantName = keyof typeof accounts;

const ruleFile = JSON.stringify({
  groups: [
    {
      name: 'errors',
      interval: '1s',
      rules: [
        {
          alert: 'Errors',
          expr: 'sum by (app) (count_over_time({app=~".+"} |= "error" [10s])) > 2',
          labels: { severity: 'page' },
          annotations: { summary: 'errors in {{ $labels.app }}' },
        },
        { record: 'app:lines:count', expr: 'sum by (app) (count_over_time({app=~".+"}[1h]))' },
      ],
    },
  ],
});

/** An alert as vmalert sends it. */
interface SentAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly endsAt: string;
}

/** A fake Alertmanager that only keeps the last state of each alert. */
async function startAlertmanager(
  t: ExecutionContext,
): Promise<{ readonly url: string; readonly alerts: Map<string, SentAlert> }> {
  const alerts = new Map<string, SentAlert>();
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const sent = JSON.parse(Buffer.concat(parts).toString('utf8')) as readonly SentAlert[];
      for (const alert of sent) alerts.set(keyOf(alert.labels), alert);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, alerts };
}

function keyOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(' ');
}

/** Starts a program that runs until the end of the test, and waits until it answers. */
async function startProgram(t: ExecutionContext, program: string, args: readonly string[]): Promise<string> {
  const listen = `127.0.0.1:${await freePort()}`;
  const child = spawn(program, [...args, `-httpListenAddr=${listen}`, '-loggerLevel=ERROR'], {
    stdio: 'inherit',
  });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  while (!(await isOpen(`http://${listen}/health`))) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    await pause(50);
  }
  return `http://${listen}`;
}

async function pushLines(
  url: string,
  tenant: TenantName,
  app: string,
  line: string,
  count: number,
): Promise<void> {
  const values = Array.from({ length: count }, (_, n) => [
    `${Date.now()}${String(n).padStart(6, '0')}`,
    `${line} ${n}`,
  ]);
  await request(`${url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', AccountID: String(accounts[tenant]) },
    body: JSON.stringify({ streams: [{ stream: { app }, values }] }),
  });
}

/** The values of a series in VictoriaMetrics by labels. */
async function recorded(url: string): Promise<ReadonlyMap<string, string>> {
  const asked = encodeURIComponent('last_over_time({__name__="app:lines:count"}[1m])');
  const { body } = await request(`${url}/api/v1/query?query=${asked}`);
  const { data } = (await body.json()) as {
    readonly data: {
      readonly result: readonly {
        readonly metric: Readonly<Record<string, string>>;
        readonly value: readonly [number, string];
      }[];
    };
  };
  return new Map(data.result.map(({ metric, value }) => [keyOf(metric), value[1]]));
}

withPrograms('alerts fire and resolve, and series are recorded, alike in LogQL and in LogsQL', async (t) => {
  t.timeout(300_000);
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-vmalert-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  for (const tenant of ['shop', 'field'] as const) {
    await pushLines(backend.url, tenant, `${tenant}-app`, 'hello', 4);
    await mkdir(join(folder, 'ruler', tenant), { recursive: true });
    await writeFile(join(folder, 'ruler', tenant, 'errors.yaml'), ruleFile);
  }
  const store = await startProgram(t, victoriaMetrics ?? '', [
    `-storageDataPath=${join(folder, 'metrics')}`,
    '-search.latencyOffset=0s',
  ]);
  const { url: notifier, alerts } = await startAlertmanager(t);
  const convert = async (...flags: readonly string[]): Promise<void> => {
    let said = '';
    const say = (text: string): string => (said += text);
    const args = [`-backend=${backend.url}`, `-tenant-map=${tenantMap}`, '-tenant-directories', ...flags];
    const status = await runProgram(['rules', 'convert', ...args, join(folder, 'ruler')], {
      out: say,
      err: say,
      env: {},
    });
    t.is(status, 0, said);
  };
  await convert(`-output=${join(folder, 'converted')}`);
  // The original rules, in the form that is used for rules that cannot be converted.
  const logql = join(folder, 'logql');
  for (const tenant of ['shop', 'field'] as const) {
    const { groups } = JSON.parse(ruleFile) as { readonly groups: readonly object[] };
    const headers = [`X-Scope-OrgID: ${tenant}`];
    await mkdir(logql, { recursive: true });
    await writeFile(
      join(logql, `${tenant}.yaml`),
      JSON.stringify({ groups: groups.map((group) => ({ ...group, type: 'prometheus', headers })) }),
    );
  }
  const common = [
    `-notifier.url=${notifier}`,
    `-remoteWrite.url=${store}`,
    '-remoteWrite.flushInterval=1s',
    '-rule.evalDelay=0s',
  ];
  await withProxyFile(
    minimalPipeline,
    async ({ url }) => {
      await startProgram(t, vmalert ?? '', [
        `-datasource.url=${url}/loki`,
        '-rule.validateExpressions=false',
        `-rule=${join(logql, '*.yaml')}`,
        '-external.label=form=logql',
        ...common,
      ]);
      await startProgram(t, vmalert ?? '', [
        `-datasource.url=${backend.url}`,
        `-rule=${join(folder, 'converted', 'victorialogs', '**', '*.yaml')}`,
        '-external.label=form=logsql',
        ...common,
      ]);
      await until(async () => (await recorded(store)).size >= 4);
      t.is(alerts.size, 0);
      await pushLines(backend.url, 'shop', 'shop-app', 'error', 3);
      await until(() => alerts.size >= 2);
      const labelsOf = (form: string): Readonly<Record<string, string>> => ({
        alertname: 'Errors',
        alertgroup: 'errors',
        app: 'shop-app',
        severity: 'page',
        form,
      });
      t.deepEqual([...alerts.keys()].sort(), ['logql', 'logsql'].map((form) => keyOf(labelsOf(form))).sort());
      for (const { annotations } of alerts.values()) t.is(annotations['summary'], 'errors in shop-app');
      // Waits until the errors have left the ten-second window.
      await until(() => [...alerts.values()].every(({ endsAt }) => Date.parse(endsAt) <= Date.now()));
      t.is(alerts.size, 2);
      const counts = { 'shop-app': '7', 'field-app': '4' };
      const series = Object.entries(counts).flatMap(([app, count]) =>
        ['logql', 'logsql'].map((form): [string, string] => [
          keyOf({ __name__: 'app:lines:count', app, form }),
          count,
        ]),
      );
      await until(
        async () => [...(await recorded(store)).values()].filter((value) => value === '7').length === 2,
      );
      t.deepEqual([...(await recorded(store))].sort(), series.sort());
    },
    { flags: { backend: backend.url, 'tenant-map': tenantMap } },
  );
});
