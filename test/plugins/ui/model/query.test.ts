import test from 'ava';
import fc from 'fast-check';
import { errorPosition, markLine } from '../../../../plugins/ui/browser/model/error-position.js';
import {
  emptyQuery,
  parseHash,
  printHash,
  ranges,
  refreshes,
} from '../../../../plugins/ui/browser/model/query-state.js';
import { rangeOf } from '../../../../plugins/ui/browser/model/query/asked-range.js';
import { barRange, onSteps, stepOf } from '../../../../plugins/ui/browser/model/time-range.js';

const instant = fc
  .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

test('an address that was made of a query gives the query back', (t) => {
  const state = fc.record({
    query: fc.string({ unit: 'grapheme' }),
    range: fc.constantFrom(...ranges),
    from: instant,
    to: instant,
    limit: fc.integer({ min: 1, max: 100_000 }),
    direction: fc.constantFrom('backward', 'forward'),
    tenant: fc.string(),
    refresh: fc.constantFrom(...refreshes),
  });
  fc.assert(
    fc.property(state, (given) => {
      const { from, to, ...rest } = parseHash(`#${printHash(given)}`);
      // The start and end matter, and are kept, only for a custom range.
      const moments = given.range === 'custom' ? given : { from: '', to: '' };
      t.deepEqual({ from, to, ...rest }, { ...given, from: moments.from, to: moments.to });
    }),
  );
});

test('an address that nobody made has defaults', (t) => {
  t.deepEqual(parseHash(''), emptyQuery);
  t.deepEqual(parseHash('#range=year&limit=-1&direction=up&from=x'), emptyQuery);
  t.is(parseHash('#limit=1e9x').limit, emptyQuery.limit);
});

test('a range ends now, or where a custom one says', (t) => {
  t.deepEqual(rangeOf({ range: '15m', from: '', to: '' }, 10_000_000), {
    startMs: 9_100_000,
    endMs: 10_000_000,
  });
  const custom = {
    range: 'custom',
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-01T01:00:00.000Z',
  } as const;
  const range = rangeOf(custom, 0);
  t.is(typeof range === 'string' ? 0 : range.endMs - range.startMs, 3_600_000);
});

const problemOf = (range: ReturnType<typeof rangeOf>): string => (typeof range === 'string' ? range : '');

test('a custom range without a length is said to have none', (t) => {
  const at = '2026-01-01T00:00:00.000Z';
  t.regex(problemOf(rangeOf({ range: 'custom', from: '', to: at }, 0)), /beginning/);
  t.regex(problemOf(rangeOf({ range: 'custom', from: at, to: '' }, 0)), /end/);
  t.regex(problemOf(rangeOf({ range: 'custom', from: at, to: at }, 0)), /before/);
});

test('a step never gives more points than asked for, and bars cover the range', (t) => {
  const length = fc.integer({ min: 1, max: 400 * 86_400_000 });
  fc.assert(
    fc.property(length, fc.integer({ min: 0, max: 2e12 }), (ms, startMs) => {
      const range = { startMs, endMs: startMs + ms };
      const step = stepOf(range, 80);
      t.true(Number.isInteger(step) && step > 0);
      t.true(ms / (step * 1000) <= 80);
      const aligned = barRange(range, step);
      t.is(aligned.startMs % (step * 1000), 0);
      t.true(aligned.startMs - step * 1000 <= startMs && startMs < aligned.startMs);
      t.true(aligned.endMs >= range.endMs && aligned.endMs - range.endMs < step * 1000);
    }),
  );
});

test('a range on whole steps holds the one it was made of', (t) => {
  t.deepEqual(onSteps({ startMs: 61_000, endMs: 119_000 }, 60), { startMs: 60_000, endMs: 120_000 });
  t.deepEqual(onSteps({ startMs: 60_000, endMs: 120_000 }, 60), { startMs: 60_000, endMs: 120_000 });
});

test('an hour has bars of a minute', (t) => {
  t.is(stepOf({ startMs: 0, endMs: 3_600_000 }, 80), 60);
});

test('the place of an error is read from the parser’s text', (t) => {
  t.deepEqual(errorPosition('parse error at line 2, col 16: syntax error'), { line: 2, column: 16 });
  t.is(errorPosition('the query time range exceeds the limit'), undefined);
  t.is(errorPosition('parse error at line 0, col 0: none'), undefined);
});

test('the word at the place of an error is marked', (t) => {
  const query = '{app="shop"}\n|= error';
  t.deepEqual(markLine(query, { line: 2, column: 4 }), {
    before: '|= ',
    marked: 'error',
    after: '',
    offset: 16,
  });
  t.is(query.slice(16, 21), 'error');
});

test('a place behind the end marks nothing and stays inside', (t) => {
  t.deepEqual(markLine('{app="x"', { line: 1, column: 40 }), {
    before: '{app="x"',
    marked: '',
    after: '',
    offset: 8,
  });
  t.is(markLine('a', { line: 9, column: 1 }).marked, '');
});
