import { ask, nonce, quantile, serveArguments, tenantHeader, type Account } from './asking.js';
import { fillAccount, type PushedStream } from './fill.js';
import { openRelay } from './relay.js';
import { cpuMsOf, startProgram, type RunningProgram } from './program.js';
import { note } from './report.js';

/** A query in LogQL for the proxy and in LogsQL for the backend. `{nonce}`, `{start}` and `{end}` in its parameters are filled in. */
export interface Shape {
  readonly name: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly directPath: string;
  readonly direct: Readonly<Record<string, string>>;
}

/** Logs, and the queries over them. */
export interface DataSet {
  /** The name of the benchmark. */
  readonly name: string;
  readonly summary: string;
  /** The VictoriaLogs account, which is filled if it is empty. */
  readonly account: string;
  readonly lines: number;
  readonly batches: () => Iterable<readonly PushedStream[]>;
  readonly startMs: number;
  readonly endMs: number;
  readonly shapes: readonly Shape[];
  readonly rounds: number;
  /** Number of warm-up rounds per query on both sides, which do not count. */
  readonly warmRounds: number;
  /** Number of concurrent requests. */
  readonly atOnce: number;
}

/**
 * Sends the same queries to the proxy and directly to its backend, alternating, and prints ratios. `BACKEND_URL` names a VictoriaLogs,
 * `BACKEND_PID` its process, whose CPU time is printed. `BENCH_FIRST=N` instead measures the first request of N new processes for each
 * query.
 */
export async function compareWithBackend(data: DataSet): Promise<void> {
  const external = process.env['BACKEND_URL'];
  const embedded =
    external === undefined ? await startProgram(['backend', '-listen=127.0.0.1:0']) : undefined;
  const backendUrl = external ?? embedded?.url ?? '';
  const backendCpuMs = (): number => embedded?.cpuMs() ?? cpuMsOf(Number(process.env['BACKEND_PID'] ?? NaN));
  try {
    await fillAccount(backendUrl, accountHeaders(data), data);
    const firsts = Number(process.env['BENCH_FIRST'] ?? 0);
    if (firsts > 0) {
      await compareFirsts(data, backendUrl, firsts);
      return;
    }
    const relay = await openRelay(backendUrl);
    const proxy = await startProxyOn(data, backendUrl);
    const counted = await startProxyOn(data, relay.url);
    console.log(
      `${data.summary}; ${data.rounds} rounds of ${data.atOnce} in turn; ${external === undefined ? 'embedded backend' : 'VictoriaLogs'}; cpu is that of the proxy, of the backend for it, and of the backend asked directly, a request`,
    );
    console.log(
      row('shape', 'p50 ms', 'direct', 'ratio', 'p99 ms', 'direct', 'ratio', 'cpu ms', 'KB', 'MiB'),
    );
    for (const shape of chosen(data.shapes)) {
      const { proxied, direct } = await compare(data, shape, proxy, { url: backendUrl, cpuMs: backendCpuMs });
      relay.takeBytes();
      await ask({ url: counted.url, headers: tenantHeader }, shape.path, fillIn(shape.params, data));
      const moved = relay.takeBytes();
      note(data.name, shape.name, quantile(proxied.ms, 0.5) / quantile(direct.ms, 0.5));
      note(data.name, `${shape.name}, p99`, quantile(proxied.ms, 0.99) / quantile(direct.ms, 0.99));
      console.log(
        row(
          shape.name,
          ...[0.5, 0.99].flatMap((share) => {
            const [ours, theirs] = [quantile(proxied.ms, share), quantile(direct.ms, share)];
            return [ours.toFixed(1), theirs.toFixed(1), (ours / theirs).toFixed(2)];
          }),
          [proxied.proxyCpuMs, proxied.backendCpuMs, direct.backendCpuMs].map(Math.round).join('/'),
          (moved / 1000).toFixed(0),
          // The peak so far: it rises at the shape that causes it.
          String(proxy.memory().peakMiB),
        ),
      );
    }
    console.log(`memory of the proxy: peak ${proxy.memory().peakMiB} MiB, now ${proxy.memory().nowMiB} MiB`);
    await Promise.all([proxy.stop(), counted.stop()]);
    relay.close();
  } finally {
    await embedded?.stop();
  }
}

