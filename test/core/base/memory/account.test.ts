import test from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import {
  cacheBudget,
  MemoryAccount,
  memoryMetrics,
  MemoryPool,
  unboundedMemory,
} from '../../../../core/base/memory/account.js';
import { MeterRegistry } from '../../../../core/kernel/telemetry/meters.js';
import { readMetric } from '../../../../core/testing/read-metric.js';

const mib = 1024 * 1024;

function refusal(act: () => void): ApiError | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  return undefined;
}

test.serial(
  'a query is refused beyond its limit, and told what it held, what it wanted and how to raise the limit',
  (t) => {
    const memory = new MemoryAccount(10 * mib);
    memory.charge(8 * mib, 'log lines');
    memory.charge(2 * mib, 'the values of series');
    const error = refusal(() => memory.charge(1, 'the labels of series'));
    t.is(error?.status, 400);
    t.regex(
      error?.message ?? '',
      /limit of 10485760 bytes \(mostly .*log lines.*\) .* more for the labels of series; .* raise -max-query-memory$/,
    );
  },
);

test.serial('what is released may be used again, and the peak is remembered', (t) => {
  const memory = new MemoryAccount(10 * mib);
  for (let round = 0; round < 5; round += 1) {
    memory.charge(9 * mib, 'log lines');
    memory.release(9 * mib, 'log lines');
  }
  t.is(memory.used, 0);
  t.is(memory.peak, 9 * mib);
});

test.serial('zero is no limit', (t) => {
  const memory = unboundedMemory();
  t.notThrows(() => memory.charge(1e15, 'log lines'));
});

test.serial(
  'queries share what the heap leaves them, and give it back when all that runs for them has ended',
  async (t) => {
    const registry = new MeterRegistry();
    const pool = new MemoryPool({
      maxQueryBytes: 40 * mib,
      meters: registry.create(memoryMetrics),
      heap: 176 * mib,
    });
    const [first, second] = [pool.open(), pool.open()];
    first.charge(30 * mib, 'log lines');
    const error = refusal(() => second.charge(30 * mib, 'log lines'));
    t.is(error?.status, 503);
    t.regex(error?.message ?? '', /of the 41943040 bytes of heap .*--max-old-space-size$/);
    second.close();
    first.retain();
    first.close();
    t.true(pool.held >= 30 * mib);
    first.close();
    t.is(pool.held, 0);
    const third = pool.open();
    t.notThrows(() => third.charge(30 * mib, 'log lines'));
    third.keepOnly(1, 'the bytes of the answer');
    t.true(pool.held < 2 * mib);
    third.close();
    t.is(pool.held, 0);
    t.is(await readMetric(registry, 'query_memory_refusals_total', { reason: 'process' }), 1);
    t.is(await readMetric(registry, 'query_memory_bytes', {}), 0);
  },
);

test.serial('a cache is no larger than its share of a small heap', (t) => {
  t.is(cacheBudget(256 * mib, 4096 * mib), 256 * mib);
  t.is(cacheBudget(256 * mib, 196 * mib), 20 * mib);
});
