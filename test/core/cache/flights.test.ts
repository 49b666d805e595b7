import test from 'ava';
import { Flights } from '../../../core/cache/answer-caching.js';

/** A call that ends when the test says so. */
function makeCall(): {
  readonly run: (signal: AbortSignal) => Promise<string>;
  readonly signals: AbortSignal[];
  resolve(value: string): void;
  reject(error: Error): void;
} {
  const signals: AbortSignal[] = [];
  const settle: { resolve(value: string): void; reject(error: Error): void }[] = [];
  return {
    signals,
    run: (signal) => {
      signals.push(signal);
      return new Promise((resolve, reject) => settle.push({ resolve, reject }));
    },
    resolve: (value) => settle.forEach((each) => each.resolve(value)),
    reject: (error) => settle.forEach((each) => each.reject(error)),
  };
}
const alive = (): AbortSignal => new AbortController().signal;

test('identical calls share one run, different ones do not', async (t) => {
  const flights = new Flights<string>(10);
  const call = makeCall();
  const first = flights.join('a', alive(), call.run);
  const second = flights.join('a', alive(), call.run);
  const other = flights.join('b', alive(), call.run);
  t.deepEqual([first.isShared, second.isShared, other.isShared], [false, true, false]);
  t.is(call.signals.length, 2);
  call.resolve('value');
  t.deepEqual(await Promise.all([first.result, second.result, other.result]), ['value', 'value', 'value']);
  t.is(flights.size, 0);
});

test('a waiter that goes away does not disturb the others', async (t) => {
  const flights = new Flights<string>(10);
  const call = makeCall();
  const leaver = new AbortController();
  const left = flights.join('a', leaver.signal, call.run);
  const stayed = flights.join('a', alive(), call.run);
  leaver.abort(new Error('gone'));
  await t.throwsAsync(left.result, { message: 'gone' });
  t.false(call.signals[0]?.aborted);
  call.resolve('value');
  t.is(await stayed.result, 'value');
});

test('when the last waiter leaves, the run is aborted and a later call starts another', async (t) => {
  const flights = new Flights<string>(10);
  const call = makeCall();
  const leavers = [new AbortController(), new AbortController()];
  const waits = leavers.map((leaver) => flights.join('a', leaver.signal, call.run).result);
  const thrown = Promise.all(waits.map((wait) => t.throwsAsync(wait, { message: 'gone' })));
  for (const leaver of leavers) leaver.abort(new Error('gone'));
  await thrown;
  t.true(call.signals[0]?.aborted);
  t.false(flights.join('a', alive(), call.run).isShared);
  t.is(call.signals.length, 2);
});

test('an error reaches those who wait and nobody later', async (t) => {
  const flights = new Flights<string>(10);
  const call = makeCall();
  const waits = [flights.join('a', alive(), call.run), flights.join('a', alive(), call.run)];
  const thrown = Promise.all(waits.map(({ result }) => t.throwsAsync(result, { message: 'broken' })));
  call.reject(new Error('broken'));
  await thrown;
  const later = flights.join('a', alive(), () => Promise.resolve('value'));
  t.false(later.isShared);
  t.is(await later.result, 'value');
});

test('a run that throws at once is an error like any other', async (t) => {
  const flights = new Flights<string>(10);
  const { result } = flights.join('a', alive(), () => {
    throw new Error('at once');
  });
  await t.throwsAsync(result, { message: 'at once' });
  t.is(flights.size, 0);
});

test('a run has at most the given number of waiters; the next ones share another run', async (t) => {
  const flights = new Flights<string>(2);
  const call = makeCall();
  const waits = [1, 2, 3, 4].map(() => flights.join('a', alive(), call.run));
  t.deepEqual(
    waits.map(({ isShared }) => isShared),
    [false, true, false, true],
  );
  call.resolve('value');
  t.deepEqual(await Promise.all(waits.map(({ result }) => result)), ['value', 'value', 'value', 'value']);
  t.is(flights.size, 0);
});

test('a caller that has gone already starts nothing', (t) => {
  const flights = new Flights<string>(10);
  const call = makeCall();
  t.throws(() => flights.join('a', AbortSignal.abort(new Error('gone')), call.run), { message: 'gone' });
  t.is(call.signals.length, 0);
});

test('a waiter that goes away after the end changes nothing', async (t) => {
  const flights = new Flights<string>(10);
  const leaver = new AbortController();
  const { result } = flights.join('a', leaver.signal, () => Promise.resolve('value'));
  t.is(await result, 'value');
  leaver.abort();
  t.is(await result, 'value');
});
