import { setTimeout as sleep } from 'node:timers/promises';
import { startProgram, type RunningProgram } from '../bench/program.js';
import { Bystanders } from './bystanders.js';
import { Clients } from './clients.js';
import { load } from './data.js';
import { mix, smallRequest } from './mix.js';
import type { Findings } from './report.js';
import { Sample } from './sample.js';

export interface OverloadSettings {
  readonly floodSeconds: number;
  /** Duration of each capacity measurement; the unloaded times take four times as long, or a tenth of the flood. */
  readonly measureSeconds: number;
  /** An initial burst is absorbed without rejections; the measurement of the flood starts after it. */
  readonly settleSeconds: number;
  readonly rows: number;
  readonly idle: number;
  readonly tails: number;
  readonly slow: number;
  readonly seed: number;
  /** An empty backend to use instead of the embedded one. */
  readonly backendUrl: string | undefined;
  /** Additional flags of the proxy. */
  readonly flags: readonly string[];
  readonly print: (line: string) => void;
}

const [flooding, calm] = ['1', '2'] as const;
const timesCapacity = 2;
/** Low enough that the requests do not affect each other. */
const unloadedShare = 0.1;
const workers = [4, 8, 16];
/** A share of the capacity, far below the fair share of one of two tenants. */
const smallShare = 0.05;

/** The proxy's backend: the embedded one in a separate process, or an empty one that already runs. */
type Backend = Pick<RunningProgram, 'url' | 'stop'> & Partial<Pick<RunningProgram, 'cpuMs'>>;

/** Overloads a proxy and its backend, each in a separate process. */
export async function overload(settings: OverloadSettings): Promise<Findings> {
  const backend: Backend =
    settings.backendUrl === undefined
      ? await startProgram(['backend', '-listen=127.0.0.1:0'])
      : { url: settings.backendUrl, stop: () => Promise.resolve() };
  try {
    const endMs = Date.now();
    await load(backend.url, flooding, settings.rows, endMs);
    await load(backend.url, calm, Math.ceil(settings.rows / 10), endMs);
    const proxy = await startProgram([
      'serve',
      '-listen=127.0.0.1:0',
      '-admin-listen=127.0.0.1:0',
      `-backend=${backend.url}`,
      // The clients of a run share few addresses, and the rate limit is not under test.
      '-rate-limit-per-second=0',
      '-tail.max-open=1000',
      '-server.register-instrumentation=true',
      ...settings.flags,
    ]);
    try {
      return await ask(proxy, backend, endMs, settings);
    } finally {
      await proxy.stop();
    }
  } finally {
    await backend.stop();
  }
}

async function ask(
  proxy: RunningProgram,
  backend: Backend,
  endMs: number,
  settings: OverloadSettings,
): Promise<Findings> {
  const { url } = proxy;
  const { seed, print, measureSeconds, settleSeconds, floodSeconds } = settings;
  const bystanders = await Bystanders.open({ ...settings, url, tenant: flooding, endMs });
  const many = new Clients({ url, tenant: flooding, kinds: mix, endMs, seed, addresses: 20, net: 1 });
  const few = new Clients({ url, tenant: calm, kinds: [smallRequest], endMs, seed, addresses: 1, net: 2 });
  try {
    await sleep(settleSeconds * 1000);
    print(`beside ${counted(bystanders)}; ${memory(proxy)}`);
    const capacity = await capacityOf(many, { proxy, backend }, measureSeconds, print);
    await sleep(settleSeconds * 1000);
    const unloaded = new Sample();
    await many.openLoop(capacity * unloadedShare, Math.max(measureSeconds * 4, floodSeconds / 10), unloaded);
    const asked = capacity * timesCapacity;
    print(`flood of ${asked.toFixed(0)} requests/s`);
    const [settling, flood, other] = [new Sample(), new Sample(), new Sample()];
    let isOver = false;
    const watch = watchProxy(proxy, print, () => isOver);
    await Promise.all([
      many.openLoop(asked, settleSeconds, settling),
      few.openLoop(capacity * smallShare, settleSeconds, new Sample()),
    ]);
    const before = await loopDelays(url);
    await Promise.all([
      many.openLoop(asked, floodSeconds, flood),
      few.openLoop(capacity * smallShare, floodSeconds, other),
    ]);
    isOver = true;
    await watch;
    print(`afterwards ${counted(bystanders)}; ${memory(proxy)}`);
    return { capacity, asked, unloaded, flood, other, loopDelayMs: largest(before, await loopDelays(url)) };
  } finally {
    bystanders.close();
    await Promise.all([many.close(), few.close()]);
  }
}

