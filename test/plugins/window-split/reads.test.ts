import test from 'ava';
import { ApiError } from '../../../core/base/errors/api-error.js';
import { apiError } from '../../../core/base/errors/table.js';
import { LabelSet } from '../../../core/base/label-set.js';
import type { WindowSplitOptions } from '../../../core/base/options.gen.js';
import { askedOf } from '../../core/engine/plan/planned.js';
import {
  FakeClock,
  makeExchange,
  makeHost,
  makeTenant,
  optionsOf,
  runStage,
} from '../../../core/testing/index.js';
import { noStats } from '../../../core/wire/answer/merge/shared.js';
import { Query, type QueryRangeRequest } from '../../../core/wire/api/request.js';
import type { Answer, Exchange } from '../../../core/plugin/index.js';
import windowSplit from '../../../plugins/window-split/index.js';
import { windowMetrics } from '../../../plugins/window-split/metrics.js';

const msNs = 1_000_000n;
const hourMs = 3_600_000;
const startMs = 1_793_491_200_000;
const stepMs = 600_000;

type Asked = Exchange<'tenant' | 'plan'>;

function hostAt(hours: number) {
  const clock = new FakeClock(BigInt(startMs + hours * hourMs) * msNs);
  return makeHost({ metrics: windowMetrics, clock });
}

function optionsWith(values: Readonly<Record<string, unknown>> = {}): WindowSplitOptions {
  // optionsOf applies the schema, which the type is generated from.
  return optionsOf('window-split', {
    adaptiveParallel: false,
    maxParallel: 1,
    ...values,
  }) as unknown as WindowSplitOptions;
}

/** Six hours of a series whose value is the number of its step. */
function request(change: Partial<QueryRangeRequest> = {}): QueryRangeRequest {
  return {
    op: 'query_range',
    query: new Query('sum(rate({app="a"}[5m]))', 'reject'),
    range: { startNs: BigInt(startMs) * msNs, endNs: BigInt(startMs + 6 * hourMs - stepMs) * msNs },
    stepNs: BigInt(stepMs) * msNs,
    limit: 100,
    direction: 'backward',
    intervalNs: 0n,
    ...change,
  };
}

function matrix(from: bigint, to: bigint, stepNs: bigint, valueOf: (ms: number) => number): Answer {
  const points = [];
  for (let ns = from; ns <= to; ns += stepNs) {
    const timestampMs = Number(ns / msNs);
    points.push({ timestampMs, value: valueOf(timestampMs) });
  }
  const series = [{ labels: LabelSet.from([['app', 'a']]), points }];
  return { kind: 'matrix', series, stats: noStats, warnings: [] };
}

/** Two lines per hour. */
function linesOf({ range, limit }: QueryRangeRequest): Answer {
  const entries = [];
  for (let ns = range.startNs; ns < range.endNs && entries.length < 12; ns += 1_800_000n * msNs)
    entries.unshift({
      timestampNs: ns,
      line: 'x',
      structuredMetadata: LabelSet.empty,
      parsed: LabelSet.empty,
    });
  const streams = [{ labels: LabelSet.from([['app', 'a']]), entries: entries.slice(0, limit) }];
  return { kind: 'streams', streams, stats: noStats, warnings: [] };
}

const numberOf = (ms: number): number => (ms - startMs) / stepMs;
const isCount = ({ part }: QueryRangeRequest): boolean => part === 'count';

function rangeRequestOf({ request: asked }: { readonly request: Exchange['request'] }): QueryRangeRequest {
  if (asked.op !== 'query_range') throw new Error(asked.op);
  return asked;
}

/** Answers counts with 7 lines per bucket, and everything else with the number of the step, unless `refuse` throws. */
function answering(
  refuse: (asked: QueryRangeRequest, signal: AbortSignal) => void | Promise<void> = () => undefined,
) {
  return async (derived: Exchange): Promise<Answer> => {
    const asked = rangeRequestOf(derived);
    const { range, stepNs } = asked;
    if (isCount(asked)) return matrix(range.startNs, range.endNs, stepNs, () => 7);
    await refuse(asked, derived.signal);
    if (asked.query.ast.kind === 'log') return linesOf(asked);
    return matrix(range.startNs, range.endNs, stepNs, numberOf);
  };
}