/** `BENCH_ONLY` keeps the shapes whose names contain it. */
function chosen(shapes: readonly Shape[]): readonly Shape[] {
  const only = process.env['BENCH_ONLY'] ?? '';
  return shapes.filter(({ name }) => name.includes(only));
}

function accountHeaders({ account }: DataSet): Account {
  return { AccountID: account, ProjectID: '0' };
}

function startProxyOn(data: DataSet, backendUrl: string): Promise<RunningProgram> {
  return startProgram(serveArguments(backendUrl, { bench: accountHeaders(data) }));
}

interface Taken {
  readonly ms: number[];
  proxyCpuMs: number;
  backendCpuMs: number;
}

async function compare(
  data: DataSet,
  shape: Shape,
  proxy: RunningProgram,
  backend: Pick<RunningProgram, 'url' | 'cpuMs'>,
): Promise<{ readonly proxied: Taken; readonly direct: Taken }> {
  const proxied: Taken = { ms: [], proxyCpuMs: 0, backendCpuMs: 0 };
  const direct: Taken = { ms: [], proxyCpuMs: 0, backendCpuMs: 0 };
  const sides = [
    [proxied, { url: proxy.url, headers: tenantHeader }, shape.path, shape.params],
    [direct, { url: backend.url, headers: accountHeaders(data) }, shape.directPath, shape.direct],
  ] as const;
  for (let round = 1 - data.warmRounds; round <= data.rounds; round += 1) {
    for (const [taken, target, path, params] of sides) {
      const [proxyBefore, backendBefore] = [proxy.cpuMs(), backend.cpuMs()];
      const each = await Promise.all(
        Array.from({ length: data.atOnce }, () => ask(target, path, fillIn(params, data))),
      );
      if (round <= 0) continue;
      taken.ms.push(...each);
      const asked = data.rounds * data.atOnce;
      taken.proxyCpuMs += (proxy.cpuMs() - proxyBefore) / asked;
      taken.backendCpuMs += (backend.cpuMs() - backendBefore) / asked;
    }
  }
  return { proxied, direct };
}

/** Sends each query to processes that have not served any yet. */
async function compareFirsts(data: DataSet, backendUrl: string, count: number): Promise<void> {
  console.log(`${data.summary}; the first request of ${count} processes for each question`);
  console.log(row('shape', 'p50 ms', 'direct', 'ratio', 'worst'));
  const direct = { url: backendUrl, headers: accountHeaders(data) };
  for (const shape of chosen(data.shapes)) {
    const [ours, theirs]: [number[], number[]] = [[], []];
    for (let process = 0; process < count; process += 1) {
      const proxy = await startProxyOn(data, backendUrl);
      theirs.push(await ask(direct, shape.directPath, fillIn(shape.direct, data)));
      ours.push(await ask({ url: proxy.url, headers: tenantHeader }, shape.path, fillIn(shape.params, data)));
      await proxy.stop();
    }
    const [mine, other] = [quantile(ours, 0.5), quantile(theirs, 0.5)];
    note(data.name, `${shape.name}, first`, mine / other);
    const worst = Math.max(...ours).toFixed(1);
    console.log(row(shape.name, mine.toFixed(1), other.toFixed(1), (mine / other).toFixed(2), worst));
  }
}

/** Listings have no parameter for a nonce, so they get a new range: both ends move by up to a twentieth. */
function fillIn(params: Readonly<Record<string, string>>, { startMs, endMs }: DataSet): URLSearchParams {
  const room = (endMs - startMs) / 20;
  const values: Readonly<Record<string, string>> = {
    nonce: nonce(),
    start: `${startMs + Math.floor(Math.random() * room)}000000`,
    end: `${endMs - Math.floor(Math.random() * room)}000000`,
  };
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    form.set(
      name,
      value.replaceAll(/\{(nonce|start|end)\}/g, (_, key: string) => values[key] ?? ''),
    );
  return form;
}

function row(name: string, ...cells: readonly string[]): string {
  return `${name.padEnd(42)}${cells.map((cell, index) => cell.padStart(index === 6 ? 14 : 9)).join('')}`;
}
