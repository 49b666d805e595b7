import test from 'ava';
import { compileFilter } from '../../../../plugins/embedded-backend/logsql/index.js';
import { logsPlan } from './planned.js';
import { parseQuery } from '../../../../core/logql/index.js';
import { defaultNamingSettings, Naming } from '../../../../core/victoria/names/naming.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import { spellingsOf, StoredNames } from '../../../../core/victoria/names/stored-names.js';
import { rowsOf } from '../../../plugins/embedded-backend/logsql/run-query.js';

const lines: readonly (readonly [string, string])[] = [
  ['x="" level="\\u0065\\u0072\\u0072"', 'error'],
  ['cal CRİTİCAL', 'critical'],
  ['level=WrN', 'warn'],
  ['{"\\u006cevel":"TRC"}', 'trace'],
];

for (const [line, level] of lines) {
  test(`a filter on ${level} asks the backend for ${line}`, (t) => {
    const naming = new Naming(defaultNamingSettings);
    const expr = parseQuery(`{app="a"} | detected_level="${level}"`);
    if (expr.kind !== 'log') return t.fail();
    const row = { _time: '2026-11-01T00:00:00Z', _stream: '{app="a"}', app: 'a', _msg: line };
    t.is(new RowReader(naming).read(row).structuredMetadata.get('detected_level'), level);
    const names = new StoredNames(spellingsOf(Object.keys(row), naming));
    const { filter } = logsPlan(expr, naming, names);
    const isSent = compileFilter(filter);
    t.deepEqual(rowsOf([row, { ...row, _msg: 'nothing at all' }]).map(isSent), [true, false]);
  });
}
