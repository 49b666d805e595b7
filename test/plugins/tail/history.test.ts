import test from 'ava';
import { all, push, TailClient, withTails } from './fixtures.js';

const history = [
  { text: 'one level=error', ageMs: 64_000, fields: { user: 'u1' } },
  { text: 'two', ageMs: 63_000 },
  { text: 'three', ageMs: 62_000 },
];

test('the newest entries come first, oldest of them first, in one frame with a stream for each', async (t) => {
  await withTails({}, async ({ url, backend }) => {
    await push(backend.url, history);
    const client = new TailClient(url, { ...all, limit: '2' });
    t.deepEqual(await client.untilLines(2), ['two', 'three']);
    t.is(client.frames.length, 1);
    t.deepEqual(
      client.frames[0]?.streams.map(({ values }) => values.length),
      [1, 1],
    );
    t.is(client.frames[0]?.encodingFlags, undefined);
    client.socket.terminate();
  });
});

test('without the flag all labels are on the stream, with it the groups are apart', async (t) => {
  await withTails({}, async ({ url, backend }) => {
    await push(backend.url, history);
    const plain = new TailClient(url, all);
    await plain.untilLines(3);
    t.deepEqual(plain.frames[0]?.streams[0]?.stream, {
      app: 'a',
      detected_level: 'error',
      service_name: 'a',
      user: 'u1',
    });
    t.is(plain.frames[0]?.streams[0]?.values[0]?.length, 2);
    const flags = { 'X-Loki-Response-Encoding-Flags': 'categorize-labels' };
    const apart = new TailClient(url, { query: '{app="a"} | logfmt | level="error"' }, flags);
    await apart.untilLines(1);
    const [frame] = apart.frames;
    t.deepEqual(Object.keys(frame ?? {}), ['streams', 'encodingFlags']);
    t.deepEqual(frame?.encodingFlags, ['categorize-labels']);
    t.deepEqual(frame?.streams[0]?.stream, { app: 'a', service_name: 'a' });
    t.deepEqual(frame?.streams[0]?.values[0]?.[2], {
      structuredMetadata: { detected_level: 'error', user: 'u1' },
      parsed: { level: 'error' },
    });
    plain.socket.terminate();
    apart.socket.terminate();
  });
});

test('start and since say where the history begins, and live lines follow it', async (t) => {
  await withTails({}, async ({ url, backend }) => {
    await push(backend.url, [{ text: 'old', ageMs: 7_000_000 }, ...history]);
    const byStart = new TailClient(url, {
      ...all,
      start: String(BigInt(Date.now() - 8_000_000) * 1_000_000n),
    });
    t.is((await byStart.untilLines(4))[0], 'old');
    const bySince = await new TailClient(url, { ...all, since: '1ms' }).opened();
    await push(backend.url, [{ text: 'new' }]);
    t.deepEqual(await bySince.untilLines(1), ['new']);
    byStart.socket.terminate();
    bySince.socket.terminate();
  });
});

test('what a limit cut from the history does not come as if it were new', async (t) => {
  await withTails({ mode: 'synthetic' }, async ({ url, backend }) => {
    await push(
      backend.url,
      Array.from({ length: 20 }, (_value, index) => ({ text: `before ${index}`, ageMs: 1000 - index })),
    );
    const client = new TailClient(url, { ...all, limit: '1' });
    await client.untilLines(1);
    await push(backend.url, [{ text: 'after' }]);
    t.deepEqual(await client.untilLines(2), ['before 19', 'after']);
    client.socket.terminate();
  });
});

test('a history is no longer than the tenant may ask for', async (t) => {
  await withTails({}, async ({ url, backend }) => {
    const lines = Array.from({ length: 5010 }, (_value, index) => ({ text: `line ${index}`, ageMs: 60_000 }));
    await push(backend.url, lines);
    const client = new TailClient(url, { ...all, limit: '4294967295' });
    t.is((await client.untilLines(5000)).length, 5000);
    t.is(client.frames.length, 1);
    client.socket.terminate();
  });
});
