/**
 * The `mirror` stage under load: sends the same queries to a proxy without a mirror, with a mirror that responds, with one that accepts
 * requests but never responds, and with one that is down, alternating in one run. The mirror that responds replays the proxy's own first
 * response, so that the whole cost is the proxy's.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mirroringPipeline, shippedPipeline } from '../watch/mirroring.js';
import { Random } from '../watch/random.js';
import { quantile } from './asking.js';
import { startProgram, type RunningProgram } from './program.js';
import { note } from './report.js';
import { fillWithSamples, sampleEndMs, sampleStartMs } from './sample-logs.js';

const tenant = '902';
const lines = 50_000;
const rounds = 4;
const clients = 4;
/** The default of `-mirror-rate`. */
const usualRate = 5;
const secondsEach = Number(process.env['MIRROR_SECONDS'] ?? 6);

interface Setup {
  readonly name: string;
  readonly proxy: RunningProgram;
  readonly timesMs: number[];
}

export async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  const backend = await startProgram(['backend', '-listen=127.0.0.1:0']);
  const silent = await listening(createServer(() => undefined));
  const gone = await listening(createServer());
  gone.server.close();
  const plain = await startProgram(serveArguments(backend.url, shippedPipeline));
  const answering = await listening(repeating(plain.url));
  const setups: Setup[] = [{ name: 'no mirror', proxy: plain, timesMs: [] }];
  try {
    await fillWithSamples(backend.url, tenant, lines);
    for (const [name, url, rate] of [
      ['a mirror that answers', answering.url, usualRate],
      ['a mirror that answers, at ten times the rate', answering.url, 10 * usualRate],
      ['a mirror that is silent', silent.url, usualRate],
      ['a mirror that is gone', gone.url, usualRate],
    ] as const) {
      const file = join(folder, `${String(setups.length)}.yaml`);
      await writeFile(file, await mirroringPipeline({ url, percent: 100, rate }));
      setups.push({ name, proxy: await startProgram(serveArguments(backend.url, file)), timesMs: [] });
    }
    // The first round is a warm-up and does not count.
    for (let round = 0; round <= rounds; round += 1)
      for (const { proxy, timesMs } of setups) {
        const times = await load(proxy.url, round);
        if (round > 0) timesMs.push(...times);
      }
    for (const { name, proxy, timesMs } of setups) await show(name, proxy, timesMs, setups[0]?.timesMs ?? []);
  } finally {
    for (const { server } of [silent, answering]) {
      server.closeAllConnections();
      server.close();
    }
    await Promise.all([...setups.map(({ proxy }) => proxy.stop()), backend.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}

async function show(
  name: string,
  proxy: RunningProgram,
  timesMs: readonly number[],
  plainMs: readonly number[],
): Promise<void> {
  const [p50, p99] = [
    quantile(timesMs, 0.5) / quantile(plainMs, 0.5),
    quantile(timesMs, 0.99) / quantile(plainMs, 0.99),
  ];
  const metrics = await (await fetch(`${proxy.url}/metrics`)).text();
  const counts = metrics.match(/^ref_proxy_mirror_(?:requests|not_sent)_total\{.*$/gm) ?? [];
  console.log(
    `${name}: ${String(timesMs.length)} answers, p50 ${quantile(timesMs, 0.5).toFixed(1)} ms (${p50.toFixed(2)} times), ` +
      `p99 ${quantile(timesMs, 0.99).toFixed(1)} ms (${p99.toFixed(2)} times), resident ${String(proxy.memory().nowMiB)} MiB` +
      counts.map((count) => `\n  ${count}`).join(''),
  );
  if (timesMs === plainMs) return;
  note('mirror', `${name}: p50`, p50);
  note('mirror', `${name}: p99`, p99);
}

/** Runs all clients for some seconds with the same queries for each setup; most of the queries are new. */
async function load(url: string, round: number): Promise<readonly number[]> {
  const timesMs: number[] = [];
  const endMs = performance.now() + secondsEach * 1_000;
  const client = async (seed: number): Promise<void> => {
    const random = new Random(seed);
    while (performance.now() < endMs) {
      const startedMs = performance.now();
      const answer = await fetch(url + pathOf(random), { headers: { 'X-Scope-OrgID': tenant } });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`a query was answered ${String(answer.status)}`);
      timesMs.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(round * clients + index + 1)));
  return timesMs;
}

function pathOf(random: Random): string {
  const minutes = (sampleEndMs - sampleStartMs) / 60_000;
  const startMs = sampleStartMs + random.below(minutes - 30) * 60_000;
  const query = random.pick([
    '{namespace=~".+"}',
    '{namespace=~".+"} |= "error"',
    'sum by (service_name) (count_over_time({namespace=~".+"}[1m]))',
  ]);
  const params = {
    query,
    start: String(startMs * 1e6),
    end: String((startMs + 1_800_000) * 1e6),
    limit: '100',
  };
  return `/loki/api/v1/query_range?${new URLSearchParams(params).toString()}`;
}

function serveArguments(backend: string, file: string): readonly string[] {
  return [
    ...[
      'serve',
      `-pipeline=${file}`,
      '-listen=127.0.0.1:0',
      '-admin-listen=127.0.0.1:0',
      `-backend=${backend}`,
    ],
    ...['-rate-limit-per-second=0', '-server.register-instrumentation=true'],
  ];
}

/** A fake Loki that forwards each new request to another server and replays known responses from memory. */
function repeating(url: string): Server {
  const known = new Map<string, string>();
  return createServer((incoming, response) => {
    const path = incoming.url ?? '/';
    const headers = { 'X-Scope-OrgID': tenant };
    const told = known.get(path);
    const answer = told ?? fetch(url + path, { headers }).then((other) => other.text());
    void Promise.resolve(answer).then((body) => {
      if (known.size < 2_000) known.set(path, body);
      response.setHeader('content-type', 'application/json').end(body);
    });
  });
}

async function listening(server: Server): Promise<{ readonly server: Server; readonly url: string }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}
