/**
 * Five million rows that the proxy must evaluate itself: its memory, the latency of other requests meanwhile, and what happens to the work
 * when the client disconnects. `BACKEND_URL` names a real VictoriaLogs (tenant 2050:0 is filled if it is empty); by default an embedded
 * backend is filled. SOAK_ROWS changes the number of rows; SOAK_ONLY runs only the queries whose names start with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startProgram, type RunningProgram } from './program.js';
import { openRelay, type Relay } from './relay.js';
import { sampleBatches, sampleEndMs, sampleStartMs } from './sample-logs.js';
import { Probes, type Latencies } from './soak-probes.js';

const rows = Number(process.env['SOAK_ROWS'] ?? 5_000_000);
const only = process.env['SOAK_ONLY'] ?? '';
const account = { AccountID: '2050', ProjectID: '0' };
const tenantMap = JSON.stringify({ soak: { account_id: '2050', project_id: '0' } });
const orgId = { 'X-Scope-OrgID': 'soak' };
const calmSeconds = 5;
const cancelAfterMs = 6_000;

const range = { start: `${sampleStartMs}000000`, end: `${sampleEndMs}000000` };
const selector = '{service_name="gateway"}';
/** Lines are rewritten before they are filtered, so nothing can be pushed down to the backend. */
const rewritten = '| json | line_format "{{.method}} {{.path}} {{.status}}"';

interface Question {
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
}

const questions: readonly Question[] = [
  {
    name: 'count by status after line_format',
    params: {
      query: `sum by (status) (count_over_time(${selector} ${rewritten} |~ "items/[0-9]+" [5m]))`,
      step: '60s',
    },
  },
  {
    name: 'quantile of an unwrapped field',
    params: {
      query: `quantile_over_time(0.99, ${selector} ${rewritten} |~ "items/[0-9]+" | unwrap duration_ms [5m]) by ()`,
      step: '60s',
    },
  },
  {
    name: 'lines that pass no filter',
    params: { query: `${selector} ${rewritten} |= "no such path"`, limit: '100', direction: 'backward' },
  },
];

/** Prints the curve of each query and a summary table. */
export async function run(): Promise<void> {
  const external = process.env['BACKEND_URL'];
  const embedded =
    external === undefined
      ? await startProgram(['backend', '-listen=127.0.0.1:0', `-max-bytes=${rows * 2_000}`])
      : undefined;
  const backendUrl = external ?? embedded?.url ?? '';
  try {
    await fill(backendUrl);
    console.log(
      `${rows} rows of 65 streams over 6 h; ${external === undefined ? 'embedded backend' : 'VictoriaLogs'}`,
    );
    for (const question of questions.filter(({ name }) => name.startsWith(only))) {
      console.log(`\n-- ${question.name}: ${question.params['query'] ?? ''}`);
      const proxy = await startProxy(backendUrl);
      try {
        await measure(question, proxy);
      } finally {
        await proxy.stop();
      }
      await measureCancelled(question, backendUrl);
    }
  } finally {
    await embedded?.stop();
  }
}

function startProxy(backendUrl: string): Promise<RunningProgram> {
  return startProgram([
    'serve',
    '-listen=127.0.0.1:0',
    '-admin-listen=127.0.0.1:0',
    `-backend=${backendUrl}`,
    `-tenant-map=${tenantMap}`,
    '-rate-limit-per-second=0',
    '-manual-range-metric-row-limit=6000000',
    '-max-query-memory=536870912',
    '-backend-timeout=15m',
    '-http-write-timeout=15m',
  ]);
}

/** Runs the query while small requests continue, and watches memory. */
async function measure(question: Question, proxy: RunningProgram): Promise<void> {
  const calm = new Probes(proxy.url, orgId);
  await sleep(calmSeconds * 1_000);
  printLatencies('small requests before', await calm.end());
  const memory: number[] = [];
  const watch = setInterval(() => memory.push(proxy.memory().nowMiB), 1_000);
  const probes = new Probes(proxy.url, orgId);
  const startedAt = performance.now();
  const cpuBefore = proxy.cpuMs();
  try {
    const text = await ask(proxy.url, question, AbortSignal.timeout(900_000));
    const seconds = (performance.now() - startedAt) / 1_000;
    const cpuSeconds = (proxy.cpuMs() - cpuBefore) / 1_000;
    console.log(
      `answered in ${seconds.toFixed(1)} s (${Math.round(rows / seconds)} rows/s), ` +
        `${cpuSeconds.toFixed(1)} s of processor, ${text.length} bytes`,
    );
  } finally {
    clearInterval(watch);
  }
  printLatencies('small requests during', await probes.end());
  printMemory(memory, proxy.memory().peakMiB);
}

