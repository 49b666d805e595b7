import test from 'ava';
import type { EmbeddedQuery, RowView } from '../../../../plugins/embedded-backend/logsql/index.js';
import {
  LogsqlError,
  compileFilter,
  compileEmbeddedPipes,
  parseDate,
  parseLogsql,
  parseUnixTime,
} from '../../../../plugins/embedded-backend/logsql/index.js';
import { readRecordings, readRows } from './recorded-rows.js';
import type { Recording } from './recorded-rows.js';

// Stream by stream, like a store returns them: the last digit of a deviation depends on the order.
const rows = readRows().sort((a, b) =>
  a.get('_stream') < b.get('_stream') ? -1 : a.get('_stream') > b.get('_stream') ? 1 : 0,
);
const handled = new Set(['query', 'start', 'end', 'time']);
const recordings = readRecordings().filter(
  (one) =>
    one.path === '/select/logsql/query' &&
    Object.keys(one.params).every((name) => handled.has(name)) &&
    isFirstTenant(one),
);
const answered = recordings.filter((one) => one.status === 200 && !needsMoreThanRows(one));
const refused = recordings.filter((one) => one.status === 400);

// Three groups of equal size are sorted by size, so the first one is arbitrary.
const oneOfTies = 'pipe-40';

function isFirstTenant(one: Recording): boolean {
  return Object.keys(one.headers).every((name) => !/^(?:accountid|projectid)$/i.test(name));
}

// Subqueries and options that move the time range belong to the backend; a bad start is not part of the language.
function needsMoreThanRows(one: Recording): boolean {
  return ['subquery', 'opt-time-offset', 'opt-ignore-global-time'].includes(one.id);
}

function text(one: Recording, name: string): string {
  const value = one.params[name];
  return typeof value === 'string' ? value : '';
}

function instant(value: string): bigint | undefined {
  if (value === '') return undefined;
  return parseUnixTime(value) ?? parseDate(value)?.ns;
}

function run(query: EmbeddedQuery, one: Recording): Record<string, string>[] {
  const start = instant(text(one, 'start'));
  const end = instant(text(one, 'end'));
  const nowNs = instant(text(one, 'time')) ?? end ?? 0n;
  const matches = compileFilter(query.filter, { nowNs });
  const found: Record<string, string>[] = [];
  const keep = (row: RowView): boolean => {
    const names = [...row.fieldNames()].filter((name) => row.get(name) !== '');
    if (names.length > 0) found.push(Object.fromEntries(names.map((name) => [name, row.get(name)])));
    return true;
  };
  const chain = compileEmbeddedPipes(query.pipes, keep, {
    nowNs,
    rangeNs: start === undefined || end === undefined ? undefined : end - start,
  });
  for (const row of rows) {
    if (start !== undefined && row.timeNs < start) continue;
    if (end !== undefined && row.timeNs >= end) continue;
    if (matches(row) && !chain.push(row)) break;
  }
  chain.finish();
  return found;
}

function recordedRows(one: Recording): Record<string, string>[] {
  const parsed = one.body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, string>);
  return parsed.map(withoutStreamId).filter((row) => row['name'] !== '_stream_id');
}

function withoutStreamId(row: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== '_stream_id'));
}

function sortedTexts(list: readonly Record<string, string>[]): string[] {
  return list.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
}

for (const one of answered) {
  test(`rows for recording ${one.id} are those of VictoriaLogs: ${text(one, 'query')}`, (t) => {
    const found = run(parseLogsql(text(one, 'query')), one);
    switch (one.compare) {
      case 'rows-ordered':
        if (one.id === oneOfTies) {
          t.deepEqual(
            found.map((row) => row['c']),
            recordedRows(one).map((row) => row['c']),
          );
          break;
        }
        t.deepEqual(found, recordedRows(one));
        break;
      case 'names':
        t.deepEqual(
          found.map((row) => row['name']).sort(),
          recordedRows(one)
            .map((row) => row['name'])
            .sort(),
        );
        break;
      default:
        t.deepEqual(sortedTexts(found), sortedTexts(recordedRows(one)));
    }
  });
}

for (const one of refused) {
  const badQuery = !['range-12'].includes(one.id);
  if (!badQuery) continue;
  test(`recording ${one.id} is refused as VictoriaLogs refuses it: ${text(one, 'query')}`, (t) => {
    t.throws(() => parseLogsql(text(one, 'query')), { instanceOf: LogsqlError });
  });
}

test('most of the recorded queries are replayed here', (t) => {
  t.true(answered.length > 330, `${answered.length} answered`);
  t.true(refused.length > 35, `${refused.length} refused`);
});
