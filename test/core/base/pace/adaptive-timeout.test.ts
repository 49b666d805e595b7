import test from 'ava';
import { AdaptiveTimeout } from '../../../../core/base/pace/adaptive-timeout.js';

test.serial('a timeout is twice the usual time, and short for who is always late', (t) => {
  const timeout = new AdaptiveTimeout({ leastMs: 5, mostMs: 50 });
  t.is(timeout.ms, 50);
  for (let count = 0; count < 100; count += 1) timeout.answered(1);
  t.is(timeout.ms, 5);
  timeout.answered(10);
  t.is(timeout.ms, 20);
  timeout.answered(400);
  t.is(timeout.ms, 50);
  for (let count = 0; count < 3; count += 1) timeout.wasLate();
  t.is(timeout.ms, 5);
  timeout.answered(400);
  t.is(timeout.ms, 5);
  timeout.answered(40);
  t.is(timeout.ms, 50);
  const usual = new AdaptiveTimeout({ leastMs: 100, mostMs: 10_000, usualMs: 1_000, forgetting: 0.3 });
  t.is(usual.ms, 2_000);
  for (let count = 0; count < 100; count += 1) usual.answered(1);
  t.is(usual.ms, 100);
  usual.answered(700);
  t.is(usual.ms, 1_400);
  usual.answered(3_600_000);
  t.is(usual.ms, 10_000);
});
