import test from 'ava';
import { compileFilter } from '../../../../plugins/embedded-backend/logsql/index.js';
import { logsPlan } from './planned.js';
import { parseQuery } from '../../../../core/logql/index.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import { storedNames } from '../../../../core/victoria/names/name-learner.js';
import { rowsOf } from '../../../plugins/embedded-backend/logsql/run-query.js';

const lines: readonly (readonly [string, string])[] = [
  ['x="" level="\\u0065\\u0072\\u0072"', 'error'],
  ['cal CRİTİCAL', 'critical'],
  ['level=WrN', 'warn'],
  ['{"\\u006cevel":"TRC"}', 'trace'],
];

for (const [line, level] of lines) {
  test(`a filter on ${level} asks the backend for ${line}`, (t) => {
    const naming = new Naming(namesOptions());
    const expr = parseQuery(`{app="a"} | detected_level="${level}"`);
    if (expr.kind !== 'log') return t.fail();
    const row = { _time: '2026-11-01T00:00:00Z', _stream: '{app="a"}', app: 'a', _msg: line };
    t.is(new RowReader(naming).read(row).structuredMetadata.get('detected_level'), level);
    const names = storedNames(Object.keys(row), naming);
    const { filter } = logsPlan(expr, naming, names);
    const isSent = compileFilter(filter);
    t.deepEqual(rowsOf([row, { ...row, _msg: 'nothing at all' }]).map(isSent), [true, false]);
  });
}

const stored: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
  [{ level: 'Err' }, 'error'],
  [{ severity_text: 'WARNING' }, 'warn'],
  [{ SEVERITY: 'critical' }, 'critical'],
  [{ severity_number: '17' }, 'error'],
  [{ severity_number: '+014' }, 'warn'],
  [{ severity_number: '-3' }, 'trace'],
  [{ detected_level: 'error' }, 'error'],
  [{ Level: 'sev-1' }, 'sev-1'],
];

for (const [fields, level] of stored) {
  const name = JSON.stringify(fields);
  test(`a filter on ${level} asks the backend for rows with ${name}, and for none of another level`, (t) => {
    const naming = new Naming(namesOptions());
    const expr = parseQuery(`{app="a"} | detected_level="${level}"`);
    if (expr.kind !== 'log') return t.fail();
    const row = { _time: '2026-11-01T00:00:00Z', _stream: '{app="a"}', app: 'a', _msg: 'nothing at all' };
    const [matching, other] = [
      { ...row, ...fields },
      { ...row, level: 'info', severity_number: '9' },
    ];
    t.is(new RowReader(naming).read(matching).structuredMetadata.get('detected_level'), level);
    const names = storedNames([...Object.keys(matching), ...Object.keys(other)], naming);
    const isSent = compileFilter(logsPlan(expr, naming, names).filter);
    t.deepEqual(rowsOf([matching, other, row]).map(isSent), [true, level === 'sev-1', false]);
  });
}