/** The maximum number of responses per second with a few concurrent clients. */
async function capacityOf(
  clients: Clients,
  programs: Readonly<Record<string, Partial<Pick<RunningProgram, 'cpuMs'>>>>,
  seconds: number,
  print: (line: string) => void,
): Promise<number> {
  await clients.closedLoop(4, seconds, new Sample());
  let most = 0;
  for (const count of workers) {
    const sample = new Sample();
    const watched = Object.entries(programs).map(([name, { cpuMs }]) => ({
      name,
      cpuMs,
      before: cpuMs?.() ?? 0,
    }));
    await clients.closedLoop(count, seconds, sample);
    const answers = sample.admitted.length;
    const perSecond = answers / seconds;
    const times = watched.flatMap(({ name, cpuMs, before }) =>
      cpuMs === undefined ? [] : [`${name} ${((cpuMs() - before) / answers).toFixed(1)} ms`],
    );
    print(`${count} at once: ${perSecond.toFixed(0)} requests/s; processor time of one: ${times.join(', ')}`);
    most = Math.max(most, perSecond);
  }
  return most;
}

const watchEveryMs = 10_000;

/** Prints the state of the proxy regularly. */
async function watchProxy(
  proxy: RunningProgram,
  print: (line: string) => void,
  isOver: () => boolean,
): Promise<void> {
  for (let at = 0; !isOver(); at += 1) {
    await sleep(500);
    if (at % (watchEveryMs / 500) !== 0) continue;
    const text = await metrics(proxy.url);
    const figures = ['limit', 'in_flight', 'waiting'].map(
      (name) => `${name} ${valueOf(text, `ref_proxy_guard_${name}`)}`,
    );
    print(
      `${figures.join(', ')}; ${memory(proxy)}, heap ${Math.round(valueOf(text, 'ref_proxy_process_heap_bytes') / 2 ** 20)} MiB`,
    );
  }
}

async function metrics(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

function valueOf(text: string, name: string): number {
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1) ?? NaN,
  );
}

type Buckets = ReadonlyMap<number, number>;

async function loopDelays(url: string): Promise<Buckets> {
  const bucket = /^ref_proxy_guard_loop_delay_seconds_bucket\{le="([^"]+)"[^}]*\} (\d+)/gm;
  const found = (await metrics(url)).matchAll(bucket);
  return new Map(
    [...found].map(([, bound, count]) => [Number(bound?.replace('+Inf', 'Infinity')), Number(count)]),
  );
}

/** The upper bound of all delays in a period. */
function largest(before: Buckets, after: Buckets): number {
  const grown = [...after].map(([bound, count]) => ({ bound, count: count - (before.get(bound) ?? 0) }));
  const all = Math.max(0, ...grown.map(({ count }) => count));
  return 1000 * Math.min(Infinity, ...grown.filter(({ count }) => count === all).map(({ bound }) => bound));
}

function counted(bystanders: Bystanders): string {
  const { idle, tails, slow } = bystanders.count();
  return `${idle} idle connections, ${tails} tails, ${slow} slow readers`;
}

function memory(proxy: RunningProgram): string {
  const { nowMiB, peakMiB } = proxy.memory();
  return `resident ${nowMiB} MiB, at most ${peakMiB} MiB`;
}
