import test from 'ava';
import { errorTable } from '../../../../../core/base/errors/table.js';
import { editDistance, nearWords } from '../../../../../plugins/ui/browser/model/query/near.js';
import { offersFor } from '../../../../../plugins/ui/browser/model/query/offers.js';

const hour = 3_600_000;
const nowMs = 1_770_000_000_000;
const day = { startMs: nowMs - 24 * hour, endMs: nowMs };
const titles = (text: string, labels: readonly string[] = []): readonly string[] =>
  offersFor(text, day, nowMs, labels).map(({ title }) => title);

test('an error of the server offers what mends it', (t) => {
  t.deepEqual(titles(errorTable.seriesLimit.text.replace('{limit}', '500'), ['service_name']), [
    'Sum by service_name',
  ]);
  t.deepEqual(titles('maximum number of series (500) reached for a single query; consider …', ['app']), [
    'Sum by app',
  ]);
  t.deepEqual(
    offersFor('the query time range exceeds the limit (query length: 24h0m0s, limit: 12h)', day, nowMs, []),
    [{ title: 'Longest allowed range: 12 h', part: { range: '12h', from: '', to: '' } }],
  );
  t.deepEqual(
    offersFor(
      'max entries limit per query exceeded, limit > max_entries_limit_per_query (5000 > 1000)',
      day,
      nowMs,
      [],
    ),
    [{ title: 'Ask for 1,000 lines', part: { limit: 1000 } }],
  );
  t.deepEqual(titles("pipeline error: 'SampleExtractionErr' for series: '{}'."), [
    'Skip lines with errors: | __error__=""',
  ]);
  t.deepEqual(titles(errorTable.queryTimeout.text), ['Last 6 hours', 'Last hour']);
  t.deepEqual(titles('parse error at line 1, col 3: syntax error'), []);
  const unfilled = (name: string): string =>
    `parse error at line 0, col 13: not a valid duration string: "${name}"`;
  t.deepEqual(offersFor(unfilled('$__interval'), day, nowMs, []), [
    { title: 'Use [15m]', change: { change: 'fill-range', name: '$__interval', value: '15m' } },
    {
      title: 'Use [1d], the whole range',
      change: { change: 'fill-range', name: '$__interval', value: '1d' },
    },
  ]);
  t.deepEqual(titles(unfilled('${__range}')), ['Use [1d], the whole range']);
  t.deepEqual(titles(unfilled('interval')), ['Use [15m]', 'Use [1d], the whole range']);
  t.deepEqual(titles('parse error at line 0, col 13: empty duration string'), [
    'Use [15m]',
    'Use [1d], the whole range',
  ]);
  t.deepEqual(titles(unfilled('5')), []);
  t.deepEqual(
    offersFor(`parse error : queries require at least one regexp or equality matcher that`, day, nowMs, [
      'app',
    ]),
    [
      { title: 'Any app: app=~".+"', change: { change: 'any-stream', name: 'app' } },
      { title: 'Choose labels', opens: 'labels' },
    ],
  );
});

test('near words are those with few slips, the nearest first', (t) => {
  t.is(editDistance('', 'abc'), 3);
  t.is(editDistance('chekcout', 'checkout'), 1);
  t.is(editDistance('kitten', 'sitting'), 3);
  t.deepEqual(nearWords('chekout', ['storefront', 'checkout', 'checkin']), ['checkout']);
  t.deepEqual(nearWords('STOREFRONT', ['storefront']), ['storefront']);
  t.deepEqual(nearWords('store', ['storefront', 'payments']), ['storefront']);
  t.deepEqual(nearWords('nobody', ['checkout', 'payments']), []);
});
