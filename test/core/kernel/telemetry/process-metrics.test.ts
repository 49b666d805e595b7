/** Metrics of the process and its machine, as a scrape returns them. */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { request } from 'undici';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { processMetrics } from '../../../../core/kernel/telemetry/process-metrics.js';
import { withProxyFile, type LogRecord, type ProxyUnderTest } from '../../../../core/testing/index.js';
import { minimalPipeline } from '../../program/child.js';

const recorded = join(packageRoot(), 'test/data/proc');

async function scrape(url: string): Promise<string> {
  return (await request(`${url}/metrics`)).body.text();
}

function proxyOf(
  flags: Readonly<Record<string, string>>,
  use: (under: ProxyUnderTest) => Promise<void>,
): Promise<void> {
  return withProxyFile(minimalPipeline, use, {
    flags: {
      backend: 'http://127.0.0.1:9',
      'server.register-instrumentation': 'true',
      'log-buffered': 'false',
      ...flags,
    },
  });
}

/** A copy of the recorded proc folder, which tests may change. */
async function withProc(use: (root: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'ref-proxy-proc-'));
  try {
    await cp(recorded, root, { recursive: true });
    // Git does not store these files well, because their names are descriptor numbers.
    await mkdir(join(root, 'self/fd'));
    for (const descriptor of ['0', '1', '2', '17']) await writeFile(join(root, 'self/fd', descriptor), '');
    await use(root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function isAboutFigures(record: LogRecord): boolean {
  return String(record.get('body')).startsWith('system metrics are missing');
}

/** The samples of a metric, named without the prefix: values by the text between name and value. */
function samplesOf(text: string, name: string): Readonly<Record<string, number>> {
  const lines = text.matchAll(new RegExp(`^ref_proxy_${name}(\\{[^}]*\\})? (\\S+)$`, 'gm'));
  return Object.fromEntries([...lines].map(([, labels = '', value]) => [labels, Number(value)]));
}

test.serial('figures of the system come from -proc-root', async (t) => {
  await withProc(async (root) => {
    await proxyOf({ 'proc-root': root }, async ({ url, log }) => {
      const text = await scrape(url);
      const only = (name: string): number | undefined => samplesOf(text, name)[''];
      t.is(only('process_open_fds'), 4);
      t.is(only('process_max_fds'), 4_096);
      t.is(only('process_disk_read_bytes_total'), 4096);
      t.is(only('process_disk_written_bytes_total'), 8192);
      t.is(only('process_disk_read_operations_total'), 33);
      t.is(only('process_disk_write_operations_total'), 44);
      t.is(only('process_network_receive_bytes_total'), 1_000 + 30);
      t.is(only('process_network_transmit_bytes_total'), 2_000 + 40);
      t.is(only('process_memory_total_bytes'), 8_000_000 * 1024);
      t.is(only('process_memory_free_bytes'), 1_000_000 * 1024);
      t.is(only('process_memory_available_bytes'), 6_000_000 * 1024);
      t.is(only('process_memory_usage_ratio'), 0.25);
      t.deepEqual(samplesOf(text, 'process_pressure_memory_full_ratio'), {
        '{window="10s"}': 0.015,
        '{window="60s"}': 0.02,
        '{window="300s"}': 0.0025,
      });
      t.deepEqual(samplesOf(text, 'process_pressure_io_some_ratio')['{window="10s"}'], 0.5);
      t.deepEqual(samplesOf(text, 'process_pressure_cpu_full_ratio'), {}, 'its kernel does not tell');
      t.deepEqual(samplesOf(text, 'process_cpu_usage_ratio'), {}, 'of one reading there is no ratio');
      t.deepEqual(log.records.filter(isAboutFigures), []);
    });
  });
});

test.serial('ratios of processor time are those between two scrapes', async (t) => {
  await withProc(async (root) => {
    await proxyOf({ 'proc-root': root }, async ({ url }) => {
      await writeFile(join(root, 'stat'), 'cpu  1200 100 250 8300 140 10 10 90 0 0\n');
      const expected = { '{mode="user"}': 0.2, '{mode="system"}': 0.06, '{mode="iowait"}': 0.04 };
      t.deepEqual(samplesOf(await scrape(url), 'process_cpu_usage_ratio'), expected);
      await writeFile(join(root, 'stat'), 'cpu  1299 100 250 8300 140 10 10 90 0 0\n');
      t.deepEqual(samplesOf(await scrape(url), 'process_cpu_usage_ratio'), expected, 'too short a time');
    });
  });
});

test.serial(
  'figures of the machine come from -host-proc-root, or PROC_ROOT where that is not set',
  async (t) => {
    await withProc(async (root) => {
      const totalOf = async (url: string): Promise<number | undefined> =>
        samplesOf(await scrape(url), 'process_memory_total_bytes')[''];
      await proxyOf({ 'host-proc-root': root }, async ({ url }) => {
        const text = await scrape(url);
        t.is(samplesOf(text, 'process_memory_total_bytes')[''], 8_000_000 * 1024);
        t.not(samplesOf(text, 'process_open_fds')[''], 4, 'those of the process are its own');
      });
      const flags = { backend: 'http://127.0.0.1:9', 'server.register-instrumentation': 'true' };
      await withProxyFile(minimalPipeline, async ({ url }) => t.is(await totalOf(url), 8_000_000 * 1024), {
        flags,
        env: { PROC_ROOT: root },
      });
    });
  },
);

test.serial(
  'proc folders that are not there, or are none, are told at the start, and their figures left out',
  async (t) => {
    await withProc(async (root) => {
      await writeFile(join(root, 'meminfo'), 'no such form\n');
      const flags = { 'proc-root': join(root, 'missing'), 'host-proc-root': root };
      await proxyOf(flags, async ({ url, log }) => {
        const warnings = log.records.filter(isAboutFigures);
        t.deepEqual(
          warnings.map((record) => [record.get('body'), record.get('proc.root'), record.get('proc.files')]),
          [
            [
              'system metrics are missing: cannot read -proc-root',
              join(root, 'missing'),
              ['self/fd', 'self/limits', 'self/io', 'self/net/dev'],
            ],
            ['system metrics are missing: cannot read -host-proc-root', root, ['meminfo']],
          ],
        );
        t.true(String(warnings[0]?.get('error.message')).includes('ENOENT'));
        const text = await scrape(url);
        for (const name of [
          'process_open_fds',
          'process_max_fds',
          'process_disk_read_bytes_total',
          'process_memory_total_bytes',
        ])
          t.deepEqual(samplesOf(text, name), {}, name);
        t.true((samplesOf(text, 'process_resident_memory_bytes')[''] ?? 0) > 0);
      });
    });
  },
);

test.serial(
  'every figure of the process that is documented is exposed, with and without the prefix',
  async (t) => {
    await proxyOf({}, async ({ url }) => {
      const text = await scrape(url);
      for (const [name, { type }] of Object.entries(processMetrics()))
        for (const prefix of ['ref_proxy_', ''])
          t.true(text.includes(`# TYPE ${prefix}${name} ${type}\n`), prefix + name);
    });
  },
);

test.serial(
  'processor time is a counter, and tells what the process has used however often it is read',
  async (t) => {
    await proxyOf({}, async ({ url }) => {
      await scrape(url);
      const text = await scrape(url);
      const { user, system } = process.cpuUsage();
      const shown = samplesOf(text, 'process_cpu_seconds_total')[''] ?? 0;
      t.true(shown > 0 && shown <= (user + system) / 1e6);
    });
  },
);

test.serial('the heap and the pauses of its collector are those of V8', async (t) => {
  await proxyOf({}, async ({ url }) => {
    // Allocates young objects until the collector has run.
    for (let text = ''; !/^ref_proxy_go_gc_cycles_total [1-9]/m.test(text); text = await scrape(url))
      JSON.stringify(Array.from({ length: 100_000 }, (_, at) => ({ at })));
    const text = await scrape(url);
    t.true((samplesOf(text, 'go_gc_duration_seconds_count')[''] ?? 0) >= 1);
    const bytesOf = (what: string): number => samplesOf(text, `go_memstats_${what}_bytes`)[''] ?? 0;
    t.true(bytesOf('alloc') > 0 && bytesOf('alloc') < bytesOf('sys'));
    t.true(bytesOf('heap_inuse') + bytesOf('heap_idle') >= bytesOf('heap_sys'));
  });
});
