import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { Begun } from '../../../../core/base/pace/begun.js';

test.serial('the first item is asked for at once, and all come in order', async (t) => {
  let asked = 0;
  async function* items(): AsyncGenerator<number> {
    for (const item of [1, 2, 3]) {
      asked += 1;
      await turn();
      yield item;
    }
  }
  const begun = new Begun(items);
  t.is(asked, 1);
  await turn();
  await turn();
  t.is(asked, 1, 'no more than the first');
  const seen: number[] = [];
  for await (const item of begun) seen.push(item);
  t.deepEqual(seen, [1, 2, 3]);
  begun.end();
});

test.serial('who ends it unread leaves nothing open', async (t) => {
  let isClosed = false;
  const signals: AbortSignal[] = [];
  async function* items(signal: AbortSignal): AsyncGenerator<number> {
    signals.push(signal);
    try {
      for (;;) yield await turn(1);
    } finally {
      isClosed = true;
    }
  }
  new Begun(items).end();
  t.true(signals[0]?.aborted, 'what is on its way ends');
  for (let turns = 0; turns < 5; turns += 1) await turn();
  t.true(isClosed);
});

test.serial('a failure is told to the reader, and is no unhandled rejection without one', async (t) => {
  async function* items(): AsyncGenerator<number> {
    await turn();
    yield* [];
    throw new Error('broken');
  }
  const unread = new Begun(items);
  const begun = new Begun(items);
  await turn();
  await turn();
  unread.end();
  await t.throwsAsync(
    async () => {
      for await (const item of begun) t.fail(String(item));
    },
    { message: 'broken' },
  );
});