/** Sends the query and disconnects; then connections must close and the CPU must become idle. */
async function measureCancelled(question: Question, backendUrl: string): Promise<void> {
  const relay = await openRelay(backendUrl);
  const proxy = await startProxy(relay.url);
  try {
    await sleep(1_000);
    const controller = new AbortController();
    const asked = ask(proxy.url, question, controller.signal).then(
      () => 'answered',
      () => 'cancelled',
    );
    await sleep(cancelAfterMs);
    const busy = await share(proxy, 200);
    const during = { connections: relay.connections(), kilobytes: Math.round(relay.takeBytes() / 1_000) };
    controller.abort();
    const outcome = await asked;
    console.log(
      `${outcome} after ${cancelAfterMs} ms: until then ${during.kilobytes} KB from the backend over ${during.connections} connections, processor ${busy} %`,
    );
    for (let at = 250; at <= 1_500; at += 250) {
      console.log(`  ${at} ms later: ${await afterCancel(proxy, relay)}`);
    }
  } finally {
    await proxy.stop();
    relay.close();
  }
}

async function afterCancel(proxy: RunningProgram, relay: Relay): Promise<string> {
  const busy = await share(proxy, 250);
  return `processor ${busy} %, ${Math.round(relay.takeBytes() / 1_000)} KB from the backend, ${relay.connections()} connections`;
}

async function share(proxy: RunningProgram, ms: number): Promise<number> {
  const before = proxy.cpuMs();
  const startedAt = performance.now();
  await sleep(ms);
  return Math.round((100 * (proxy.cpuMs() - before)) / (performance.now() - startedAt));
}

async function ask(url: string, { params }: Question, signal: AbortSignal): Promise<string> {
  const answer = await fetch(new URL('/loki/api/v1/query_range', url), {
    method: 'POST',
    headers: orgId,
    body: new URLSearchParams({ ...params, ...range }),
    signal,
  });
  const text = await answer.text();
  if (answer.status !== 200)
    throw new Error(`the question was answered ${answer.status}: ${text.slice(0, 300)}`);
  return text;
}

function printLatencies(name: string, { count, failed, p50, p95, p99, max, slowest }: Latencies): void {
  const [a, b, c, d] = [p50, p95, p99, max].map((value) => value.toFixed(0));
  console.log(
    `${name}: ${count} asked, ${failed} failed; p50 ${a}, p95 ${b}, p99 ${c}, max ${d} ms (${slowest})`,
  );
}

const bars = '▁▂▃▄▅▆▇█';

function printMemory(memory: readonly number[], peakMiB: number): void {
  if (memory.length === 0) return;
  const most = Math.max(...memory);
  const curve = memory.filter((_value, second) => second % 5 === 0);
  const bar = (value: number): string =>
    bars[Math.min(bars.length - 1, Math.floor((value / most) * bars.length))] ?? '';
  console.log(`memory each 5 s, MiB: ${curve.join(' ')}  ${memory.map(bar).join('')}`);
  const second = memory.slice(Math.floor(memory.length / 2));
  console.log(`second half ${Math.min(...second)} to ${Math.max(...second)} MiB, peak ${peakMiB} MiB`);
}

async function fill(url: string): Promise<void> {
  const known = await countRows(url);
  if (known > 0 && known !== rows) throw new Error(`the tenant holds ${known} rows, and not ${rows}`);
  if (known > 0) return;
  const startedAt = performance.now();
  for (const streams of sampleBatches(rows, 'gateway')) {
    const answer = await fetch(new URL('/insert/loki/api/v1/push?disable_message_parsing=1', url), {
      method: 'POST',
      headers: { ...account, 'Content-Type': 'application/json' },
      body: JSON.stringify({ streams }),
    });
    if (answer.status >= 300) throw new Error(`push was answered ${answer.status}: ${await answer.text()}`);
  }
  while ((await countRows(url)) < rows) await sleep(500);
  console.log(`filled in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
}

async function countRows(url: string): Promise<number> {
  const answer = await fetch(new URL('/select/logsql/query', url), {
    method: 'POST',
    headers: account,
    body: new URLSearchParams({ query: '* | stats count() c' }),
  });
  return Number(/"c":"(\d+)"/.exec(await answer.text())?.[1] ?? 0);
}
