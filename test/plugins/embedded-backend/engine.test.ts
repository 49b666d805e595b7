import test from 'ava';
import fc from 'fast-check';

import { keepsRowsInTime, pullOrder } from '../../../plugins/embedded-backend/engine/time-order.js';
import {
  hasTimeFilter,
  isPureStreamFilter,
  pruneFilter,
} from '../../../plugins/embedded-backend/engine/prune.js';
import { parseTime } from '../../../plugins/embedded-backend/http/time-arg.js';
import { parseFilter, parseLogsql } from '../../../plugins/embedded-backend/logsql/index.js';
import { pushLoki, rows, withBackend } from './harness.js';

const T = 1_791_676_800_000_000_000n;

function instant(text: string): bigint {
  return parseTime(text, 0n) ?? -1n;
}

test('cuts by time give what sorting all rows would give', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    const times = Array.from({ length: 60 }, (_, i) => T + BigInt((i * 37) % 20));
    for (const app of ['a', 'b', 'c']) {
      await pushLoki(
        url,
        { app },
        times.map((time, i) => [time, `${app} ${i}`] as const),
      );
    }
    const all = (await rows(url, '*')).map((row) => ({
      time: row['_time'] ?? '',
      message: row['_msg'] ?? '',
    }));
    t.is(all.length, 180);
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.nat(30),
        fc.integer({ min: 1, max: 200 }),
        async (desc, offset, limit) => {
          const query = `* | fields _time, _msg | sort by (_time${desc ? ' desc' : ''}) offset ${offset} limit ${limit}`;
          const found = await rows(url, query);
          const sorted = all.map(({ time }) => instant(time)).sort((a, b) => Number(a - b));
          const wanted = (desc ? sorted.reverse() : sorted).slice(offset, offset + limit);
          t.deepEqual(
            found.map((row) => instant(row['_time'] ?? '')),
            wanted,
          );
          t.is(new Set(found.map((row) => row['_msg'])).size, found.length);
        },
      ),
      { numRuns: 40 },
    );
  });
});

test('only a sort by time alone, over pipes that keep rows in time, becomes a reading order', (t) => {
  const orderOf = (text: string): string => pullOrder(parseLogsql(`* ${text}`).pipes).order;
  t.is(orderOf('| sort by (_time)'), 'asc');
  t.is(orderOf('| sort by (_time) desc'), 'desc');
  t.is(orderOf('| sort by (_time desc) desc'), 'asc');
  t.is(orderOf('| filter x | fields _time, _msg | last 5 by (_time)'), 'desc');
  t.is(orderOf('| unpack_json fields (a) | first 5 by (_time)'), 'asc');
  for (const text of [
    '',
    '| sort by (_time, app)',
    '| sort by (app)',
    '| sort by (_time) rank as r',
    '| sort by (_time) partition by (app) limit 1',
    '| unpack_json | sort by (_time)',
    '| format "2026" as _time | sort by (_time)',
    '| limit 5 | sort by (_time)',
    '| stats by (_time:1m) count() | sort by (_time)',
  ]) {
    t.is(orderOf(text), 'any', text);
  }
});

test('a sort by time leaves its cut behind', (t) => {
  const { pipes } = pullOrder(
    parseLogsql('* | filter x | sort by (_time desc) offset 2 limit 3 | fields _msg').pipes,
  );
  t.deepEqual(
    pipes.map(({ kind }) => kind),
    ['filter', 'offset', 'limit', 'fields'],
  );
});

test('pipes that may change or lose _time do not count as keeping it', (t) => {
  const keeps = (text: string): boolean => parseLogsql(`* | ${text}`).pipes.every(keepsRowsInTime);
  for (const text of [
    'fields _msg',
    'delete _time',
    'rename _time as x',
    'copy a as _time',
    'extract "<_time> x"',
    'uniq by (a)',
  ]) {
    t.false(keeps(text), text);
  }
  for (const text of [
    'fields _ti*, a',
    'delete a',
    'copy _time as x',
    'extract "<x> y"',
    'format "x" as y',
    'filter a',
  ]) {
    t.true(keeps(text), text);
  }
});

test('stream and time conditions leave the row filter, the rest stays', (t) => {
  const { range, matchesStream, rowFilter } = pruneFilter(
    parseFilter(
      '({app="x"} or {app="y"}) _time:[1791676800000000000,1791676801000000000] (error !{env="dev"})',
    ),
    T,
  );
  t.deepEqual(range, { minNs: T, maxNs: T + 1_000_000_000n });
  t.true(matchesStream(new Map([['app', 'y']])));
  t.false(
    matchesStream(
      new Map([
        ['app', 'y'],
        ['env', 'dev'],
      ]),
    ),
  );
  t.false(matchesStream(new Map([['app', 'z']])));
  t.is(rowFilter.kind, 'field');
});

test('a time condition inside an OR bounds the range only together with its partner', (t) => {
  const bounded = pruneFilter(parseFilter('_time:1m or _time:[1791676800000000000,1791676800000000000]'), T);
  t.deepEqual(bounded.range, { minNs: T - 60_000_000_000n, maxNs: T });
  const open = pruneFilter(parseFilter('_time:1m or error'), T);
  t.true(open.range.minNs < 0n);
});

test('queries of streams and time alone are known as such', (t) => {
  t.true(isPureStreamFilter(parseFilter('{a="b"} _time:5m !{c="d"}')));
  t.false(isPureStreamFilter(parseFilter('{a="b"} error')));
  t.false(isPureStreamFilter(parseFilter('{a="b"} or _time:5m')));
  t.true(hasTimeFilter(parseFilter('error (_time:5m x)')));
  t.false(hasTimeFilter(parseFilter('error or _time:5m')));
});
