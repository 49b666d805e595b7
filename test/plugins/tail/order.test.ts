import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import type { DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { FakeClock } from '../../../core/testing/index.js';
import { all, push, TailClient, withTails } from './fixtures.js';

const windowMs = 1_000;
const options = { reorderWindow: `${windowMs}ms` };

/** Waits until the tail has read the rows that the backend shows now: a poll that starts after this call has been followed by another. */
async function polled({ stats }: DevBackend): Promise<void> {
  const calls = (): number => stats().calls['/select/logsql/query'] ?? 0;
  const before = calls();
  while (calls() < before + 3) await sleep(2);
}

for (const mode of ['native', 'synthetic'] as const) {
  test(`${mode}: lines that become visible in any order come in the order of their times`, async (t) => {
    const clock = new FakeClock();
    await withTails(
      { ...options, mode },
      async ({ url, backend }) => {
        const client = await new TailClient(url, all).opened();
        const orders = fc.sample(fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }), 4);
        const expected: string[] = [];
        for (const [round, order] of orders.entries()) {
          for (const n of order) {
            await push(backend.url, [{ text: `${round} ${n}`, ageMs: 6 - n }], clock.nowMs());
            await polled(backend);
          }
          expected.push(...[...order].sort((a, b) => a - b).map((n) => `${round} ${n}`));
          clock.advance(windowMs);
          t.deepEqual(await client.untilLines(expected.length), expected);
        }
        client.socket.terminate();
      },
      { clock },
    );
  });
}

test('a line that becomes visible after its younger ones were sent comes when it is found', async (t) => {
  const clock = new FakeClock();
  await withTails(
    options,
    async ({ url, backend }) => {
      const client = await new TailClient(url, all).opened();
      await push(backend.url, [{ text: 'young' }], clock.nowMs());
      await polled(backend);
      clock.advance(windowMs);
      await client.untilLines(1);
      await push(backend.url, [{ text: 'late', ageMs: 14_999 }], clock.nowMs());
      await polled(backend);
      clock.advance(windowMs);
      t.deepEqual(await client.untilLines(2), ['young', 'late']);
      client.socket.terminate();
    },
    { clock },
  );
});

test('a line that waits does not hold back other streams', async (t) => {
  const clock = new FakeClock();
  await withTails(
    options,
    async ({ url, backend }) => {
      const client = await new TailClient(url, { query: '{app=~".+"}' }).opened();
      await push(backend.url, [{ text: 'first' }], clock.nowMs());
      await polled(backend);
      clock.advance(windowMs / 2);
      await push(backend.url, [{ text: 'second', ageMs: 5_000, fields: { app: 'b' } }], clock.nowMs());
      await polled(backend);
      clock.advance(windowMs / 2);
      t.deepEqual(await client.untilLines(1), ['first']);
      clock.advance(windowMs / 2);
      t.deepEqual(await client.untilLines(2), ['first', 'second']);
      client.socket.terminate();
    },
    { clock },
  );
});

test('the youngest lines of the history wait for older ones that are not visible yet', async (t) => {
  const clock = new FakeClock();
  await withTails(
    options,
    async ({ url, backend }) => {
      const lines = [
        { text: 'old', ageMs: 60_000 },
        { text: 'young', ageMs: 10 },
      ];
      await push(backend.url, lines, clock.nowMs());
      const client = await new TailClient(url, all).opened();
      t.deepEqual(await client.untilLines(1), ['old']);
      await push(backend.url, [{ text: 'middle', ageMs: 500 }], clock.nowMs());
      await polled(backend);
      clock.advance(windowMs);
      t.deepEqual(await client.untilLines(3), ['old', 'middle', 'young']);
      client.socket.terminate();
    },
    { clock },
  );
});

test('a delay holds lines back until they have that age, in order', async (t) => {
  const clock = new FakeClock();
  await withTails(
    options,
    async ({ url, backend }) => {
      const client = await new TailClient(url, { ...all, delay_for: '3' }).opened();
      await push(backend.url, [{ text: 'young' }], clock.nowMs());
      clock.advance(2_000);
      await polled(backend);
      await push(backend.url, [{ text: 'older', ageMs: 2_100 }], clock.nowMs());
      await polled(backend);
      t.deepEqual(client.lines, []);
      clock.advance(1_000);
      t.deepEqual(await client.untilLines(2), ['older', 'young']);
      client.socket.terminate();
    },
    { clock },
  );
});

test('when too many lines wait, they are sent before their time is over, and counted', async (t) => {
  const clock = new FakeClock();
  await withTails(
    options,
    async ({ url, backend }) => {
      const client = await new TailClient(url, all).opened();
      const long = 'x'.repeat(200_000);
      for (let n = 10; n < 55; n += 1)
        await push(backend.url, [{ text: `${n}${long}`, ageMs: 55 - n }], clock.nowMs());
      const lines = await client.untilLines(42);
      t.deepEqual(
        lines.map((line) => Number(line.slice(0, 2))),
        Array.from({ length: lines.length }, (_value, index) => index + 10),
      );
      const metrics = await (await fetch(`${url}/metrics`)).text();
      t.true(Number(/^ref_proxy_tail_early_entries_total (\d+)$/m.exec(metrics)?.[1]) >= 41, metrics);
      client.socket.terminate();
    },
    { clock },
  );
});
