import test from 'ava';
import { FrameWriter } from '../../../../core/engine/tail/frames.js';
import { Outbox, type OutboxSettings } from '../../../../core/engine/tail/outbox.js';
import { entryOf } from './rows.js';

interface Frame {
  readonly streams: readonly unknown[];
  readonly dropped_entries?: readonly { readonly timestamp: string }[];
}

/** A fake network that accepts a frame when the test says so. */
class Network {
  readonly frames: Frame[] = [];
  #take: (() => void)[] = [];
  #fail: ((error: Error) => void) | undefined;
  #onFrame: (() => void) | undefined;

  readonly send = (text: string): Promise<void> => {
    // The writer under test has made it.
    this.frames.push(JSON.parse(text) as Frame);
    this.#onFrame?.();
    return new Promise((resolve, reject) => {
      this.#take.push(resolve);
      this.#fail = reject;
    });
  };

  /** Accepts the frame that waits and those that follow. */
  async takeUntil(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) {
      const next = new Promise<void>((resolve) => (this.#onFrame = resolve));
      for (const take of this.#take.splice(0)) take();
      if (!isEnough()) await next;
    }
  }

  fail(): void {
    this.#fail?.(new Error('closed'));
  }
}

function outboxOf(network: Network, change: Partial<OutboxSettings> = {}): Outbox {
  return new Outbox({
    frames: new FrameWriter(false),
    send: network.send,
    graceMs: 5,
    // The test process does not exit until the frames that nobody accepts have timed out.
    stallMs: 1_000,
    onStalled: () => undefined,
    ...change,
  });
}

const entries = (from: number, count: number): ReturnType<typeof entryOf>[] =>
  Array.from({ length: count }, (_value, index) => entryOf(BigInt(from + index)));

test('a history goes out as one frame, what follows in frames of a hundred', async (t) => {
  const network = new Network();
  const outbox = outboxOf(network);
  outbox.sendAtOnce(entries(0, 250));
  await outbox.offer(entries(250, 250));
  await network.takeUntil(() => network.frames.length === 4);
  t.deepEqual(
    network.frames.map(({ streams }) => streams.length),
    [250, 100, 100, 50],
  );
});

test('an empty history is no frame', (t) => {
  const network = new Network();
  outboxOf(network).sendAtOnce([]);
  t.is(network.frames.length, 0);
});

test('reading waits for a client that catches up, and nothing is dropped', async (t) => {
  const network = new Network();
  const outbox = outboxOf(network, { graceMs: 60_000 });
  const offered = outbox.offer(entries(0, 3_000));
  await network.takeUntil(() => network.frames.flatMap(({ streams }) => streams).length === 3_000);
  await offered;
  t.is(outbox.droppedCount, 0);
});

test('a client that stays behind loses entries, and is told which with the next frame', async (t) => {
  const network = new Network();
  const outbox = outboxOf(network);
  await outbox.offer(entries(0, 1_500));
  // One frame is in flight and ten wait.
  t.is(outbox.droppedCount, 400);
  await network.takeUntil(() => network.frames.length === 11);
  const told = network.frames.flatMap((frame) => frame.dropped_entries ?? []);
  t.deepEqual(
    told.map(({ timestamp }) => Number(timestamp)),
    Array.from({ length: 400 }, (_value, index) => 1_100 + index),
  );
  t.is(network.frames.flatMap(({ streams }) => streams).length, 1_100);
  t.is(network.frames.filter((frame) => frame.dropped_entries !== undefined).length, 1);
});

test('long lines fill the frames sooner', async (t) => {
  const network = new Network();
  const outbox = outboxOf(network);
  const long = 'x'.repeat(600_000);
  await outbox.offer(Array.from({ length: 30 }, (_value, index) => entryOf(BigInt(index), long)));
  // Two lines per frame: one frame is in flight and ten wait.
  t.is(outbox.droppedCount, 8);
  await network.takeUntil(() => network.frames.length === 11);
  t.true(network.frames.every(({ streams }) => streams.length === 2));
});

test('no more than a thousand dropped entries are kept to be told', async (t) => {
  const network = new Network();
  const outbox = outboxOf(network);
  await outbox.offer(entries(0, 5_000));
  t.is(outbox.droppedCount, 3_900);
  await network.takeUntil(() => network.frames.length === 11);
  t.is(network.frames.flatMap((frame) => frame.dropped_entries ?? []).length, 1_000);
});

test('a frame that is not taken in time is told', async (t) => {
  const network = new Network();
  await new Promise<void>((resolve) => {
    void outboxOf(network, { stallMs: 1, onStalled: resolve }).offer(entries(0, 1));
  });
  t.is(network.frames.length, 1);
});

test('offers fail when the client can no longer be reached', async (t) => {
  const network = new Network();
  const outbox = outboxOf(network, { graceMs: 60_000 });
  const offered = outbox.offer(entries(0, 3_000));
  network.fail();
  await t.throwsAsync(offered, { message: 'closed' });
  await t.throwsAsync(outbox.offer(entries(0, 1)), { message: 'closed' });
});
