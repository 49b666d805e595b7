/**
 * Scrapes of a proxy by real scrapers (`PROMETHEUS`, `VICTORIA_METRICS`, or those in the PATH), compared with the results of their own
 * query API.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { request, type Dispatcher } from 'undici';
import { withProxyFile } from '../../../../core/testing/index.js';
import { freePort, minimalPipeline } from '../../program/child.js';
import { findProgram } from '../../program/programs.js';

interface Scraper {
  readonly name: string;
  readonly variable: string;
  readonly program: string;
  readonly args: (config: string, data: string, listen: string) => readonly string[];
  /** Requested before a query if recent samples become visible only later. */
  readonly flush?: string;
}

const scrapers: readonly Scraper[] = [
  {
    name: 'Prometheus',
    variable: 'PROMETHEUS',
    program: 'prometheus',
    args: (config, data, listen) => [
      `--config.file=${config}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=${listen}`,
    ],
  },
  {
    name: 'VictoriaMetrics',
    variable: 'VICTORIA_METRICS',
    program: 'victoria-metrics',
    args: (config, data, listen) => [
      `-promscrape.config=${config}`,
      `-storageDataPath=${data}`,
      `-httpListenAddr=${listen}`,
      // Responses include the most recent samples.
      '-search.latencyOffset=0s',
      '-search.disableCache',
      '-memory.allowedBytes=64MiB',
    ],
    flush: '/internal/force_flush',
  },
];

/** Series that do not change without requests: a counter, and the buckets, sum and count of a histogram. */
const asked = [
  'ref_proxy_requests_total{endpoint!="metrics",route!="/metrics"}',
  'ref_proxy_request_duration_seconds_bucket{route="/loki/api/v1/labels"}',
  'ref_proxy_request_duration_seconds_sum{route="/loki/api/v1/labels"}',
  'ref_proxy_request_duration_seconds_count{route="/loki/api/v1/labels"}',
];
const labelRequests = 3;

for (const { name, variable, program, args, flush } of scrapers) {
  const found = findProgram(variable, program);
  if (found === undefined)
    console.log(`no ${program} in the PATH and no ${variable}: ${name} does not scrape a proxy in the tests`);
  const withScraper = found === undefined ? test.skip : test;
  withScraper(`what ${name} has scraped is what a proxy has counted`, async (t) => {
    // Polls a scraper until it accepts what it has read; the timeout of the test ends it otherwise.
    t.timeout(300_000);
    const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
    const flags = {
      backend: 'http://127.0.0.1:9',
      'server.register-instrumentation': 'true',
      // The test scrapes in parallel with the scraper.
      'server.metrics-max-concurrency': '0',
    };
    const use = async ({ url }: { readonly url: string }): Promise<void> => {
      for (let times = 0; times < labelRequests; times += 1)
        await (await request(`${url}/loki/api/v1/labels`)).body.dump();
      await (await request(`${url}/loki/api/v1/query?query=%7B`)).body.dump();
      const before = samplesOf(await (await request(`${url}/metrics`)).body.text());
      const config = join(folder, 'scrape.yml');
      await writeFile(
        config,
        // JSON is YAML.
        JSON.stringify({
          // Also the timeout of a scrape: series disappear after a scrape that takes longer.
          global: { scrape_interval: '5s' },
          scrape_configs: [{ job_name: 'ref-proxy', static_configs: [{ targets: [new URL(url).host] }] }],
        }),
      );
      const listen = `127.0.0.1:${await freePort()}`;
      const child = spawn(found ?? '', args(config, join(folder, 'data'), listen), { stdio: 'ignore' });
      const ended = once(child, 'exit');
      const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
      try {
        const api = `http://${listen}/api/v1/query`;
        while ((await query(api, 'up{job="ref-proxy"}')).get('') !== 1) {
          if (!isRunning()) throw new Error(`${program} ended`);
          await pause(100);
          if (flush !== undefined) await request(`http://${listen}${flush}`).then(dump, () => undefined);
        }
        const own = samplesOf(await (await request(`${url}/metrics`)).body.text());
        for (const expression of asked) {
          const scraped = await query(api, expression);
          const [metric = ''] = expression.split('{');
          t.true(scraped.size > 0, expression);
          for (const [series, value] of scraped) {
            const counted = own.get(`${metric}${series}`) ?? NaN;
            // VictoriaMetrics keeps about twelve digits.
            t.true(Math.abs(value - counted) <= counted * 1e-9, `${series}: ${value}, ${counted}`);
          }
        }
        const count = await query(api, asked[3] ?? '');
        t.deepEqual([...count.values()], [labelRequests]);
        const median = await query(
          api,
          'histogram_quantile(0.5, sum by (le) (ref_proxy_request_duration_seconds_bucket))',
        );
        t.true((median.get('') ?? NaN) > 0);
        // Every line of the text was accepted.
        const samples = await query(api, 'scrape_samples_scraped{job="ref-proxy"}');
        t.true((samples.get('') ?? NaN) >= before.size, `${samples.get('')}, ${before.size}`);
      } finally {
        // Its data is thrown away.
        child.kill('SIGKILL');
        await ended;
      }
    };
    try {
      await withProxyFile(minimalPipeline, use, { flags });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

function dump({ body }: Dispatcher.ResponseData): Promise<void> {
  return body.dump();
}

type Samples = ReadonlyMap<string, number>;

/**
 * The result of an instant query: values by labels, without labels that the scraper adds. Empty as long as no server listens at the
 * address.
 */
async function query(api: string, expression: string): Promise<Samples> {
  const answer = await request(`${api}?query=${encodeURIComponent(expression)}`).catch(() => undefined);
  if (answer === undefined) return new Map();
  const text = await answer.body.text();
  if (answer.statusCode !== 200) return new Map();
  // The format of the scraper's API.
  const { data } = JSON.parse(text) as {
    readonly data: {
      readonly result: readonly {
        readonly metric: Readonly<Record<string, string>>;
        readonly value: readonly [number, string];
      }[];
    };
  };
  return new Map(data.result.map(({ metric, value }) => [labelsText(metric), Number(value[1])]));
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const own = Object.entries(labels).filter(([name]) => !['__name__', 'job', 'instance'].includes(name));
  // Prometheus writes the bound 1 as 1.0.
  const text = own
    .map(([name, value]) => `${name}="${name === 'le' ? Number(value.replace('+Inf', 'Infinity')) : value}"`)
    .sort();
  return text.length === 0 ? '' : `{${text.join(',')}}`;
}

/** The samples of a scrape. */
function samplesOf(text: string): Samples {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const all = Array.from(labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, label, text]) => [label, text]);
    samples.set(name + labelsText(Object.fromEntries(all) as Record<string, string>), Number(value));
  }
  return samples;
}
