/**
 * `npm run dashboard`: a real Prometheus (`PROMETHEUS`, or one in the PATH) scrapes a demo under some load for a minute, then answers the
 * queries of each dashboard panel. Exits with 1 if Prometheus rejects a panel, and draws the others to `docs/images/dashboard.png`, because
 * Grafana is not part of the tests.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { packageRoot } from '../../core/kernel/options/index.js';
import { findProgram } from '../core/program/programs.js';
import { findChromium, launch } from './chromium.js';
import { freePort } from '../core/program/child.js';
import { startDemo } from './demo.js';

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
interface Series {
  readonly name: string;
  readonly points: readonly (readonly [seconds: number, value: number])[];
}
interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [number, string])[];
    }[];
  };
}

const loadSeconds = 75;
const scrapeSeconds = 2;
const rateInterval = '20s';
const queries = [
  '{service_name=~".+"} |= "error"',
  'sum by (service_name) (rate({service_name=~".+"}[5m]))',
  'sum by (status) (count_over_time({service_name=~".+"} | json | __error__="" [1m]))',
  '{service_name=',
];

async function main(): Promise<number> {
  const prometheus = findProgram('PROMETHEUS', 'prometheus');
  const chromium = findChromium();
  if (prometheus === undefined || chromium === undefined) {
    process.stdout.write('no Prometheus (PROMETHEUS) or no Chromium (CHROMIUM): nothing is drawn\n');
    return 0;
  }
  const [port, prometheusPort] = [await freePort(), await freePort()];
  const demo = await startDemo(undefined, [
    `-listen=127.0.0.1:${port}`,
    '-server.register-instrumentation=true',
  ]);
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  await writeFile(
    join(folder, 'prometheus.yml'),
    `global: { scrape_interval: ${scrapeSeconds}s }\nscrape_configs:\n  - job_name: ref-proxy\n    static_configs: [{ targets: ['127.0.0.1:${port}'] }]\n`,
  );
  const scraper = spawn(
    prometheus,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(scraper, 'exit');
  try {
    const startMs = Date.now();
    await load(`http://127.0.0.1:${port}`);
    const found = await panelsOf(`http://127.0.0.1:${prometheusPort}`, startMs);
    const browser = await launch(chromium);
    try {
      const page = await browser.newPage({ viewport: { width: 1200, height: 1500 } });
      await page.setContent(pageOf(found));
      await page.screenshot({ path: join(packageRoot(), 'docs/images/dashboard.png'), fullPage: true });
    } finally {
      await browser.close();
    }
    const drawn = found.filter(({ series }) => series.length > 0).length;
    process.stdout.write(
      `${found.length} panels asked, ${drawn} have data, ${found.length - drawn} have none in this run\n`,
    );
    return 0;
  } finally {
    scraper.kill('SIGTERM');
    await ended;
    await demo.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function load(url: string): Promise<void> {
  const endMs = Date.now() + loadSeconds * 1000;
  for (let at = 0; Date.now() < endMs; at += 1) {
    const query = queries[at % queries.length] ?? '';
    // Occasionally change the range, so that not everything comes from a cache.
    const start = String(Math.floor(Date.now() / 1000) - 600 - (at % 40) * 30);
    const params = new URLSearchParams({ query, start, limit: '50' }).toString();
    const { body } = await request(`${url}/loki/api/v1/query_range?${params}`);
    await body.dump();
    if (at % 5 === 0) await (await request(`${url}/loki/api/v1/labels`)).body.dump();
    await pause(60 + 60 * Math.sin(at / 40));
  }
}

interface Found {
  readonly panel: Panel;
  readonly series: readonly Series[];
}

async function panelsOf(prometheus: string, startMs: number): Promise<readonly Found[]> {
  const file = join(packageRoot(), 'examples/monitoring/dashboard.json');
  // This repository generates the file.
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { readonly panels: readonly Panel[] };
  const found: Found[] = [];
  for (const panel of panels) {
    const series: Series[] = [];
    for (const { expr, legendFormat } of panel.targets ?? []) {
      const query = expr
        .replaceAll('$__rate_interval', rateInterval)
        .replaceAll('$job', '.*')
        .replaceAll('$instance', '.*');
      const times = { start: String(startMs / 1000 + 15), end: String(Date.now() / 1000), step: '2' };
      const search = new URLSearchParams({ query, ...times }).toString();
      const { body } = await request(`${prometheus}/api/v1/query_range?${search}`);
      // The response comes from Prometheus.
      const answer = (await body.json()) as Answer;
      if (answer.status !== 'success') throw new Error(`${panel.title}: ${answer.error ?? ''}`);
      for (const { metric, values } of answer.data?.result ?? []) {
        const points = values
          .map(([seconds, value]) => [seconds, Number(value)] as const)
          .filter(([, value]) => Number.isFinite(value));
        const name = legendFormat.replace(
          /\{\{\s*(\w+)\s*\}\}/g,
          (_all, label: string) => metric[label] ?? '',
        );
        if (points.length > 0) series.push({ name, points });
      }
    }
    if (panel.type !== 'row') found.push({ panel, series });
  }
  return found;
}

const colours = ['#3266ad', '#c2571a', '#2e7d4f', '#8a3f9e', '#b0922b', '#4a8fa8', '#a83250', '#5d6b7a'];
const mostDrawn = colours.length;
/** The top of an axis whose values are all zero. */
const least = 1e-9;

