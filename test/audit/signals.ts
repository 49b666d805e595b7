import { readFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../core/kernel/options/index.js';
import { withReceiver, type Pushed } from '../core/kernel/telemetry/otlp/receiver.js';
import { run } from '../core/program/child.js';
import type { Lab } from './lab.js';
import { hourMs, linesOf, minuteMs, until } from './lab.js';
import { expect, same, type Claim, type Section } from './section.js';
import { showing } from './shown.js';

const selector = '{app="web"}';

function listed(file: string): readonly string[] {
  const text = readFileSync(join(packageRoot(), 'test/data/specified', file), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

interface Specified {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

const metrics: readonly Specified[] = listed('metrics.txt').map((row) => {
  const [name = '', type = '', labels = ''] = row.split(' ');
  return { name, type, labels: labels === '-' ? [] : labels.split(',').sort() };
});

/** Throws unless the metric exists with its type, and its samples have its labels. */
function checkMetric(exposition: string, { name, type, labels }: Specified): void {
  expect(exposition.includes(`# TYPE ref_proxy_${name} ${type}\n`), `there is no ${type} ${name}`);
  const samples = exposition.matchAll(new RegExp(`^ref_proxy_${name}(?:_count)?\\{(.*)\\} `, 'gm'));
  for (const [, text = ''] of samples) {
    const found = [...text.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label]) => label);
    same(found.filter((label) => label !== 'le').sort(), labels, `labels of ${name}`);
  }
}

function metricsClaim(lines: string, says: string, isOne: (name: string) => boolean): Claim {
  return {
    lines,
    says,
    probe: async (lab) => {
      const { exposition } = await showing(lab);
      const chosen = metrics.filter(({ name }) => isOne(name));
      expect(chosen.length > 0, 'no metric is listed');
      for (const each of chosen) checkMetric(exposition, each);
    },
  };
}

const core: readonly (readonly [line: string, names: readonly string[]])[] = [
  ['368', ['requests_total']],
  ['369', ['request_duration_seconds']],
  ['370', ['backend_duration_seconds']],
  ['371', ['upstream_calls_per_request']],
  ['372', ['cache_hits_total', 'cache_misses_total']],
  ['373', ['cache_hits_by_endpoint', 'cache_misses_by_endpoint']],
  ['374', ['translations_total', 'translation_errors_total']],
  ['375', ['internal_operation_total']],
  ['376', ['internal_operation_duration_seconds']],
  ['377', ['coalesced_total', 'coalesced_saved_total']],
  ['378', ['response_tuple_mode_total']],
  ['379', ['uptime_seconds', 'active_requests']],
  ['380', ['circuit_breaker_state']],
  ['381', ['http_connections']],
  ['382', ['http_connection_transitions_total']],
  ['383', ['http_connection_rotations_total']],
];

const fields: readonly (readonly [line: string, names: readonly string[]])[] = [
  ['346', ['timestamp', 'severity.text', 'severity.number', 'body', 'component']],
  [
    '347',
    ['http.route', 'url.path', 'http.request.method', 'http.response.status_code', 'http.parent_route'],
  ],
  [
    '348',
    [
      'ref.request.type',
      'ref.api.system',
      'proxy.direction',
      'ref.tenant.id',
      'ref.query',
      'ref.parent_request.type',
    ],
  ],
  ['349', ['event.duration']],
  ['350', ['client.address', 'enduser.id', 'enduser.name', 'enduser.source']],
  ['351', ['auth.principal', 'auth.source']],
  ['352', ['cache.result']],
  ['353', ['proxy.duration_ms', 'proxy.overhead_ms']],
  ['354', ['upstream.calls', 'upstream.status_code', 'upstream.duration_ms']],
  ['355', ['upstream.calls_by_type', 'upstream.duration_ms_by_type']],
  ['356', ['proxy.operations_by_type', 'proxy.operation_duration_ms_by_type']],
];

const byType = ['upstream.calls_by_type', 'proxy.operations_by_type'];

async function pushedBy(lab: Lab, flags: Readonly<Record<string, string>>, path = ''): Promise<Pushed> {
  let pushed: Pushed | undefined;
  await withReceiver(
    () => ({ status: 200 }),
    async (receiver) => {
      const site = await lab.site({ 'otlp-endpoint': receiver.url + path, 'otlp-interval': '1s', ...flags });
      await site.get('labels');
      const named = 'ref_proxy_requests_total';
      pushed = await receiver.has(({ document }) => JSON.stringify(document).includes(named));
      await site.proxy.close();
    },
  );
  expect(pushed !== undefined, 'nothing is pushed');
  return pushed;
}

export const signals: Section = {
  title: 'Logs, metrics and pushes',
  claims: [
    ...core.map(([line, names]) =>
      metricsClaim(
        line,
        `metrics ${names.map((name) => `\`${name}\``).join(', ')}, with their types and labels`,
        (name) => names.includes(name),
      ),
    ),
    metricsClaim('362, 385', 'metrics of tenants and clients, with their types and labels', (name) =>
      /^(?:tenant|client)_/.test(name),
    ),
    metricsClaim('387', 'all metrics of windows', (name) => name.startsWith('window_')),
    metricsClaim('389', 'all metrics of patterns', (name) => name.startsWith('patterns_')),
    metricsClaim('391', 'all metrics of peers', (name) => name.startsWith('peer_')),
    metricsClaim(
      '393, 395',
      'metrics of the process, its disk, network and memory, of pressure where the kernel tells it, and of collections',
      (name) => /^(?:go|process)_/.test(name) && !(name.includes('pressure') && !hasPressure()),
    ),
    {
      lines: '393',
      says: 'the metrics of the process have names without the prefix, too',
      probe: async (lab) => {
        const { exposition } = await showing(lab);
        for (const name of ['process_resident_memory_bytes', 'process_open_fds', 'go_memstats_alloc_bytes'])
          expect(exposition.includes(`\n${name} `), `there is no ${name}`);
      },
    },
    {
      lines: '393',
      says: '`go_goroutines`',
      missing: '`go_*` names that mean nothing without a Go runtime do not exist',
      probe: async (lab) => {
        expect(!(await showing(lab)).exposition.includes('go_goroutines'), 'it exists');
      },
    },
    {
      lines: '163-164',
      says: '`-proc-root` and `-host-proc-root` name what the figures are read from; the second falls back to the first',
      probe: async (lab) => {
        const folder = await lab.folder();
        await mkdir(join(folder, 'proc'));
        await cp(join(packageRoot(), 'test/data/proc'), join(folder, 'proc'), { recursive: true });
        const [made, machine] = [await lab.site({ 'proc-root': join(folder, 'proc') }), await lab.site()];
        const memory = 'process_memory_total_bytes';
        const [of, here] = [await made.metric(memory), await machine.metric(memory)];
        expect(of !== here, `${of} bytes of memory with either root`);
      },
    },
    {
      lines: '286, 362',
      says: 'series of tenants and clients exist with `-metrics.export-sensitive-labels` only, so many of them, and the rest is `__overflow__`',
      probe: async (lab) => {
        const site = await lab.site({
          'metrics.export-sensitive-labels': 'true',
          'metrics.max-tenants': '2',
        });
        for (const id of ['1', '2', '3', '4']) await site.get('labels', {}, { 'x-scope-orgid': id });
        const { text } = await site.get('/metrics');
        const found = [...text.matchAll(/^ref_proxy_tenant_requests_total\{.*tenant="([^"]*)"/gm)].map(
          ([, name]) => name,
        );
        expect(found.includes('__overflow__') && !found.includes('4'), `the tenants are ${found.join()}`);
        const plain = await lab.site();
        await plain.get('labels', {}, { 'x-scope-orgid': '1' });
        expect(
          !/^ref_proxy_tenant_requests_total\{/m.test((await plain.get('/metrics')).text),
          'they exist without it',
        );
      },
    },
    ...fields.map(([line, names]): Claim => ({
      lines: line,
      says: `fields of the log: ${names.map((name) => `\`${name}\``).join(', ')}`,
      probe: async (lab) => {
        const { log } = await showing(lab);
        const found = new Set(log.flatMap((record) => [...record.keys()]));
        same(
          names.filter((name) => !found.has(name)),
          [],
          'fields that are missing',
        );
      },
    })),
    {
      lines: '352',
      says: '`cache.result` is `hit`, `miss` or `bypass`',
      probe: async (lab) => {
        const { log } = await showing(lab);
        const found = new Set(
          log.map((record) => record.get('cache.result')).filter((result) => result !== undefined),
        );
        same([...found].sort(), ['bypass', 'hit', 'miss'], 'the results');
      },
    },
    {
      lines: '346, 358',
      says: 'records of the components `proxy`, `cache_warmer` and, of pushes that fail, `otlp_metrics`',
      probe: async (lab) => {
        const site = await lab.site({
          'log-level': 'debug',
          'log-buffered': 'false',
          'labels-cache-warm': 'true',
          'otlp-endpoint': 'http://127.0.0.1:9',
          'otlp-interval': '1s',
        });
        await site.get('labels');
        for (const component of ['proxy', 'cache_warmer', 'otlp_metrics'])
          await until(component, () =>
            site.log.records.some((record) => record.get('component') === component),
          );
      },
    },
    {
      lines: '358',
      says: 'records of the cache on disk about its work',
      differs: 'The component `disk_cache` writes no records about its daily work',
      probe: async (lab) => {
        const { log } = await showing(lab);
        same(
          log
            .filter((record) => record.get('component') === 'disk_cache')
            .map((record) => record.get('body')),
          ['disk cache opened'],
          'its records',
        );
      },
    },
    {
      lines: '358',
      says: 'maps by type are written at debug level only',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 2, minuteMs));
        const site = await lab.site({ 'log-buffered': 'false', 'log-rate-threshold': '0' });
        await site.entries({ query: selector, ...lab.range(hourMs) });
        const record = await site.log.find((each) => each.get('ref.request.type') === 'query_range');
        same(
          byType.filter((name) => record.has(name)),
          [],
          'the maps',
        );
      },
    },
    {
      lines: '169, 173-176',
      says: '`-log-level` bounds what is written; above `-log-rate-threshold` requests are summed up every `-log-stats-interval`, errors are still written',
      probe: async (lab) => {
        const site = await lab.site({
          'log-buffered': 'false',
          'log-rate-threshold': '2',
          'log-stats-interval': '300ms',
        });
        for (let round = 0; round < 6; round += 1) {
          await Promise.all(Array.from({ length: 20 }, () => site.get('/alive')));
          await Promise.all(Array.from({ length: 5 }, () => site.get('labels')));
          await new Promise((resolve) => setTimeout(resolve, 120));
        }
        await site.get('query', { query: '{app=' });
        await site.log.find((each) => each.get('http.response.status_code') === 400);
        const written = site.log.records.filter((each) => each.get('ref.request.type') === 'labels').length;
        expect(written < 30, `all ${written} requests are written`);
        const quiet = await lab.site({
          'log-level': 'error',
          'log-buffered': 'false',
          'log-rate-threshold': '0',
        });
        await quiet.get('labels');
        same(
          quiet.log.records.filter((each) => each.get('severity.text') === 'INFO'),
          [],
          'INFO at level error',
        );
      },
    },
    {
      lines: '340',
      says: 'all that the process writes is JSON, warnings of its start too',
      probe: async (lab) => {
        const relay = await lab.relay();
        const flags = ['-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0', `-backend=${relay.url}`];
        const child = run(['serve', ...flags, '-tenant-map={"a":{"account_id":1,"project_id":0}}'], 'pipe');
        lab.later(() => child.kill('SIGKILL'));
        const written: string[] = [];
        for (const stream of [child.stdout, child.stderr])
          stream?.setEncoding('utf8').on('data', (text: string) => written.push(...text.split('\n')));
        await until('the start', () => written.some((line) => line.includes('"main":"http')));
        same(
          written.filter((line) => line !== '' && !line.startsWith('{')),
          [],
          'lines that are no JSON',
        );
      },
    },
    ...['', '/v1', '/v1/metrics'].map((path): Claim => ({
      lines: '19, 399',
      says: `an \`-otlp-endpoint\` ${path === '' ? 'without a path' : `with \`${path}\``} is pushed to at \`/v1/metrics\``,
      probe: async (lab) => {
        const pushed = await pushedBy(lab, { 'server.register-instrumentation': 'false' }, path);
        same(pushed.path, '/v1/metrics', 'the path');
      },
    })),
    {
      lines: '362, 399',
      says: 'pushes have the attributes of OpenTelemetry, headers and compression as they are set, and the resource of the flags',
      probe: async (lab) => {
        const pushed = await pushedBy(lab, {
          'otlp-compression': 'gzip',
          'otlp-headers': 'X-Key=abc',
          'otel-service-name': 'n',
          'otel-service-namespace': 'ns',
          'otel-service-instance-id': 'i',
          'deployment-environment': 'e',
        });
        same([pushed.headers['content-encoding'], pushed.headers['x-key']], ['gzip', 'abc'], 'headers');
        const resource = pushed.document.resourceMetrics[0]?.resource.attributes ?? [];
        for (const [key, value] of [
          ['service.name', 'n'],
          ['service.namespace', 'ns'],
          ['service.instance.id', 'i'],
          ['deployment.environment.name', 'e'],
        ])
          same(resource.find((each) => each.key === key)?.value, { stringValue: value }, key ?? '');
        const text = JSON.stringify(pushed.document);
        for (const key of [
          'ref.api.system',
          'proxy.direction',
          'ref.request.type',
          'http.route',
          'http.response.status_code',
        ])
          expect(text.includes(`"key":"${key}"`), `no attribute ${key}`);
      },
    },
    {
      lines: '360, 378, 391',
      says: '`response_tuple_mode_total` and `peer_cache_*` are in scrapes only',
      differs: 'The specification has `response_tuple_mode_total` and `peer_cache_*` in scrapes only',
      probe: async (lab) => {
        const pushed = await pushedBy(lab, {
          'peer-self': '127.0.0.1:1',
          'peer-discovery': 'static',
          'peer-static': '127.0.0.1:1',
          'peer-auth-token': 'secret',
        });
        expect(JSON.stringify(pushed.document).includes('ref_proxy_peer_cache_'), 'none is pushed');
      },
    },
  ],
};

function hasPressure(): boolean {
  try {
    readFileSync('/proc/pressure/cpu');
    return true;
  } catch {
    return false;
  }
}
