import test from 'ava';
import { matcher, or, query, streamMatch } from '../../../core/victoria/logsql/build.js';
import { readingOf } from '../../../plugins/peer-cache/every-stream.js';

test('long selections are left to the backend, and others are read from the list of all streams', (t) => {
  const reading = (count: number) =>
    readingOf({
      listing: 'streams',
      query: query(
        or(...Array.from({ length: count }, (_none, at) => streamMatch(matcher('a', '=~', `x${at}|y.+`)))),
      ),
    });
  t.deepEqual(reading(100)?.('{a="x99"}'), ['{a="x99"}']);
  t.deepEqual(reading(100)?.('{a="x100"}'), []);
  t.is(reading(101), undefined);
});
