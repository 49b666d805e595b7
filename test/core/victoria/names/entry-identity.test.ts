import test from 'ava';
import {
  digestOfColumns,
  entryIdentity,
  isSameEntry,
} from '../../../../core/victoria/names/entry-identity.js';
import { identityColumns } from '../../../../core/engine/rows/repeating-streams.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import type { WrittenRow } from '../../../../core/testing/index.js';

const naming = new Naming(namesOptions());
const reader = new RowReader(naming);
const row = { _time: '2026-11-01T00:00:00Z', _stream: '{app="a"}', _stream_id: '1', _msg: 'same', app: 'a' };

function areSame(one: WrittenRow, other: WrittenRow): boolean {
  const [first, second] = [reader.read(one), reader.read(other)];
  const isSame = isSameEntry(first, second);
  if (isSame !== (entryIdentity(first) === entryIdentity(second))) throw new Error('they disagree');
  return isSame;
}

test('rows of one time are one entry when stream, line and metadata are equal as they are shown', (t) => {
  const traced = { ...row, trace_id: 'x', took: '0.3' };
  t.true(areSame(traced, { took: '0.30000000000000004', ...row, trace_id: 'x', _stream_id: '2' }));
  for (const change of [
    { trace_id: 'y' },
    { trace_id: '' },
    { took: '3' },
    { span_id: 'z' },
    { _msg: 'other' },
    { _stream: '{app="b"}', app: 'b' },
  ])
    t.false(areSame(traced, { ...traced, ...change }), JSON.stringify(change));
});

test('the digest of columns is that of time, stream, line and shown values, in whatever order', (t) => {
  const stored = { ...row, took: '0.3', trace_id: 'x', empty: '' };
  const again = { trace_id: 'x', ...row, _time: '2026-11-01T00:00:00.000Z', took: '0.30000000000000004' };
  t.is(digestOfColumns(stored), digestOfColumns({ ...again, _stream_id: '2' }));
  for (const change of [{ trace_id: 'y' }, { _time: '2026-11-01T00:00:00.000000001Z' }, { _msg: '' }])
    t.not(digestOfColumns(stored), digestOfColumns({ ...again, ...change }), JSON.stringify(change));
});

test('the backend compares fields that are shown as they are stored, and may differ within a stream', (t) => {
  const names = [
    '_msg',
    'app',
    'host.name',
    'trace_id',
    'scope.name',
    'user.id',
    'user_id',
    'detected_level',
    'took',
  ];
  const listed = names.map((value, index) => ({ value, hits: 100 - index }));
  const compared = (...streams: readonly string[]): readonly string[] =>
    identityColumns(
      listed,
      streams.map((text) => reader.stream(text)),
      naming,
    ).map(({ field }) => field);
  t.deepEqual(compared('{app="a"}'), ['host.name', 'trace_id', 'scope.name', 'took']);
  // The backend fills in scope names of OpenTelemetry records.
  const [host, other] = ['{"host.name"="h","os.type"="x"}', '{"os.type"="x"}'];
  t.deepEqual(compared(host), ['app', 'trace_id', 'took']);
  t.deepEqual(compared(host, other), ['app', 'host.name', 'trace_id', 'took']);
});
