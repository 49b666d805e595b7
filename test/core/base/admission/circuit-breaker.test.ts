import test from 'ava';
import { CircuitBreaker, type BreakerState } from '../../../../core/base/admission/circuit-breaker.js';

function makeBreaker(): { breaker: CircuitBreaker; states: BreakerState[]; pass: (ms: number) => void } {
  let now = 0;
  const states: BreakerState[] = [];
  const breaker = new CircuitBreaker(
    { breakerFailThreshold: 3, breakerOpenDuration: 1000, breakerWindowDuration: 5000 },
    { monotonicMs: () => now },
    (state) => states.push(state),
  );
  return { breaker, states, pass: (ms) => (now += ms) };
}

function fail(breaker: CircuitBreaker, times: number): void {
  for (let index = 0; index < times; index += 1) breaker.admit().fail();
}

test.serial('enough failures within the window open the breaker', (t) => {
  const { breaker, states } = makeBreaker();
  fail(breaker, 3);
  t.is(breaker.state, 'open');
  t.throws(() => breaker.admit(), { message: 'backend unavailable: circuit breaker is open' });
  t.deepEqual(states, ['open']);
});

test.serial('failures that left the window do not count', (t) => {
  const { breaker, pass } = makeBreaker();
  fail(breaker, 2);
  pass(5000);
  fail(breaker, 2);
  t.is(breaker.state, 'closed');
});

test.serial('successes between failures do not take failures back', (t) => {
  const { breaker } = makeBreaker();
  fail(breaker, 2);
  breaker.admit().succeed();
  fail(breaker, 1);
  t.is(breaker.state, 'open');
});

test.serial('after the open time three probes are let through, and their success closes', (t) => {
  const { breaker, states, pass } = makeBreaker();
  fail(breaker, 3);
  pass(1000);
  t.is(breaker.state, 'half-open');
  const probes = [breaker.admit(), breaker.admit(), breaker.admit()];
  t.throws(() => breaker.admit());
  for (const probe of probes) probe.succeed();
  t.is(breaker.state, 'closed');
  t.deepEqual(states, ['open', 'half-open', 'closed']);
  breaker.admit().fail();
  t.is(breaker.state, 'closed', 'the window was emptied');
});

test.serial('one failed probe opens again for the whole time', (t) => {
  const { breaker, pass } = makeBreaker();
  fail(breaker, 3);
  pass(1000);
  const other = breaker.admit();
  breaker.admit().fail();
  t.is(breaker.state, 'open');
  pass(999);
  t.is(breaker.state, 'open');
  other.succeed();
  t.is(breaker.state, 'open', 'a call of the earlier state has no say');
  pass(1);
  t.notThrows(() => breaker.admit());
});

test.serial('a probe without a verdict gives its permit back', (t) => {
  const { breaker, pass } = makeBreaker();
  fail(breaker, 3);
  pass(1000);
  for (let index = 0; index < 10; index += 1) breaker.admit().release();
  const probes = [breaker.admit(), breaker.admit(), breaker.admit()];
  for (const probe of probes) probe.succeed();
  t.is(breaker.state, 'closed');
});

test.serial('requests that make more calls at once than there are probes close it in the end', (t) => {
  const { breaker, pass } = makeBreaker();
  fail(breaker, 3);
  pass(1000);
  const callsOfRequest = 8;
  let requests = 0;
  for (; requests < 20 && breaker.state !== 'closed'; requests += 1) {
    const permits = [];
    try {
      for (let call = 0; call < callsOfRequest; call += 1) permits.push(breaker.admit());
      for (const permit of permits) permit.succeed();
    } catch {
      // The refused call fails the request, which releases the permits of its other calls.
      for (const permit of permits) permit.release();
    }
  }
  t.is(breaker.state, 'closed');
  t.true(requests > 1);
});

test.serial('a permit speaks once', (t) => {
  const { breaker } = makeBreaker();
  const permit = breaker.admit();
  permit.fail();
  permit.fail();
  permit.fail();
  t.is(breaker.state, 'closed');
});

test.serial('reading the state admits nothing', (t) => {
  const { breaker, states, pass } = makeBreaker();
  fail(breaker, 3);
  pass(1000);
  t.is(breaker.state, 'half-open');
  t.deepEqual(states, ['open']);
});

test.serial('where failures count in a row, a success takes back those before it', (t) => {
  const breaker = new CircuitBreaker(
    { breakerFailThreshold: 3, inARow: true, breakerWindowDuration: Infinity, breakerOpenDuration: 1000 },
    { monotonicMs: () => 0 },
  );
  fail(breaker, 2);
  breaker.admit().succeed();
  fail(breaker, 2);
  t.is(breaker.state, 'closed');
  fail(breaker, 1);
  t.is(breaker.state, 'open');
  t.is(breaker.tryAdmit(), undefined);
});