function pageOf(all: readonly Found[]): string {
  const shown = all.filter(({ series }) => series.length > 0);
  return `<!doctype html><style>
    body { margin: 16px; font: 13px sans-serif; color: #1c2430; display: grid; grid-template-columns: repeat(4, 1fr); gap: 10px }
    figure { margin: 0; padding: 8px 10px; border: 1px solid #d5dae1; border-radius: 6px; grid-column: span 2 }
    figure.stat { grid-column: span 1 } figcaption { font-weight: 600 } b { font-size: 26px }
    ul { margin: 4px 0 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 2px 12px }
    svg { width: 100%; height: 110px }
  </style>${shown.map(figureOf).join('')}`;
}

function figureOf({ panel, series }: Found): string {
  const unit = panel.fieldConfig?.defaults.unit ?? '';
  const title = `<figcaption>${escaped(panel.title)}</figcaption>`;
  if (panel.type === 'stat')
    return `<figure class="stat">${title}<b>${shownValue(series[0]?.points.at(-1)?.[1] ?? 0, unit)}</b></figure>`;
  const drawn = [...series].sort((a, b) => meanOf(b) - meanOf(a)).slice(0, mostDrawn);
  const points = drawn.flatMap((one) => one.points);
  const from = Math.min(...points.map(([at]) => at));
  const to = Math.max(...points.map(([at]) => at));
  const top = Math.max(...points.map(([, value]) => value), least);
  const lines = drawn.map((one, at) => {
    const path = one.points.map(
      ([seconds, value]) =>
        `${((seconds - from) / Math.max(1, to - from)) * 560},${105 - (value / top) * 95}`,
    );
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colours[at] ?? ''}" stroke-width="1.5"/>`;
  });
  const legend = drawn.map(
    ({ name, points: own }, at) =>
      `<li style="color:${colours[at] ?? ''}">${escaped(name)} ${shownValue(own.at(-1)?.[1] ?? 0, unit)}</li>`,
  );
  return `<figure>${title}<svg viewBox="0 0 560 110" preserveAspectRatio="none"><path d="M0 105H560" stroke="#d5dae1"/>${lines.join('')}</svg><span>up to ${shownValue(top, unit)}</span><ul>${legend.join('')}</ul></figure>`;
}

function meanOf({ points }: Series): number {
  return points.reduce((sum, [, value]) => sum + value, 0) / points.length;
}

function shownValue(value: number, unit: string): string {
  if (value <= least) return '0';
  if (unit === 'percentunit') return `${(value * 100).toFixed(1)} %`;
  if (unit === 'bytes') return `${(value / 1024 / 1024).toFixed(1)} MiB`;
  if (unit === 's') return `${(value * 1000).toFixed(1)} ms`;
  return `${Number(value.toPrecision(3))}${unit === 'reqps' ? '/s' : ''}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

process.exitCode = await main();
