/** Checks that a proxy has the metrics and log fields of the specification (Metrics; Structured logs) after some use. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { withDisk } from '../../cache/disk-engines.js';
import { request } from 'undici';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import {
  withProxyFile,
  withRunningPipeline,
  type LogRecord,
  type PipelineRun,
  type RunningPipeline,
} from '../../../../core/testing/index.js';

const pipeline = join(packageRoot(), 'pipelines/reference-compatible.yaml');
const minuteMs = 60_000;
const nowMs = Date.parse('2026-11-01T12:00:00Z');
/** Lines spread over twelve hours, two of which have none. */
const lines = Array.from({ length: 480 }, (_, at) => at)
  .filter((at) => at < 200 || at >= 280)
  .map((at) => ({
    timeNs: BigInt(nowMs - (at + 1) * 1.5 * minuteMs) * 1_000_000n,
    labels: { app: at % 2 === 0 ? 'one' : 'two' },
    line: `served request ${at} in ${at * 3} ms`,
  }));
const range = { start: String(nowMs - 12 * 60 * minuteMs), end: String(nowMs), step: '300' };
const times = {
  ...range,
  start: String((nowMs - 12 * 60 * minuteMs) / 1000),
  end: String(nowMs / 1000),
};
const headers = {
  'x-grafana-user': 'ann',
  authorization: `Basic ${btoa('grafana:secret')}`,
};

