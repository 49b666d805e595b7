import test from 'ava';
import { aims, backendCalls } from './backend-calls.js';

/** Limits for the calls of the first request and of a later one. Lower them only; those of metric queries must not exceed `aims`. */
const bounds: Readonly<Record<string, readonly [first: number, steady: number]>> = {
  'lines with a filter': [4, 3],
  'rate by a label': [4, 2],
  'rate with a new filter': [5, 2],
  'level histogram': [5, 2],
  'count by a label of JSON': [6, 2],
  'quantile of a number in JSON': [6, 2],
};

test('a request makes no more calls of the backend than it did', async (t) => {
  const offences: string[] = [];
  for (const { kind, first, steady } of await backendCalls()) {
    const [mostFirst = 0, mostSteady = 0] = bounds[kind.name] ?? [];
    const aim = kind.isMetric ? `; aims ${aims.first} and ${aims.steady}` : '';
    const told = `${kind.name}: ${first.length} calls at first (at most ${mostFirst}), ${steady.length} later (${mostSteady})${aim}`;
    t.log(told);
    // Later requests cover other ranges, so each must call the backend.
    if (steady.length === 0 || first.length > mostFirst || steady.length > mostSteady) offences.push(told);
  }
  t.deepEqual(offences, []);
});