async function run(
  host: ReturnType<typeof hostAt>,
  options: WindowSplitOptions,
  refuse?: Parameters<typeof answering>[0],
  asked = request(),
): Promise<{
  readonly answer: Answer;
  readonly hours: readonly string[];
  readonly counted: readonly string[];
}> {
  const tenant = makeTenant('t');
  const plan = askedOf(asked, host.naming);
  const exchange: Asked = makeExchange<'tenant' | 'plan'>({ request: asked, slots: { tenant, plan } });
  const { answer, seen } = await runStage(windowSplit, options, exchange, answering(refuse), host);
  const requests = seen.map(rangeRequestOf);
  const hoursOf = (some: readonly QueryRangeRequest[]): readonly string[] =>
    some.map(({ range }) => `${hourOf(range.startNs)}-${hourOf(range.endNs)}`);
  return {
    answer,
    hours: hoursOf(requests.filter((each) => !isCount(each))),
    counted: hoursOf(requests.filter(isCount)),
  };
}

const hourOf = (ns: bigint): number => Math.floor((Number(ns / msNs) - startMs) / hourMs);
const whole = '0-5';
const valuesOf = (answer: Answer): readonly number[] =>
  answer.kind === 'matrix' ? answer.series.flatMap(({ points }) => points.map(({ value }) => value)) : [];
const all = Array.from({ length: 36 }, (_none, index) => index);
const isHour = ({ range }: QueryRangeRequest, hour: number): boolean =>
  hourOf(range.startNs) <= hour && hourOf(range.endNs) >= hour;

test('what is sealed is read once, and then only lines are counted', async (t) => {
  const host = hostAt(8);
  const first = await run(host, optionsWith());
  t.deepEqual([valuesOf(first.answer), first.hours], [all, [whole]]);
  const second = await run(host, optionsWith());
  t.deepEqual([valuesOf(second.answer), second.hours], [all, []]);
  t.is(await host.metric('window_cache_hit_total'), 6);
});

test('what may still change is read each time, in pieces that are kept as they are sealed', async (t) => {
  const host = hostAt(5.5);
  await run(host, optionsWith());
  const { hours } = await run(host, optionsWith());
  t.deepEqual(hours, ['5-5']);
  const kept = await host.metric('window_cache_hit_total');
  t.is(kept, 5 + 2);
});

test('short ranges, and all of them when windows or caches are off, go on as they are', async (t) => {
  const short = request({
    range: { startNs: BigInt(startMs) * msNs, endNs: BigInt(startMs + 1.9 * hourMs) * msNs },
  });
  for (const [options, asked] of [
    [optionsWith(), short],
    [optionsWith({ enabled: false }), request()],
    [optionsWith({ cacheDisabled: true }), request()],
  ] as const) {
    const host = hostAt(8);
    await run(host, options, undefined, asked);
    const { hours } = await run(host, options, undefined, asked);
    t.is(hours.length, 1);
  }
});

test('a read that fails is made again window by window', async (t) => {
  const host = hostAt(8);
  let failures = 0;
  const { answer, hours } = await run(host, optionsWith(), () => {
    failures += 1;
    if (failures === 1) throw apiError('backendUnreachable', { cause: 'reset' });
  });
  t.deepEqual(valuesOf(answer), all);
  t.deepEqual(hours, [whole, '0-0', '1-1', '2-2', '3-3', '4-4', '5-5']);
  t.is(await host.metric('window_degraded_batch_total'), 1);
  t.is(await host.metric('window_retry_total'), 6);
});

