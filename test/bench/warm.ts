/**
 * Repeated requests, small ones and 50 KB ones, compared to a minimal Node server that sends the same bytes and headers, alternating in one
 * run. The load is light enough to leave most of a core to the server; on two cores, the figures are those of a server with one.
 */
import type { BareAnswer } from './bare-server.js';
import { flood, start, told } from './children.js';
import type { FloodResult } from './flood.js';
import { startProgram } from './program.js';
import { note } from './report.js';
import { fillWithSamples } from './sample-logs.js';

const tenant = '901';
const rounds = 3;
const seconds = 4;
const connections = 32;
const lines = 20_000;

export async function run(): Promise<void> {
  const backend = await startProgram(['backend', '-listen=127.0.0.1:0']);
  const proxy = await startProgram([
    ...['serve', '-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0', `-backend=${backend.url}`],
    '-rate-limit-per-second=0',
  ]);
  try {
    const span = await fillWithSamples(backend.url, tenant, lines);
    const asked = [
      { name: 'labels', path: `/loki/api/v1/labels?${span}` },
      {
        name: '200 lines',
        path: `/loki/api/v1/query_range?query=${encodeURIComponent('{namespace=~".+"}')}&limit=200&${span}`,
      },
    ];
    const answers = await Promise.all(asked.map(({ path }) => answerOf(proxy.url, path)));
    const bare = await startBare(answers);
    const ports = { bare: bare.port, proxy: Number(new URL(proxy.url).port) };
    for (const [index, { name, path }] of asked.entries()) {
      const bytes = Buffer.from(answers[index]?.body ?? '', 'base64').length;
      const best = { bare: nothing, proxy: nothing };
      // The first round is a warm-up for both and does not count.
      for (let round = 0; round <= rounds; round += 1)
        for (const side of ['bare', 'proxy'] as const) {
          const result = await flood({ port: ports[side], path, tenant, connections, seconds });
          if (round > 0 && result.perSecond > best[side].perSecond) best[side] = result;
        }
      const [ratio, tail] = [best.proxy.perSecond / best.bare.perSecond, best.proxy.p99Ms / best.bare.p99Ms];
      console.log(
        `${name}, ${bytes} bytes: proxy ${shown(best.proxy)}; bare ${shown(best.bare)}; ${ratio.toFixed(2)} of the requests, p99 ${tail.toFixed(2)} times`,
      );
      note('warm', `${name}: share of the bare server's requests`, ratio);
      note('warm', `${name}: p99 beside the bare server's`, tail);
    }
    bare.stop();
  } finally {
    await Promise.all([proxy.stop(), backend.stop()]);
  }
}

const nothing: FloodResult = { perSecond: 0, p50Ms: NaN, p99Ms: NaN };

function shown({ perSecond, p50Ms, p99Ms }: FloodResult): string {
  return `${perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;
}

/** The proxy's response without the headers that Node adds itself. */
async function answerOf(url: string, path: string): Promise<BareAnswer> {
  const answer = await fetch(url + path, {
    headers: { 'X-Scope-OrgID': tenant, 'Accept-Encoding': 'identity' },
  });
  if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  const head = [...answer.headers]
    .filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name))
    .flat();
  return { path, head, body: Buffer.from(await answer.arrayBuffer()).toString('base64') };
}

async function startBare(
  answers: readonly BareAnswer[],
): Promise<{ readonly port: number; readonly stop: () => void }> {
  const child = start('bare-server.js');
  return { port: await told<number>(child, answers), stop: () => void child.kill() };
}