function listed(file: string): readonly string[] {
  const text = readFileSync(join(packageRoot(), 'test/data/specified', file), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** Sends requests of many kinds, some of them refused, and returns the log records. */
async function use({ ask, advance }: RunningPipeline): Promise<readonly LogRecord[]> {
  const log: LogRecord[] = [];
  const api = async (path: string, params: Readonly<Record<string, string>>, more = {}): Promise<void> => {
    const answer = await ask({ path: `/loki/api/v1/${path}`, params, headers: { ...headers, ...more } });
    log.push(...answer.log);
  };
  const query = '{app="one"}';
  for (let round = 0; round < 2; round += 1) {
    await api('query_range', { ...times, query });
    await api('query_range', { ...times, query: `sum(count_over_time(${query}[5m]))` });
    await api('patterns', { ...times, query });
    await Promise.all(['1', '2'].map(() => api('series', { ...times, 'match[]': query })));
    await api('query_range', { ...times, query });
    advance(30 * minuteMs);
  }
  await api(
    'query_range',
    { ...times, query, limit: '7' },
    { 'x-loki-response-encoding-flags': 'categorize-labels' },
  );
  await api('labels', times);
  await api('query', { query: '{app=' });
  return log;
}

async function used<Found>(
  flags: Readonly<Record<string, string>>,
  look: (running: RunningPipeline, log: readonly LogRecord[]) => Promise<Found>,
): Promise<Found> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  const run: PipelineRun = {
    lines,
    nowMs,
    tenant: '0',
    flags: {
      'server.register-instrumentation': 'true',
      'metrics.export-sensitive-labels': 'true',
      'metrics.trust-proxy-headers': 'true',
      'disk-cache-path': join(folder, 'disk'),
      'patterns-persist-path': join(folder, 'patterns'),
      ...flags,
    },
  };
  try {
    return await withRunningPipeline(pipeline, run, async (running) => look(running, await use(running)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The label names of a sample. */
function labelsOf(sample: string): readonly string[] {
  const names = [...sample.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, name = '']) => name);
  return names.filter((name) => name !== 'le').sort();
}

withDisk(test.serial)(
  'every metric of the specification has its type and labels, and counts what happens',
  async (t) => {
    await used({}, async ({ ask }) => {
      const { body } = await ask({ path: '/metrics' });
      const documented = readFileSync(join(packageRoot(), 'docs/metrics.md'), 'utf8');
      for (const line of listed('metrics.txt')) {
        const [name = '', type = '', labelList = '', moves] = line.split(' ');
        const labels = labelList === '-' ? [] : labelList.split(',').sort();
        t.true(body.includes(`# TYPE ref_proxy_${name} ${type}\n`), line);
        if (/^(go|process)_/.test(name)) t.true(body.includes(`# TYPE ${name} ${type}\n`), name);
        const row = new RegExp(`^\\| \`ref_proxy_${name}\` \\| ${type}[^|]* \\|([^|]*)\\|`, 'm').exec(
          documented,
        );
        const declared = [...(row?.[1] ?? 'none').matchAll(/`(\w+)`/g)].map(([, label = '']) => label);
        t.deepEqual(declared.sort(), labels, `${name} as documented`);
        const form = new RegExp(`^ref_proxy_${name}(?:_count)?(\\{.*\\})? (\\S+)$`, 'gm');
        const samples = [...body.matchAll(form)];
        for (const [, sample = ''] of samples) t.deepEqual(labelsOf(sample), labels, `${name} ${sample}`);
        const sum = samples.reduce((all, [, , value]) => all + Number(value), 0);
        if (moves === 'moves') t.true(sum > 0, `${name} has not moved`);
      }
    });
  },
);

withDisk(test.serial)(
  'every field of the specification is in the log, and a failure is one record without a stack',
  async (t) => {
    await used(
      { 'log-level': 'debug', 'log-buffered': 'false', 'log-rate-threshold': '0' },
      async ({ ask }, log) => {
        const names = new Set(log.flatMap((record) => [...record.keys()]));
        t.deepEqual(
          listed('log-fields.txt').filter((field) => !names.has(field)),
          [],
        );
        const call = log.find((record) => record.has('http.parent_route'));
        t.is(call?.get('ref.api.system'), 'backend');
        t.regex(String(call?.get('http.route')), /^\/select\/logsql\/\w+$/);
        t.is(call?.get('http.parent_route'), '/loki/api/v1/query_range');
        t.is(call?.get('ref.parent_request.type'), 'query_range');
        t.true(log.some((record) => record.get('enduser.name') === 'ann'));
        const refused = log.filter((record) => record.get('http.response.status_code') === 400);
        t.deepEqual(
          refused.map((record) => [record.get('ref.request.type'), record.get('cache.result')]),
          [['query', 'bypass']],
          'a refused request has asked no cache',
        );
        t.false(JSON.stringify(log.map((record) => [...record])).includes('"stack"'));
        const { log: ofDeletion } = await ask({
          method: 'POST',
          path: '/loki/api/v1/delete',
          headers: { 'x-delete-confirmation': 'true' },
          form: { query: '{app="one"}', start: times.start, end: times.end },
        });
        const routes = ofDeletion
          .filter((record) => record.has('http.parent_route'))
          .map((record) => record.get('http.route'));
        t.is(routes[0], '/delete/run_task');
      },
    );
  },
);

test.serial(
  'a failed backend is one record of the request, with what failed and without a stack; /ready is no error',
  async (t) => {
    const flags = { backend: 'http://127.0.0.1:9', 'log-buffered': 'false' };
    await withProxyFile(
      pipeline,
      async ({ url, log }) => {
        t.is((await request(`${url}/loki/api/v1/labels`)).statusCode, 502);
        t.is((await request(`${url}/ready`)).statusCode, 503);
        await log.find((record) => record.get('ref.request.type') === 'ready');
        const failures = log.records.filter((record) => record.get('body') === 'request failed');
        t.deepEqual(
          failures.map((record) => [record.get('severity.text'), record.get('ref.request.type')]),
          [
            ['ERROR', 'labels'],
            ['WARN', 'ready'],
          ],
        );
        t.is(failures[0]?.get('error.cause'), 'connect ECONNREFUSED 127.0.0.1:9');
        t.false(failures.some((record) => record.has('error')));
        t.is(log.records.filter((record) => record.get('severity.text') === 'ERROR').length, 1);
      },
      { flags },
    );
  },
);

test.serial(
  'a query that cannot be formatted is logged with why, its text where queries may be shown',
  async (t) => {
    for (const [flag, shown] of [
      ['false', undefined],
      ['true', 'parse error at line 1, col 6: syntax error: unexpected $end, expecting STRING'],
    ] as const) {
      const flags = { 'debug-log-raw-queries': flag, 'log-buffered': 'false' };
      await withRunningPipeline(pipeline, { flags, lines: [] }, async ({ ask }) => {
        const { log } = await ask({ path: '/loki/api/v1/format_query', params: { query: '{app=' } });
        const [failed] = log.filter((record) => record.get('body') === 'request failed');
        t.is(failed?.get('error.message'), shown);
        t.is(failed?.get('ref.query') === '{app=', flag === 'true');
      });
    }
  },
);

withDisk(test.serial)('parts of plugins log under the components of the specification', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  try {
    const disk = join(folder, 'disk');
    await writeFile(disk, 'no cache at all, '.repeat(1000));
    const flags = { backend: 'http://127.0.0.1:9', 'log-level': 'debug', 'disk-cache-path': disk };
    await withProxyFile(
      pipeline,
      async ({ log }) => {
        for (const component of ['disk_cache', 'cache_warmer', 'backend'])
          t.truthy(await log.find((record) => record.get('component') === component));
      },
      { flags },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
