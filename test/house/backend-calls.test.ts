import test from 'ava';
import { aims, backendCalls } from './backend-calls.js';

/** Calls of the first request and of a later one. These numbers only fall; for metric queries they are to come to those of `aims`. */
const bounds: Readonly<Record<string, readonly [first: number, steady: number]>> = {
  'lines with a filter': [4, 3],
  'rate by a label': [7, 6],
  'level histogram': [8, 6],
  'count by a label of JSON': [9, 6],
  'quantile of a number in JSON': [9, 5],
};

test('a request makes no more calls of the backend than it did', async (t) => {
  for (const { kind, first, steady } of await backendCalls()) {
    const [mostFirst = 0, mostSteady = 0] = bounds[kind.name] ?? [];
    const aim = kind.isMetric ? `; aims ${aims.first} and ${aims.steady}` : '';
    t.log(
      `${kind.name}: ${first.length} at first (at most ${mostFirst}), ${steady.length} later (${mostSteady})${aim}`,
    );
    t.true(steady.length > 0, kind.name);
    t.true(first.length <= mostFirst, `${kind.name}: ${first.length} calls at first, more than ${mostFirst}`);
    t.true(
      steady.length <= mostSteady,
      `${kind.name}: ${steady.length} calls later, more than ${mostSteady}`,
    );
  }
});
