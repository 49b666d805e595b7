import test from 'ava';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { PeerCacheOptions } from '../../../../core/base/options.gen.js';
import {
  makeExchange,
  makeLogAnswer,
  makeLogRequest,
  makeTenant,
  optionsOf,
} from '../../../../core/testing/index.js';
import { AnswerStore } from '../../../../core/cache/answer-store.js';
import peerCache from '../../../../plugins/peer-cache/index.js';
import { hostFor } from '../../../plugins/host-for.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes in use after garbage collection: on the heap and in buffers outside of it. */
function collected(): { readonly heap: number; readonly buffers: number } {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return { heap: heapUsed, buffers: external };
}

test.serial('answers that are kept lie outside of the heap, and take what the metric says', async (t) => {
  const host = hostFor(peerCache);
  // The schema fills in the defaults, and the type is generated from the schema.
  const stage = peerCache.create(optionsOf('peer-cache', {}) as unknown as PeerCacheOptions, host);
  host.clock.advance(10 * 3_600_000);
  const lines = Array.from({ length: 5_000 }, (_none, index) => `line ${index} ${'x'.repeat(100)}`);
  const ask = (query: string): Promise<unknown> => {
    const exchange = makeExchange<'tenant'>({
      request: makeLogRequest(query),
      slots: { tenant: makeTenant('a') },
    });
    return stage.handle(exchange, () => Promise.resolve(makeLogAnswer({ app: 'a' }, lines)));
  };
  await ask('{app="first"}');
  const before = collected();
  for (let index = 0; index < 40; index += 1) await ask(`{app="a${index}"}`);
  const after = collected();
  t.is(await host.metric('memory_cache_entries'), 41);
  const kept = (Number(await host.metric('memory_cache_bytes')) * 40) / 41;
  t.true(kept > 20e6);
  const [heap, buffers] = [after.heap - before.heap, after.buffers - before.buffers];
  t.true(heap < kept / 10, `${heap} bytes of heap for ${kept}`);
  t.true(Math.abs(buffers - kept) < kept / 10, `${buffers} bytes of buffers for ${kept}`);
});

test.serial('small answers take what is counted for them, too', async (t) => {
  const options = {
    cacheMax: 100_000,
    cacheMaxBytes: 1e9,
    compatCacheEnabled: false,
    compatCacheMaxPercent: 0,
  };
  const store = new AnswerStore(options, hostFor(peerCache));
  let counted = 0;
  store.observe({
    resized: (_entries, bytes) => (counted = bytes),
    dropped: () => undefined,
    looked: () => undefined,
  });
  const before = collected();
  for (let index = 0; index < 20_000; index += 1)
    await store.set(`tenant:${'k'.repeat(60)}${String(index)}`, Buffer.alloc(300, index), 3_600_000);
  const after = collected();
  t.is((await store.get(`tenant:${'k'.repeat(60)}7`))?.byteLength, 300);
  const taken = after.heap + after.buffers - before.heap - before.buffers;
  t.true(Math.abs(taken - counted) < counted / 7, `${taken} bytes for ${counted}`);
});
