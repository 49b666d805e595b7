/**
 * Two workers compared to one process, alternating in one run: repeated requests, and new metric queries. Everything shares the CPUs,
 * including the load generator and the backend; BENCH_BACKEND names a backend to use instead of the embedded one, which is filled.
 */
import { Pool, request } from 'undici';
import { flood } from './children.js';
import type { FloodResult } from './flood.js';
import { startProgram, type RunningProgram } from './program.js';
import { note } from './report.js';
import { fillWithSamples } from './sample-logs.js';

const tenant = '902';
const rounds = 3;
const seconds = 4;
const connections = 32;
/** Connections for queries that reach the backend. */
const coldConnections = 8;
const lines = 20_000;
const kinds = ['one', 'two'] as const;
type Kind = (typeof kinds)[number];

interface Load {
  readonly name: string;
  run(port: number): Promise<FloodResult>;
}

export async function run(): Promise<void> {
  const own =
    process.env['BENCH_BACKEND'] === undefined
      ? await startProgram(['backend', '-listen=127.0.0.1:0'])
      : undefined;
  const backend = process.env['BENCH_BACKEND'] ?? own?.url ?? '';
  const serve = (workers: number): Promise<RunningProgram> =>
    startProgram([
      ...['serve', '-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0', `-backend=${backend}`],
      ...['-rate-limit-per-second=1000000', '-rate-limit-burst=1000000', `-workers=${workers}`],
    ]);
  const span = await fillWithSamples(backend, tenant, lines);
  const running = { one: await serve(1), two: await serve(2) };
  try {
    for (const load of loads(span)) {
      const best: Record<Kind, FloodResult> = { one: nothing, two: nothing };
      // The first round is a warm-up for both and does not count.
      for (let round = 0; round <= rounds; round += 1)
        for (const kind of round % 2 === 0 ? kinds : [...kinds].reverse()) {
          const result = await load.run(Number(new URL(running[kind].url).port));
          if (round > 0 && result.perSecond > best[kind].perSecond) best[kind] = result;
        }
      const [more, tail] = [best.two.perSecond / best.one.perSecond, best.two.p99Ms / best.one.p99Ms];
      console.log(
        `${load.name}: two workers ${shown(best.two)}; one process ${shown(best.one)}; ${more.toFixed(2)} times the requests, p99 ${tail.toFixed(2)} times`,
      );
      note('workers', `${load.name}: requests of two workers beside one process`, more);
      note('workers', `${load.name}: p99 of two workers beside one process`, tail);
    }
  } finally {
    await Promise.all([running.one.stop(), running.two.stop()]);
    await own?.stop();
  }
}

function loads(span: string): readonly Load[] {
  const api = '/loki/api/v1';
  const all = '{namespace=~".+"}';
  const query = (text: string): string => `query=${encodeURIComponent(text)}&${span}`;
  let asked = 0;
  const cold = (name: string, text: (word: string) => string): Load => ({
    name,
    run: (port) =>
      askEach(port, () => {
        asked += 1;
        return `${api}/query_range?${query(text(`no-${asked}`))}&step=60`;
      }),
  });
  return [
    {
      name: 'warm labels',
      run: (port) => repeated(port, `${api}/labels?${span}`),
    },
    { name: 'warm lines', run: (port) => repeated(port, `${api}/query_range?${query(all)}&limit=200`) },
    cold('cold rate', (word) => `sum(rate(${all} != "${word}" [1m]))`),
    cold('cold histogram', (word) => `sum by (detected_level) (count_over_time(${all} != "${word}" [1m]))`),
  ];
}

const nothing: FloodResult = { perSecond: 0, p50Ms: NaN, p99Ms: NaN };

function shown({ perSecond, p50Ms, p99Ms }: FloodResult): string {
  return `${perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;
}

/** Sends a different query each time over a few connections. */
async function askEach(port: number, pathOf: () => string): Promise<FloodResult> {
  // Not an Agent, as in test/overload/clients.ts.
  const dispatcher = new Pool(`http://127.0.0.1:${port}`, { connections: coldConnections, pipelining: 1 });
  const times: number[] = [];
  const startedAt = performance.now();
  const ask = async (): Promise<void> => {
    while (performance.now() - startedAt < seconds * 1000) {
      const askedAt = performance.now();
      const { statusCode, body } = await request(`http://127.0.0.1:${port}${pathOf()}`, {
        dispatcher,
        headers: { 'X-Scope-OrgID': tenant },
      });
      if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${await body.text()}`);
      await body.dump();
      times.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: coldConnections }, ask));
  const tookMs = performance.now() - startedAt;
  await dispatcher.close();
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? NaN;
  return { perSecond: times.length / (tookMs / 1000), p50Ms: at(0.5), p99Ms: at(0.99) };
}

function repeated(port: number, path: string): Promise<FloodResult> {
  return flood({ port, path, tenant, connections, seconds });
}
