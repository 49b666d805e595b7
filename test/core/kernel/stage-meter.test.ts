import test from 'ava';
import { type ChainLink, Chain } from '../../../core/kernel/chain.js';
import { StageMeter } from '../../../core/kernel/stage-meter.js';
import type { Answer, Exchange, Rest, SlotName } from '../../../core/plugin/index.js';
import type { StageFigures } from '../../../core/kernel/plugin/host.js';
import { Waits } from '../../../core/base/time/waits.js';
import { FakeClock, makeExchange } from '../../../core/testing/index.js';

const answer: Answer = { kind: 'names', values: [], warnings: [] };

type Handle = (exchange: Exchange<SlotName>, rest: Rest<SlotName>, clock: FakeClock) => Promise<Answer>;

/** Runs a chain of two stages once, and returns the figures of their meters. */
async function metered(
  above: Handle,
  below: Handle,
  exchange: Exchange = makeExchange(),
): Promise<readonly [StageFigures, StageFigures]> {
  const clock = new FakeClock();
  const meters = [new StageMeter(clock), new StageMeter(clock)] as const;
  const link = (handle: Handle, meter: StageMeter): ChainLink => ({
    id: 'under-test',
    rest: 'many',
    meter,
    stage: { handle: (one, rest) => handle(one, rest, clock) },
  });
  const run = new Chain([link(above, meters[0]), link(below, meters[1])]).run;
  await run(exchange).catch(() => undefined);
  return [meters[0].figures(), meters[1].figures()];
}

const answering =
  (ms: number): Handle =>
  (_exchange, _rest, clock) => {
    clock.advance(ms);
    return Promise.resolve(answer);
  };

test('the time of the stages behind is not a stage’s own', async (t) => {
  const [above, below] = await metered(async (exchange, rest, clock) => {
    clock.advance(3);
    const got = await rest(exchange);
    clock.advance(4);
    return got;
  }, answering(50));
  t.deepEqual(above.ownMs, { p50: 7, p95: 7 });
  t.deepEqual(above.totalMs, { p50: 57, p95: 57 });
  t.deepEqual(below.ownMs, { p50: 50, p95: 50 });
});

test('a rest that runs several times at once is one stretch of time', async (t) => {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  let waiting = 0;
  const [above] = await metered(
    async (exchange, rest, clock) => {
      const all = [rest(exchange), rest(exchange)];
      clock.advance(20);
      release();
      await Promise.all(all);
      clock.advance(1);
      return answer;
    },
    async () => {
      waiting += 1;
      await gate;
      return answer;
    },
  );
  t.is(waiting, 2);
  t.deepEqual(above.ownMs, { p50: 1, p95: 1 });
});

test('an error counts where it began, and not where it passes through', async (t) => {
  const [above, below] = await metered(
    (exchange, rest) => rest(exchange),
    () => Promise.reject(new Error('no luck')),
  );
  t.is(above.errors, 0);
  t.is(below.errors, 1);
  const [own] = await metered(async (exchange, rest) => {
    await rest(exchange);
    throw new Error('of its own');
  }, answering(1));
  t.is(own.errors, 1);
});

test('what breaks after the client has left is nobody’s error', async (t) => {
  const controller = new AbortController();
  const [, below] = await metered(
    (exchange, rest) => rest(exchange),
    () => {
      controller.abort(new Error('client gone'));
      return Promise.reject(new Error('broken off'));
    },
    makeExchange({ signal: controller.signal }),
  );
  t.is(below.calls, 1);
  t.is(below.errors, 0);
});

test('an answer without the stages behind is told apart', async (t) => {
  const [hit] = await metered(answering(1), answering(1));
  t.is(hit.answeredHere, 1);
  const [miss] = await metered((exchange, rest) => rest(exchange), answering(1));
  t.is(miss.answeredHere, 0);
  t.is(miss.calls, 1);
});

test('quantiles are of the last calls, and there are none before the first', (t) => {
  const clock = new FakeClock();
  const meter = new StageMeter(clock);
  t.is(meter.figures().ownMs, undefined);
  for (let ms = 1; ms <= 3_000; ms += 1) {
    const call = meter.begin();
    clock.advance(ms);
    call.answered();
  }
  t.is(meter.figures().calls, 3_000);
  // Quantiles of the last 1,024 calls: 1,977 ms to 3,000 ms.
  t.deepEqual(meter.figures().ownMs, { p50: 2_488, p95: 2_949 });
});

test('waiting for what a stage has lent is its own time, and not that of who waits', async (t) => {
  const [lender, user] = await metered(
    (exchange, rest, clock) => {
      clock.advance(1);
      return rest(exchange.derive({ waits: new Waits(() => clock.monotonicMs()) }));
    },
    (exchange, _rest, clock) => {
      clock.advance(2);
      exchange.waits?.begin();
      clock.advance(30);
      // A second wait at the same time is not counted again.
      exchange.waits?.begin();
      clock.advance(10);
      exchange.waits?.end();
      exchange.waits?.end();
      clock.advance(4);
      return Promise.resolve(answer);
    },
  );
  t.deepEqual(lender.ownMs, { p50: 41, p95: 41 });
  t.deepEqual(lender.totalMs, { p50: 47, p95: 47 });
  t.deepEqual(user.ownMs, { p50: 6, p95: 6 });
});
