import { once } from 'node:events';
import test from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { all, push, TailClient, withTails } from './fixtures.js';

for (const mode of ['native', 'synthetic'] as const) {
  test(`${mode}: lines arrive once, in their order, and only those that pass the query`, async (t) => {
    await withTails({ mode }, async ({ url, backend }) => {
      await push(backend.url, [{ text: 'before n=0' }]);
      const query = '{app="a"} | logfmt | n!="2" | line_format "{{.n}}"';
      const client = await new TailClient(url, { query }).opened();
      await client.untilLines(1);
      for (let n = 1; n < 40; n += 1) await push(backend.url, [{ text: `line n=${n}` }]);
      const lines = await client.untilLines(39);
      t.deepEqual(
        lines,
        Array.from({ length: 40 }, (_value, n) => String(n)).filter((n) => n !== '2'),
      );
      t.is(client.frames[1]?.streams[0]?.stream['detected_level'], 'unknown');
      client.socket.terminate();
    });
  });

  test(`${mode}: a line that comes late is shown`, async (t) => {
    await withTails({ mode, lookback: '4s' }, async ({ url, backend }) => {
      const client = await new TailClient(url, all).opened();
      await push(backend.url, [{ text: 'in time' }]);
      await client.untilLines(1);
      await push(backend.url, [{ text: 'late', ageMs: 500 }]);
      t.deepEqual(await client.untilLines(2), ['in time', 'late']);
      client.socket.terminate();
    });
  });
}

test('a frame holds no more than 100 entries', async (t) => {
  await withTails({ mode: 'synthetic' }, async ({ url, backend }) => {
    const client = await new TailClient(url, all).opened();
    await push(
      backend.url,
      Array.from({ length: 450 }, (_value, index) => ({ text: `line ${index}` })),
    );
    await client.untilLines(450);
    t.true(client.frames.every(({ streams }) => streams.length <= 100));
    t.is(new Set(client.lines).size, 450);
    client.socket.terminate();
  });
});

test('an idle tail is pinged, and answers the pings of its client', async (t) => {
  await withTails({}, async ({ url }) => {
    const client = await new TailClient(url, all).opened();
    await once(client.socket, 'ping');
    client.socket.ping('are you there');
    const [data] = (await once(client.socket, 'pong')) as [Buffer];
    t.is(data.toString(), 'are you there');
    client.socket.terminate();
  });
});

test('polling goes on when the backend comes back, and loses nothing', async (t) => {
  await withTails({}, async ({ url, backend, log }) => {
    await push(backend.url, [{ text: 'first' }]);
    const client = await new TailClient(url, all).opened();
    await client.untilLines(1);
    const port = Number(new URL(backend.url).port);
    await backend.close();
    await log.find((record) => record.get('body') === 'a tail failed to poll for new lines');
    const again = await startDevBackend({ port });
    try {
      await push(again.url, [{ text: 'back' }]);
      t.deepEqual(await client.untilLines(2), ['first', 'back']);
      client.socket.terminate();
      const ended = await log.find((record) => record.get('body') === 'tail ended');
      t.is(ended.get('tail.reason'), 'client');
      t.is(ended.get('tail.entries'), 2);
    } finally {
      await again.close();
    }
  });
});

test('native ends with a reason when the tail of the backend ends', async (t) => {
  await withTails({ mode: 'native' }, async ({ url, backend }) => {
    await push(backend.url, [{ text: 'first' }]);
    const client = await new TailClient(url, { ...all, since: '1ms' }).opened();
    // Once a line has come through it, the backend's tail is running.
    await push(backend.url, [{ text: 'second' }]);
    await client.untilLines(1);
    await backend.close();
    t.deepEqual(await client.closed(), [
      1011,
      'the backend ended its tail; reopen the tail, or set -tail.mode=synthetic',
    ]);
  });
});

test('lines of one time that differ in their metadata alone are all shown, each once', async (t) => {
  await withTails({}, async ({ url, backend }) => {
    const pushSame = async (ageMs: number): Promise<void> => {
      const _time = String(BigInt(Date.now() - ageMs) * 1_000_000n);
      const users = ['u1', 'u2', 'u1', ''];
      await push(
        backend.url,
        users.map((user) => ({ text: `same of ${ageMs}`, fields: { _time, user } })),
      );
    };
    await pushSame(2000);
    const client = await new TailClient(url, all).opened();
    await client.untilLines(3);
    await pushSame(0);
    await push(backend.url, [{ text: 'end' }]);
    while (!client.lines.includes('end')) await client.untilLines(client.lines.length + 1);
    const counted = client.lines.filter((line) => line.startsWith('same')).sort();
    t.deepEqual(counted, [...Array<string>(3).fill('same of 0'), ...Array<string>(3).fill('same of 2000')]);
    client.socket.terminate();
  });
});
