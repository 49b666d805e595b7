import { join } from 'node:path';
import test from 'ava';
import { startDevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { startProgram } from '../../../bench/program.js';

const startNs = 1_793_491_200_000_000_000n;
const startSeconds = Number(startNs / 1_000_000_000n);

async function fill(url: string, lines: number): Promise<void> {
  const values = Array.from({ length: lines }, (_none, index) => [
    String(startNs + BigInt(index) * 10_000_000n),
    `id=id-${index} took=${index % 100}`,
  ]);
  const answer = await fetch(`${url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams: [{ stream: { app: 'many' }, values }] }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

test.serial(
  'heavy requests at once do not end a process with a small heap: each is answered or told what was short',
  async (t) => {
    const backend = await startDevBackend();
    await fill(backend.url, 20_000);
    const flags = ['--max-old-space-size=120'];
    // No guard, because it would refuse some of the requests before they need memory.
    const options = [`-pipeline=${join(packageRoot(), 'pipelines/minimal.yaml')}`, '-listen=127.0.0.1:0'];
    const proxy = await startProgram(
      ['serve', ...options, `-backend=${backend.url}`, '-max-stats-query-series=1000000'],
      flags,
    );
    const ask = async (query: string, step: number): Promise<readonly [status: number, text: string]> => {
      const params = {
        query,
        start: String(startSeconds),
        end: String(startSeconds + 200),
        step: String(step),
      };
      const url = `${proxy.url}/loki/api/v1/query_range?${new URLSearchParams(params).toString()}`;
      const answer = await fetch(url);
      return [answer.status, await answer.text()];
    };
    try {
      const heavy = Array.from({ length: 6 }, (_none, index) =>
        ask(`count_over_time({app="many"} | logfmt [${100 + index}s])`, 2),
      );
      const answers = await Promise.all(heavy);
      for (const [status, text] of answers) {
        t.true([200, 400, 503].includes(status), text.slice(0, 300));
        if (status !== 200) t.regex(text, /-max-query-memory|--max-old-space-size/);
      }
      t.true(answers.some(([status]) => status === 503));
      const [status] = await ask('sum(count_over_time({app="many"} [1m]))', 20);
      t.is(status, 200);
    } finally {
      await proxy.stop();
      await backend.close();
    }
  },
);
