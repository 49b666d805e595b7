/**
 * The same questions asked of the proxy and of its backend directly, in turn, as ratios in one run. `BACKEND_URL` asks a real
 * VictoriaLogs (tenant 900:0 is filled when it is empty); without it the embedded backend stands in, which only shows the proxy's part.
 */
import { shapes, type Shape } from './answers-table.js';
import { startProgram, type RunningProgram } from './program.js';
import { note } from './report.js';
import { openRelay } from './relay.js';
import { sampleBatches } from './sample-logs.js';

const lines = 457_000;
const rounds = 7;
const account = { AccountID: '900', ProjectID: '0' };
const tenantMap = JSON.stringify({ bench: { account_id: '900', project_id: '0' } });

export async function run(): Promise<void> {
  const external = process.env['BACKEND_URL'];
  const embedded =
    external === undefined ? await startProgram(['backend', '-listen=127.0.0.1:0']) : undefined;
  const backendUrl = external ?? embedded?.url ?? '';
  try {
    await fill(backendUrl);
    const relay = await openRelay(backendUrl);
    const proxy = await startProxyOn(backendUrl);
    const counted = await startProxyOn(relay.url);
    console.log(
      `${lines} lines over 6 h in 65 streams; p50 of ${rounds} in turn; ${external === undefined ? 'embedded backend' : 'VictoriaLogs'}`,
    );
    console.log(row('shape', 'proxy ms', 'direct ms', 'ratio', 'proxy KB', 'direct KB', 'peak MiB'));
    for (const shape of shapes) {
      const { proxyMs, directMs, directBytes } = await compare(shape, proxy.url, backendUrl);
      relay.takeBytes();
      await ask(counted.url, shape.path, shape.params, { 'X-Scope-OrgID': 'bench' }, nonce());
      const moved = relay.takeBytes();
      const ratio = (proxyMs / directMs).toFixed(2);
      note('answers', shape.name, proxyMs / directMs);
      console.log(
        row(
          shape.name,
          proxyMs.toFixed(1),
          directMs.toFixed(1),
          ratio,
          kilobytes(moved),
          kilobytes(directBytes),
          // The most so far: the shape at which it rises is the one that sets it.
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

function startProxyOn(backendUrl: string): Promise<RunningProgram> {
  return startProgram([
    'serve',
    '-listen=127.0.0.1:0',
    '-admin-listen=127.0.0.1:0',
    `-backend=${backendUrl}`,
    `-tenant-map=${tenantMap}`,
    '-rate-limit-per-second=0',
  ]);
}

async function compare(
  shape: Shape,
  proxyUrl: string,
  backendUrl: string,
): Promise<{ readonly proxyMs: number; readonly directMs: number; readonly directBytes: number }> {
  const proxied: number[] = [];
  const direct: number[] = [];
  let directBytes = 0;
  // The first round warms both up and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const throughProxy = await ask(proxyUrl, shape.path, shape.params, { 'X-Scope-OrgID': 'bench' }, nonce());
    const asked = await ask(backendUrl, shape.directPath, shape.direct, account, nonce());
    directBytes = asked.bytes;
    if (round === 0) continue;
    proxied.push(throughProxy.ms);
    direct.push(asked.ms);
  }
  return { proxyMs: median(proxied), directMs: median(direct), directBytes };
}

async function ask(
  url: string,
  path: string,
  params: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
  unique: string,
): Promise<{ readonly ms: number; readonly bytes: number }> {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) form.set(name, value.replaceAll('{nonce}', unique));
  const startedAt = performance.now();
  const answer = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { ...headers, 'Accept-Encoding': 'identity' },
    body: form,
  });
  const body = await answer.arrayBuffer();
  if (answer.status !== 200) {
    throw new Error(
      `${path} was answered ${answer.status}: ${Buffer.from(body).toString('utf8').slice(0, 300)}`,
    );
  }
  return { ms: performance.now() - startedAt, bytes: body.byteLength };
}

async function fill(url: string): Promise<void> {
  const count = new URLSearchParams({ query: '* | stats count() c' });
  const known = await fetch(new URL('/select/logsql/query', url), {
    method: 'POST',
    headers: account,
    body: count,
  });
  if ((await known.text()).includes(`"${lines}"`)) return;
  for (const streams of sampleBatches(lines)) {
    const answer = await fetch(new URL('/insert/loki/api/v1/push?disable_message_parsing=1', url), {
      method: 'POST',
      headers: { ...account, 'Content-Type': 'application/json' },
      body: JSON.stringify({ streams }),
    });
    if (answer.status >= 300) throw new Error(`push was answered ${answer.status}: ${await answer.text()}`);
  }
  // VictoriaLogs shows rows about a second after it took them.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
}

let asked = 0;
function nonce(): string {
  asked += 1;
  return `nonce${process.pid}x${asked}`;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function kilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(0);
}

function row(name: string, ...cells: readonly string[]): string {
  return `${name.padEnd(42)}${cells.map((cell) => cell.padStart(11)).join('')}`;
}
