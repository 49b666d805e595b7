/**
 * The cost of the project's own code on hot paths compared to the library that it replaces; docs/libraries.md gives the reasons.
 * Nanoseconds per operation, the fastest of several alternating rounds.
 */
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Cacheable } from 'cacheable';
import got from 'got';
import { Counter, Histogram, Registry } from 'prom-client';
import { PackedMemory } from '../../core/cache/tiers.js';
import { systemClock } from '../../core/kernel/plugin/exchange.js';
import { MeterRegistry } from '../../core/kernel/telemetry/meters.js';
import { BackendConnections } from '../../core/victoria/upstream/connections.js';
import { note } from './report.js';

const rounds = 7;

interface Pair {
  readonly name: string;
  readonly times: number;
  /** Repeats the operation `times` times. */
  readonly own: (times: number) => unknown;
  readonly library: (times: number) => unknown;
}

export async function run(): Promise<void> {
  const answer = '{"status":"success","data":[]}';
  const server = createServer((_request, response) => response.end(answer));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening server has an address of this form.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agent = new Agent({ keepAlive: true });
  const connections = new BackendConnections(url, { tlsSkipVerify: false, max: 4, maxKept: 4 });
  console.log('operation                                         own ns   library ns   ratio');
  try {
    for (const pair of [...metricPairs(), cachePair(), callPair(url, agent, connections)])
      await compare(pair);
  } finally {
    connections.close();
    agent.destroy();
    server.closeAllConnections();
    server.close();
  }
}

async function compare({ name, times, own, library }: Pair): Promise<void> {
  const fastest = { own: Infinity, library: Infinity };
  for (let round = 0; round < rounds; round += 1) {
    fastest.own = Math.min(fastest.own, await nanoseconds(own, times));
    fastest.library = Math.min(fastest.library, await nanoseconds(library, times));
  }
  const ratio = fastest.own / fastest.library;
  const [ownNs, libraryNs] = [fastest.own, fastest.library].map((ns) => ns.toFixed(0).padStart(11));
  console.log(`${name.padEnd(45)}${ownNs}${libraryNs}   ${ratio.toFixed(3)}`);
  note('libraries', name, ratio);
}

async function nanoseconds(work: (times: number) => unknown, times: number): Promise<number> {
  const start = process.hrtime.bigint();
  await work(times);
  return Number(process.hrtime.bigint() - start) / times;
}

const labels = { endpoint: 'query_range', status: '200', tenant: 'fake' };
const names = ['endpoint', 'status', 'tenant'] as const;

function metricPairs(): readonly Pair[] {
  const registry = new Registry();
  const counter = new Counter({ name: 'c', help: 'c', labelNames: names, registers: [registry] });
  const histogram = new Histogram({ name: 'h', help: 'h', labelNames: names, registers: [registry] });
  const meters = new MeterRegistry().create({
    bench_requests_total: { type: 'counter', help: 'c', labels: names },
    bench_duration_seconds: { type: 'histogram', help: 'h', labels: names },
  });
  const repeat = (work: () => void) => (times: number) => {
    for (let left = times; left > 0; left -= 1) work();
  };
  return [
    {
      name: 'counter, labels looked up (prom-client)',
      times: 200_000,
      own: repeat(() => meters.bench_requests_total.add(1, labels)),
      library: repeat(() => counter.inc(labels, 1)),
    },
    {
      name: 'histogram, labels looked up (prom-client)',
      times: 200_000,
      own: repeat(() => meters.bench_duration_seconds.observe(0.02, labels)),
      library: repeat(() => histogram.observe(labels, 0.02)),
    },
  ];
}

/** A cache hit in memory. */
function cachePair(): Pair {
  const own = new PackedMemory({ maxEntries: 1, maxBytes: 1_000_000, clock: systemClock });
  own.set('key', { value: { packed: Buffer.from('x'), madeMs: 0, freshUntilMs: Infinity } }, 3_600_000);
  const library = new Cacheable();
  return {
    name: 'hit in memory (cacheable)',
    times: 50_000,
    own: (times) => {
      for (let left = times; left > 0; left -= 1) own.get('key');
    },
    library: async (times) => {
      await library.set('key', { body: 'x' });
      for (let left = times; left > 0; left -= 1) await library.get('key');
    },
  };
}

/** A small backend call over an open connection. */
function callPair(url: string, agent: Agent, connections: BackendConnections): Pair {
  const { signal } = new AbortController();
  return {
    name: 'small call over an open connection (got)',
    times: 1_000,
    own: async (times) => {
      for (let left = times; left > 0; left -= 1)
        await text(
          await connections.request({ method: 'GET', path: '/', headers: {}, body: undefined, signal }),
        );
    },
    library: async (times) => {
      const options = { agent: { http: agent }, retry: { limit: 0 }, throwHttpErrors: false, signal };
      for (let left = times; left > 0; left -= 1) await got(url, options).text();
    },
  };
}
