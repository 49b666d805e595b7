import test from 'ava';
import { ByteLru } from '../../../core/base/memory/byte-lru.js';
import { createTieredCache } from '../../../core/cache/tiers.js';
import { FakeClock } from '../../../core/testing/index.js';

interface Value {
  readonly text: string;
}
const observer = {
  failed: (error: unknown): never => {
    throw error;
  },
  looked: (): void => undefined,
};
const makeMemory = (maxBytes = 100_000): ByteLru<{ readonly value: Value }> =>
  new ByteLru({ maxEntries: 100, maxBytes, clock: new FakeClock() });

test('a value comes back as the very object that was kept', async (t) => {
  const cache = createTieredCache<Value>(makeMemory(), () => 1, observer);
  const value = { text: 'x' };
  await cache.set('key', value, 60_000);
  t.is(await cache.get('key'), value);
  await cache.clear();
  t.is(await cache.get('key'), undefined);
});

test('the memory tier is bounded by the bytes that the values are said to take', async (t) => {
  const memory = makeMemory(10_000);
  const cache = createTieredCache<Value>(memory, ({ text }) => text.length, observer);
  await cache.set('too large', { text: 'x'.repeat(2_000) }, 60_000);
  t.is(await cache.get('too large'), undefined);
  for (let index = 0; index < 50; index += 1)
    await cache.set(`key ${index}`, { text: 'x'.repeat(500) }, 60_000);
  t.true(memory.bytes <= 10_000);
  t.true(memory.entries > 5);
});
