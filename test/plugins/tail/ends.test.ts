import test from 'ava';
import { all, push, TailClient, withTails } from './fixtures.js';

test('a metric query is upgraded and closed with a reason', async (t) => {
  await withTails({}, async ({ url }) => {
    const client = new TailClient(url, { query: 'rate({app="a"}[1m])' });
    t.deepEqual(await client.closed(), [1011, 'only log selector is supported']);
  });
});

test('a tail ends when its time is over', async (t) => {
  await withTails({ maxDuration: '50ms' }, async ({ url, log }) => {
    const client = new TailClient(url, all);
    t.deepEqual(await client.closed(), [1011, 'reached tail max duration limit']);
    const ended = await log.find((record) => record.get('body') === 'tail ended');
    t.is(ended.get('tail.reason'), 'duration');
  });
});

test('a client that sends much is closed with 1009, one that sends little is not', async (t) => {
  await withTails({}, async ({ url, backend }) => {
    const client = await new TailClient(url, all).opened();
    client.socket.send('x'.repeat(4096));
    await push(backend.url, [{ text: 'still here' }]);
    t.deepEqual(await client.untilLines(1), ['still here']);
    client.socket.send('x'.repeat(4097));
    t.is((await client.closed())[0], 1009);
  });
});

test('a close of the client is answered and ends the tail', async (t) => {
  await withTails({}, async ({ url, log }) => {
    const client = await new TailClient(url, all).opened();
    client.socket.close(1000, 'enough');
    t.deepEqual(await client.closed(), [1000, 'enough']);
    const ended = await log.find((record) => record.get('body') === 'tail ended');
    t.is(ended.get('tail.reason'), 'client');
  });
});

test('a stop of the process closes tails as going away, at once', async (t) => {
  await withTails({}, async ({ url, proxy, log }) => {
    const client = await new TailClient(url, all).opened();
    const closing = proxy.close();
    t.deepEqual(await client.closed(), [1001, 'server is shutting down']);
    await closing;
    const ended = await log.find((record) => record.get('body') === 'tail ended');
    t.is(ended.get('tail.reason'), 'shutdown');
  });
});

test('a client that reads nothing is cut off, and others get everything', async (t) => {
  await withTails({ slowGrace: '20ms', stallTimeout: '300ms' }, async ({ url, backend, log }) => {
    const healthy = await new TailClient(url, all).opened();
    const stalled = await new TailClient(url, all).opened();
    stalled.socket.pause();
    const text = 'x'.repeat(20_000);
    let count = 0;
    const isCut = log.find((record) => record.get('tail.reason') === 'stalled').then(() => true);
    const pushMore = async (): Promise<boolean> => {
      const lines = Array.from({ length: 100 }, (_value, index) => ({ text: `${count + index} ${text}` }));
      await push(backend.url, lines);
      count += lines.length;
      await healthy.untilLines(count);
      return false;
    };
    // More than all network buffers hold; the loop ends when the stalled client is disconnected.
    while (!(await Promise.race([isCut, pushMore()])));
    t.is(healthy.socket.readyState, healthy.socket.OPEN);
    t.is(new Set(healthy.lines).size, healthy.lines.length);
    t.true(healthy.frames.every((frame) => frame.dropped_entries === undefined));
    stalled.socket.resume();
    t.is((await stalled.closed())[0], 1006);
    healthy.socket.terminate();
  });
});