test('a window that fails again is an error, or missing and told where answers may be partial, and never kept', async (t) => {
  const fails = (asked: QueryRangeRequest): void => {
    if (isHour(asked, 2)) throw apiError('backendUnreachable', { cause: 'reset' });
  };
  const error = await t.throwsAsync(run(hostAt(8), optionsWith(), fails), { instanceOf: ApiError });
  t.is(error.entry, apiError('backendUnreachable', { cause: '' }).entry);
  const host = hostAt(8);
  const { answer } = await run(host, optionsWith({ partialResponses: true }), fails);
  t.deepEqual(
    valuesOf(answer),
    all.filter((step) => Math.floor(step / 6) !== 2),
  );
  t.deepEqual('warnings' in answer && answer.warnings, [
    'partial response: 1 time windows could not be read',
  ]);
  t.is(await host.metric('window_partial_response_total'), 1);
  const after = await run(host, optionsWith({ partialResponses: true }));
  t.deepEqual([valuesOf(after.answer), after.hours], [all, ['2-2']]);
});

test('lines of windows further away are not counted if the nearest windows hold enough of them', async (t) => {
  const logs = (change: Partial<QueryRangeRequest>): QueryRangeRequest =>
    request({ query: new Query('{app="a"}', 'reject'), ...change });
  for (const [change, counted, hours] of [
    [{ limit: 3 }, ['4-6'], ['4-5']],
    [{ limit: 3, direction: 'forward' }, ['0-2'], ['0-2']],
    // There are 14 lines to read, but only four in the answer, because a filter may drop the others.
    [{ limit: 6 }, ['4-6', '0-4'], ['4-5', '0-4']],
    [{ limit: 100 }, ['4-6', '0-4'], [whole]],
  ] as const) {
    const found = await run(hostAt(8), optionsWith(), undefined, logs(change));
    t.deepEqual([found.counted, found.hours], [counted, hours], JSON.stringify(change));
  }
});

test('a read of logs that fails is made again window by window, until there are enough lines', async (t) => {
  const asked = request({ query: new Query('{app="a"}', 'reject'), limit: 3 });
  const host = hostAt(8);
  let failures = 0;
  const { answer, hours } = await run(
    host,
    optionsWith(),
    () => {
      failures += 1;
      if (failures === 1) throw apiError('backendUnreachable', { cause: 'reset' });
    },
    asked,
  );
  // The two latest windows have enough lines.
  t.deepEqual(hours, ['4-5', '5-5', '4-5']);
  t.is(answer.kind === 'streams' && answer.streams.flatMap(({ entries }) => entries).length, 3);
  const without = await run(
    hostAt(8),
    optionsWith({ partialResponses: true }),
    (each) => {
      if (each.range.endNs > BigInt(startMs + 5 * hourMs) * msNs)
        throw apiError('backendUnreachable', { cause: 'reset' });
    },
    asked,
  );
  t.deepEqual(without.hours, ['4-5', '5-5', '4-5', '0-4']);
  t.deepEqual('warnings' in without.answer && without.answer.warnings, [
    'partial response: 1 time windows could not be read',
  ]);
});

test('what a part is refused for, and what it warns of, is for the whole to say', async (t) => {
  const refused = await run(hostAt(8), optionsWith({ maxParallel: 3 }), (asked) => {
    if (isHour(asked, 2) && !isHour(asked, 5)) throw apiError('badRequest', { text: 'no' });
  });
  t.deepEqual(valuesOf(refused.answer), all);
  t.is(refused.hours.at(-1), whole);
});

test('a window takes no longer than it may', async (t) => {
  const hangs = (_asked: QueryRangeRequest, signal: AbortSignal): Promise<void> =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
  const error = await t.throwsAsync(run(hostAt(8), optionsWith({ windowTimeout: '1ms' }), hangs), {
    instanceOf: ApiError,
  });
  t.is(error.entry, apiError('queryTimeout', {}).entry);
});

test('windows are read in as many groups as may run at once, and expensive ones in fewer', async (t) => {
  const cheap = await run(hostAt(8), optionsWith({ maxParallel: 3 }));
  t.deepEqual(cheap.hours, ['0-1', '2-3', '4-5']);
  const expensive = await run(hostAt(8), optionsWith({ maxParallel: 3, expensiveHitThreshold: 5 }));
  t.deepEqual(expensive.hours, [whole]);
});
